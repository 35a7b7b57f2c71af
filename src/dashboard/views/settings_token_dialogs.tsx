/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { output } from "zod";
import type { ApiTokenShown } from "../../auth/api_tokens/api_token_endpoints.ts";
import { send } from "../api.ts";
import { CheckList, type Choice, SelectField, TextField } from "../field.tsx";
import { Deletion, FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { isForEveryProject, session } from "../session.ts";
import { EVERY_PROJECT, projectAtHand, ProjectsField } from "./settings_access_fields.tsx";
import { CodeToCopy, ShownOnce } from "./settings_shown_once.tsx";

const DAY_MS = 86_400_000;
/** What each scope allows, in the order in which they are offered. */
const SCOPES: readonly Choice[] = [
  { value: "read", label: "Read the figures" },
  { value: "write", label: "Save funnels and goals" },
  { value: "jobs", label: "Have captures taken" },
  { value: "admin", label: "Change projects, keys and people's data" },
  { value: "people", label: "Invite and remove people, read the audit" },
];
const EXPIRY_CHOICES = [
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];

/** A token as it is listed. */
export type ListedToken = output<typeof ApiTokenShown>;

export interface TokensReply {
  readonly tokens: readonly ListedToken[];
}

/** What a dialog is open for. */
export type TokenTask =
  | { readonly task: "create" }
  | { readonly task: "revoke"; readonly of: ListedToken }
  | { readonly task: "show"; readonly name: string; readonly token: string };

interface CreateProps {
  readonly onClose: () => void;
  readonly onDone: (name: string, token: string) => void;
}

function useCreation({ onDone }: CreateProps) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly string[]>(["read"]);
  const [projects, setProjects] = useState<readonly string[]>(
    isForEveryProject() ? [EVERY_PROJECT] : projectAtHand(),
  );
  const [days, setDays] = useState("90");
  const request = useRequest(async () => {
    const expiresAt = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    const body = { name: name.trim(), scope: scopes.join(" "), projects, expiresAt };
    const { token } = (await send<{ token: string }>("POST", "/v1/tokens", body))!;
    onDone(name.trim(), token);
  });
  return { name, setName, scopes, setScopes, projects, setProjects, days, setDays, request };
}

function Create(props: CreateProps) {
  const made = useCreation(props);
  const { problem } = made.request;
  return (
    <FormDialog
      title="Create an API token"
      id="create-token"
      request={made.request}
      action="Create the token"
      onClose={props.onClose}
    >
      <div class="field-pair">
        <TextField
          label="Name"
          value={made.name}
          onChange={made.setName}
          placeholder="Weekly report"
          hint="So that you know it again."
          maxLength={200}
          error={problem?.messageFor("name")}
        />
        <SelectField
          label="Expires"
          value={made.days}
          onChange={made.setDays}
          choices={EXPIRY_CHOICES}
          error={problem?.messageFor("expiresAt")}
        />
      </div>
      {/* Only one's own scopes are offered: nobody can grant others. */}
      <CheckList
        legend="It may"
        choices={SCOPES.filter(({ value }) => session.value?.scopes.includes(value))}
        chosen={made.scopes}
        error={problem?.messageFor("scope")}
        onChange={made.setScopes}
      />
      <ProjectsField
        value={made.projects}
        error={problem?.messageFor("projects")}
        mayAll={isForEveryProject()}
        onChange={made.setProjects}
      />
    </FormDialog>
  );
}

function NewToken({ name, token, onClose }: { name: string; token: string; onClose: () => void }) {
  return (
    <ShownOnce title={`The token for ${name}`} onClose={onClose}>
      <p>
        Copy it now: it is <strong>never shown again</strong>. Programs send it as{" "}
        <code>Authorization: Bearer …</code>
      </p>
      <CodeToCopy label="The token" text={token} />
    </ShownOnce>
  );
}

interface TokenDialogsProps {
  readonly task: TokenTask | null;
  readonly onTask: (task: TokenTask | null) => void;
  readonly onChanged: () => void;
}

/** The dialogs in which tokens are made and revoked. */
export function TokenDialogs({ task, onTask, onChanged }: TokenDialogsProps) {
  const onClose = () => onTask(null);
  switch (task?.task) {
    case "create": {
      const onDone = (name: string, token: string) => {
        onChanged();
        onTask({ task: "show", name, token });
      };
      return <Create {...{ onClose, onDone }} />;
    }
    case "revoke":
      return (
        <Deletion
          title={`Revoke ${task.of.name}?`}
          action="Revoke the token"
          path={`/v1/tokens/${task.of.id}`}
          onDone={onChanged}
          onClose={onClose}
        >
          Programs that use it are refused within a second. It cannot be brought back.
        </Deletion>
      );
    case "show":
      return <NewToken name={task.name} token={task.token} onClose={onClose} />;
    default:
      return null;
  }
}
