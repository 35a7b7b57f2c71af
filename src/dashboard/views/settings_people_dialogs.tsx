/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { Role } from "../../auth/roles.ts";
import { send } from "../api.ts";
import { changesOf } from "../changes.ts";
import { Dialog, DialogButtons } from "../dialog.tsx";
import { TextField } from "../field.tsx";
import { fieldsOf, useTyped } from "../form.tsx";
import { dateTime } from "../number_format.ts";
import { Deletion, FormDialog } from "../request_dialogs.tsx";
import { Refused, type RequestState, useRequest } from "../request_state.tsx";
import {
  EVERY_PROJECT,
  projectAtHand,
  ProjectsField,
  RoleField,
} from "./settings_access_fields.tsx";
import type { Invitation, InvitedReply, Person } from "./settings_people_replies.ts";
import { CodeToCopy, ShownOnce } from "./settings_shown_once.tsx";

/** What a dialog is open for. */
export type PeopleTask =
  | { readonly task: "invite" }
  | { readonly task: "change" | "link" | "remove"; readonly of: Person }
  | { readonly task: "show"; readonly of: Person; readonly invitation: Invitation };

interface Access {
  readonly role: Role;
  readonly projects: readonly string[];
}

interface AccessFieldsProps {
  readonly access: Access;
  readonly request: RequestState;
  readonly onChange: (access: Access) => void;
}

/** Role and projects; an owner has all projects. */
function AccessFields({ access, request, onChange }: AccessFieldsProps) {
  const isOwner = access.role === "owner";
  return (
    <>
      <RoleField value={access.role} onChange={(role) => onChange({ ...access, role })} />
      {!isOwner && (
        <ProjectsField
          value={access.projects}
          error={request.problem?.messageFor("projects")}
          onChange={(projects) => onChange({ ...access, projects })}
        />
      )}
    </>
  );
}

const bodyOf = ({ role, projects }: Access) => ({
  role,
  projects: role === "owner" ? [EVERY_PROJECT] : projects,
});

interface TaskProps {
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

type ShowLink = (of: Person, invitation: Invitation) => void;

function Invite({ onClose, onChanged, onLink }: TaskProps & { onLink: ShowLink }) {
  const typed = useTyped({ email: "", name: "" });
  const [access, setAccess] = useState<Access>({ role: "viewer", projects: projectAtHand() });
  const request = useRequest(async () => {
    const { email, name } = typed.form;
    // Without a name, the server takes what is before the @.
    const called = name.trim() === "" ? {} : { name: name.trim() };
    const body = { email: email.trim(), ...called, ...bodyOf(access) };
    const { person, invitation } = (await send<InvitedReply>("POST", "/v1/people", body))!;
    onChanged();
    // Only a person who is given a password has none.
    onLink(person, invitation!);
  });
  const { isBusy, problem } = request;
  const field = fieldsOf({ ...typed, problem });
  return (
    <FormDialog
      title="Invite somebody"
      id="invite"
      request={request}
      action={isBusy ? "Inviting…" : "Invite"}
      onClose={onClose}
    >
      <div class="field-pair">
        <TextField
          label="E-mail"
          type="email"
          {...field("email")}
          placeholder="ada@example.com"
        />
        <TextField
          label="Name"
          {...field("name")}
          placeholder="Ada Lovelace"
          maxLength={200}
        />
      </div>
      <AccessFields access={access} request={request} onChange={setAccess} />
    </FormDialog>
  );
}

function Change({ of, onClose, onChanged }: TaskProps & { of: Person }) {
  const [name, setName] = useState(of.name);
  const [access, setAccess] = useState<Access>({ role: of.role, projects: of.projects });
  const request = useRequest(async () => {
    const wanted = bodyOf(access);
    // A role applies to its projects: both are sent, or neither.
    const changed = Object.keys(changesOf(wanted, of)).length > 0 ? wanted : {};
    await send("PATCH", `/v1/people/${of.id}`, {
      ...changesOf({ name: name.trim() }, of),
      ...changed,
    });
    onChanged();
    onClose();
  });
  return (
    <FormDialog
      title={`Change ${of.name}`}
      id="change-person"
      request={request}
      action="Save changes"
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        hint={of.email}
        error={request.problem?.messageFor("name")}
        onChange={setName}
        maxLength={200}
      />
      <AccessFields access={access} request={request} onChange={setAccess} />
    </FormDialog>
  );
}

function Remove({ of, onClose, onChanged }: TaskProps & { of: Person }) {
  return (
    <Deletion
      title={`Remove ${of.name}?`}
      action="Remove"
      path={`/v1/people/${of.id}`}
      onDone={onChanged}
      onClose={onClose}
    >
      {of.email}{" "}
      is signed out everywhere at once and cannot sign in any more. What they saved stays. They can
      be invited again.
    </Deletion>
  );
}

function NewLink({ of, onClose, onLink }: TaskProps & { of: Person; onLink: ShowLink }) {
  const isInvited = of.joinedAt === null;
  const { isBusy, problem, run } = useRequest(async () => {
    const path = `/v1/people/${of.id}/invitation`;
    onLink(of, (await send<InvitedReply>("POST", path))!.invitation!);
  });
  return (
    <Dialog
      title={isInvited ? `A new link for ${of.name}` : `A new password for ${of.name}`}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} isDisabled={isBusy} onDo={run}>
          Make the link
        </DialogButtons>
      }
    >
      <p>
        {isInvited
          ? "It lets them in once. The link before it stops working."
          : "The link lets them choose a new password, once. The old one works until they do."}
      </p>
      <Refused problem={problem} />
    </Dialog>
  );
}

function ShowLink({ of, invitation, onClose }: {
  of: Person;
  invitation: Invitation;
  onClose: () => void;
}) {
  const { url, expiresAt, mailed, mailProblem } = invitation;
  return (
    <ShownOnce title={`The link for ${of.name}`} isKept={mailed} onClose={onClose}>
      {mailProblem !== null && <p class="banner" role="alert">{mailProblem}</p>}
      <p>
        {mailed
          ? `It was mailed to ${of.email}. You can also send it to them yourself:`
          : `Send it to ${of.email} yourself. Whoever opens it first is let in, so send it to nobody else:`}
      </p>
      <CodeToCopy label="The link" text={url} />
      <p class="muted">It works once, until {dateTime(expiresAt)}, and is not shown again.</p>
    </ShownOnce>
  );
}

interface PeopleDialogsProps {
  readonly task: PeopleTask | null;
  readonly onTask: (task: PeopleTask | null) => void;
  readonly onChanged: () => void;
}

/** The dialogs in which people are invited, changed and removed. */
export function PeopleDialogs({ task, onTask, onChanged }: PeopleDialogsProps) {
  const onClose = () => onTask(null);
  const onLink: ShowLink = (of, invitation) => onTask({ task: "show", of, invitation });
  switch (task?.task) {
    case "invite":
      return <Invite {...{ onClose, onChanged, onLink }} />;
    case "change":
      return <Change of={task.of} {...{ onClose, onChanged }} />;
    case "link":
      return <NewLink of={task.of} {...{ onClose, onChanged, onLink }} />;
    case "remove":
      return <Remove of={task.of} {...{ onClose, onChanged }} />;
    case "show":
      return <ShowLink of={task.of} invitation={task.invitation} onClose={onClose} />;
    default:
      return null;
  }
}
