/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { useOffer } from "../auth_offer.ts";
import { PasswordField, TextField } from "../field.tsx";
import { Form } from "../form.tsx";
import { Panel } from "../panel.tsx";
import { Refused, useRequest } from "../request_state.tsx";
import { type Resource, useRead } from "../resource.ts";
import { account as signedIn, refreshSession, session } from "../session.ts";
import { SignOutButton } from "../sign_out.tsx";
import { ThemeSwitch } from "../theme_switch.tsx";
import { projectNames } from "./settings_access_fields.tsx";
import { PasskeysPanel } from "./settings_passkeys.tsx";
import { type AccountReply, roleName } from "./settings_people_replies.ts";
import { scopeWords } from "./settings_session.tsx";
import { SessionsPanel } from "./settings_sessions.tsx";

function NameForm({ account, onSaved }: { account: AccountReply; onSaved: () => void }) {
  const [name, setName] = useState(account.person.name);
  const [note, say] = useState("");
  const { isBusy, problem, run } = useRequest(async () => {
    await send("PATCH", "/v1/auth/account", { name: name.trim() });
    await refreshSession();
    say("Saved");
    onSaved();
  }, { isOver: false });
  const isChanged = name.trim() !== "" && name.trim() !== account.person.name;
  return (
    <Form class="settings-form" onSubmit={() => isChanged && void run()}>
      <TextField
        label="Name"
        autocomplete="name"
        value={name}
        hint="As the others see you."
        maxLength={200}
        error={problem?.messageFor("name")}
        onChange={(text) => {
          setName(text);
          say("");
        }}
      />
      <div class="settings-actions">
        <Button kind="primary" type="submit" disabled={!isChanged || isBusy}>
          {isBusy ? "Saving…" : "Save the name"}
        </Button>
        <span role="status" class="muted">{note}</span>
        <Refused problem={problem} />
      </div>
    </Form>
  );
}

function WhoPanel({ account }: { account: Resource<AccountReply> }) {
  const { data } = account;
  const scopes = session.value?.scopes ?? [];
  return (
    <Panel title="You" state={account} skeletonRows={5}>
      {data && (
        <>
          <dl class="settings-facts">
            <dt>E-mail</dt>
            <dd>{data.person.email}</dd>
            <dt>Role</dt>
            <dd>{roleName(data.person.role)}, in {projectNames(data.person.projects)}</dd>
            <dt>May</dt>
            <dd>{scopeWords(scopes)}</dd>
          </dl>
          <NameForm account={data} onSaved={account.reload} />
          <div class="settings-actions settings-apart">
            <ThemeSwitch isInWords />
            <SignOutButton class="button" />
          </div>
        </>
      )}
    </Panel>
  );
}

interface PasswordPanelProps {
  readonly hasPassword: boolean;
  readonly onChanged: () => void;
}

function PasswordPanel({ hasPassword, onChanged }: PasswordPanelProps) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [note, say] = useState("");
  const { isBusy, problem, run, clearProblem } = useRequest(async () => {
    await send("POST", "/v1/auth/password", hasPassword ? { current, next } : { next });
    setCurrent("");
    setNext("");
    say("Changed. Every other browser is signed out.");
    onChanged();
  }, { isOver: false });
  const edit = (set: (text: string) => void) => (text: string) => {
    set(text);
    say("");
    clearProblem();
  };
  const isComplete = next !== "" && (current !== "" || !hasPassword);
  return (
    <Panel title="Password">
      <Form class="settings-form" onSubmit={() => isComplete && void run()}>
        {/* For password managers, which store it with its account. */}
        <input
          class="visually-hidden"
          type="text"
          autocomplete="username"
          value={signedIn.value?.email}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        {hasPassword && (
          <PasswordField
            label="Present password"
            autocomplete="current-password"
            value={current}
            error={problem?.messageFor("current")}
            onChange={edit(setCurrent)}
          />
        )}
        <PasswordField
          label="New password"
          autocomplete="new-password"
          value={next}
          error={problem?.messageFor("next")}
          hint="At least 10 characters. Every other browser is signed out."
          onChange={edit(setNext)}
        />
        <div class="settings-actions">
          <Button kind="primary" type="submit" disabled={!isComplete || isBusy}>
            {isBusy ? "Changing…" : "Change the password"}
          </Button>
          <span role="status" class="muted">{note}</span>
          <Refused problem={problem} />
        </div>
      </Form>
    </Panel>
  );
}

/** Who is signed in, what they sign in with, and where. */
export function AccountSection() {
  const account = useRead<AccountReply>("/v1/auth/account");
  const { offer } = useOffer();
  const [turn, setTurn] = useState(0);
  return (
    <div class="settings-grid">
      <div class="stack-wide">
        <WhoPanel account={account} />
        {offer?.password && account.data && (
          <PasswordPanel
            hasPassword={account.data.hasPassword}
            onChanged={() => {
              account.reload();
              setTurn(turn + 1);
            }}
          />
        )}
      </div>
      <div class="stack-wide">
        <SessionsPanel key={turn} />
        {offer?.passkeys && <PasskeysPanel />}
      </div>
    </div>
  );
}
