/// <reference lib="dom" />
import type { output } from "zod";
import type { ApiTokenShown } from "../../auth/api_tokens/api_token_endpoints.ts";
import { send } from "../api.ts";
import { CheckList, type Choice, SelectField, TextField } from "../field.tsx";
import { fieldsOf, useTyped } from "../form.tsx";
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

/** A token as it is typed. */
interface TokenForm {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly projects: readonly string[];
  readonly days: string;
}

function Create({ onClose, onDone }: CreateProps) {
  const { form, put } = useTyped<TokenForm>({
    name: "",
    scopes: ["read"],
    projects: isForEveryProject() ? [EVERY_PROJECT] : projectAtHand(),
    days: "90",
  });
  const request = useRequest(async () => {
    const { name, scopes, projects, days } = form;
    const expiresAt = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    const body = { name: name.trim(), scope: scopes.join(" "), projects, expiresAt };
    const { token } = (await send<{ token: string }>("POST", "/v1/tokens", body))!;
    onDone(name.trim(), token);
  });
  const field = fieldsOf({ form, put, problem: request.problem });
  const { value: chosen, ...scopes } = field("scopes", "scope");
  return (
    <FormDialog
      title="Create an API token"
      id="create-token"
      request={request}
      action="Create the token"
      onClose={onClose}
    >
      <div class="field-pair">
        <TextField
          label="Name"
          {...field("name")}
          placeholder="Weekly report"
          hint="So that you know it again."
          maxLength={200}
        />
        <SelectField label="Expires" {...field("days", "expiresAt")} choices={EXPIRY_CHOICES} />
      </div>
      {/* Only one's own scopes are offered: nobody can grant others. */}
      <CheckList
        legend="It may"
        choices={SCOPES.filter(({ value }) => session.value?.scopes.includes(value))}
        chosen={chosen}
        {...scopes}
      />
      <ProjectsField {...field("projects")} mayAll={isForEveryProject()} />
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
