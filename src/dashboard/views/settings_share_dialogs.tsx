/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { send } from "../api.ts";
import { changesOf } from "../changes.ts";
import { Dialog } from "../dialog.tsx";
import { CheckList, LinesField, PasswordField, Segments, TextField } from "../field.tsx";
import { fieldsOf, type FormPart, useTyped } from "../form.tsx";
import { Icon } from "../icons.tsx";
import { Deletion, FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import {
  bodyOf,
  embedSnippet,
  formOf,
  NEW_SHARE,
  type PasswordChoice,
  type Share,
  type ShareForm,
} from "./settings_share_form.ts";
import { FilterFields } from "./settings_filter_fields.tsx";
import { SHARE_VIEW_CHOICES } from "./settings_share_views.ts";
import { CodeToCopy } from "./settings_shown_once.tsx";

/** What a dialog is open for. */
export type ShareTask =
  | { readonly task: "create" }
  | { readonly task: "change" | "show" | "revoke"; readonly of: Share };

type PartProps = FormPart<ShareForm>;

function FiltersField({ form: { filters }, problem, put }: PartProps) {
  return (
    <FilterFields
      filters={filters}
      error={problem?.messageFor("filters")}
      hint="Nobody who looks at it can take these off."
      onChange={(changed) => put({ filters: changed })}
    />
  );
}

function PasswordPart(props: PartProps & { readonly isKept: boolean }) {
  const { form: { passwordChoice }, put, isKept } = props;
  const choices = [
    ...isKept ? [{ value: "keep", label: "As it is" }] : [],
    { value: "none", label: "None" },
    { value: "new", label: isKept ? "Another" : "With a password" },
  ];
  return (
    <div class="choice-list">
      <span class="field-label">Password</span>
      <Segments
        label="Password"
        value={passwordChoice}
        choices={choices}
        onChange={(value) => put({ passwordChoice: value as PasswordChoice })}
      />
      {passwordChoice === "new" && (
        <PasswordField
          label="The password"
          autocomplete="off"
          {...fieldsOf(props)("password")}
          hint="At least 8 characters. Send it separately from the link."
        />
      )}
    </div>
  );
}

function EmbedField(props: PartProps) {
  return (
    <LinesField
      label="Pages that may show it in a frame"
      hint="Their origins, one a line, such as https://intranet.example.com. None: no page may."
      {...fieldsOf(props)("origins", "embedOrigins")}
    />
  );
}

function Parts(props: PartProps & { readonly isKept: boolean }) {
  const { form, problem, put } = props;
  const field = fieldsOf(props);
  return (
    <>
      <TextField
        label="Title"
        {...field("title")}
        placeholder="For our investors"
        maxLength={200}
        hint="Shown above the dashboard."
      />
      <CheckList
        legend="It shows"
        choices={SHARE_VIEW_CHOICES}
        chosen={form.views}
        error={problem?.messageFor("views")}
        onChange={(views) => put({ views })}
      />
      <FiltersField {...props} />
      <div class="field-pair">
        <TextField
          label="Last day"
          type="date"
          {...field("lastDay", "expiresAt")}
          hint="Empty: until it is revoked."
        />
        <TextField
          label="Smallest group"
          type="number"
          min="1"
          max="1000"
          {...field("minimumVisitors")}
          hint="What fewer visitors did is not shown. 1: all is shown."
        />
      </div>
      <PasswordPart {...props} />
      <EmbedField {...props} />
    </>
  );
}

interface EditProps {
  readonly projectId: string;
  /** Null: a new one. */
  readonly of: Share | null;
  readonly onClose: () => void;
  readonly onDone: (share: Share) => void;
}

function Edit({ projectId, of, onClose, onDone }: EditProps) {
  const { form, put } = useTyped(of === null ? NEW_SHARE : formOf(of));
  const path = `/v1/projects/${projectId}/shares`;
  const request = useRequest(async () => {
    const body = bodyOf(form, of);
    onDone(
      (of === null
        ? await send<Share>("POST", path, body)
        : await send<Share>("PATCH", `${path}/${of.id}`, changesOf(body, bodyOf(formOf(of), of))))!,
    );
  });
  return (
    <FormDialog
      title={of === null ? "Share a dashboard" : `Change ${of.title}`}
      id="share"
      request={request}
      action={of === null ? "Make the link" : "Save"}
      isWide
      onClose={onClose}
    >
      <Parts
        {...{ form, put }}
        problem={request.problem}
        isKept={of?.hasPassword ?? false}
      />
    </FormDialog>
  );
}

/** The link, and the snippet that embeds it. */
function Links({ of, onClose }: { of: Share; onClose: () => void }) {
  const { url, title, embedOrigins } = of;
  return (
    <Dialog
      title={title}
      isWide
      onClose={onClose}
      footer={
        <>
          <a class="button" href={url} target="_blank" rel="noreferrer">
            <Icon name="expand" /> Open it
          </a>
          <Button kind="primary" onClick={onClose}>Done</Button>
        </>
      }
    >
      <p>Whoever has this link sees the dashboard, and nothing that names a person.</p>
      <CodeToCopy label="The link" text={url} />
      {embedOrigins.length === 0
        ? <p class="muted">To show it in a page of yours, name the page's origin under “Change”.</p>
        : (
          <>
            <p>In pages of {embedOrigins.join(", ")}:</p>
            <CodeToCopy label="What shows it in a page" text={embedSnippet(of)} />
          </>
        )}
    </Dialog>
  );
}

interface ShareDialogsProps {
  readonly projectId: string;
  readonly task: ShareTask | null;
  readonly onTask: (task: ShareTask | null) => void;
  readonly onChanged: () => void;
}

/** The dialogs in which shares are made, changed and revoked. */
export function ShareDialogs({ projectId, task, onTask, onChanged }: ShareDialogsProps) {
  const onClose = () => onTask(null);
  switch (task?.task) {
    case "create":
    case "change": {
      const of = task.task === "create" ? null : task.of;
      const onDone = (share: Share) => {
        onChanged();
        onTask(of === null ? { task: "show", of: share } : null);
      };
      return <Edit {...{ projectId, of, onClose, onDone }} />;
    }
    case "show":
      return <Links of={task.of} onClose={onClose} />;
    case "revoke":
      return (
        <Deletion
          title={`Revoke ${task.of.title}?`}
          action="Revoke the link"
          path={`/v1/projects/${projectId}/shares/${task.of.id}`}
          onDone={onChanged}
          onClose={onClose}
        >
          Whoever has the link sees nothing any more, within a second, also in pages that show it.
          It cannot be brought back.
        </Deletion>
      );
    default:
      return null;
  }
}
