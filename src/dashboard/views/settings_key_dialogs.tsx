/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { Dialog, DialogButtons } from "../dialog.tsx";
import { Segments, SelectField, TextField } from "../field.tsx";
import { fieldsOf, useTyped } from "../form.tsx";
import { Deletion, FormDialog } from "../request_dialogs.tsx";
import { Refused, useRequest } from "../request_state.tsx";
import { type CreatedKey, type Key, keyName } from "./settings_replies.ts";
import { CodeToCopy, ShownOnce } from "./settings_shown_once.tsx";

const DAY_S = 86_400;

const KIND_CHOICES = [
  { value: "public", label: "Public" },
  { value: "secret", label: "Secret" },
];
const KIND_HINTS: Readonly<Record<Key["kind"], string>> = {
  public: "For pages. Anyone may see it: it can send events and nothing else.",
  secret: "For servers. It may speak for visitors, so keep it out of pages and repositories.",
};
const EXPIRY_CHOICES = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];
const OVERLAP_CHOICES = [
  { value: "0", label: "Stops working at once" },
  { value: "3600", label: "Works for another hour" },
  { value: String(DAY_S), label: "Works for another day" },
  { value: String(7 * DAY_S), label: "Works for another 7 days" },
  { value: String(30 * DAY_S), label: "Works for another 30 days" },
];

interface CreateProps {
  readonly projectId: string;
  readonly kind: Key["kind"];
  readonly onDone: (key: CreatedKey) => void;
  readonly onClose: () => void;
}

/** Makes a key. */
export function CreateKey(props: CreateProps) {
  const { projectId, onDone, onClose } = props;
  const { form, put } = useTyped({ kind: props.kind, label: "", days: "" });
  const { kind } = form;
  const request = useRequest(async () => {
    const { label, days } = form;
    const expiresAt = days === ""
      ? null
      : new Date(Date.now() + Number(days) * DAY_S * 1000).toISOString();
    const body = { kind, label: label.trim() || null, expiresAt };
    onDone((await send<CreatedKey>("POST", `/v1/projects/${projectId}/keys`, body))!);
  });
  const field = fieldsOf({ form, put, problem: request.problem });
  return (
    <FormDialog
      title="Create a key"
      id="create-key"
      request={request}
      action="Create the key"
      onClose={onClose}
    >
      <div class="settings-stack">
        <Segments
          label="Kind of key"
          value={kind}
          choices={KIND_CHOICES}
          onChange={(value) => put({ kind: value as Key["kind"] })}
        />
        <p class="muted">{KIND_HINTS[kind]}</p>
      </div>
      <div class="field-pair">
        <TextField
          label="Label"
          {...field("label")}
          placeholder="Web shop"
          hint="So that you know it again."
          maxLength={200}
        />
        <SelectField label="Expires" {...field("days", "expiresAt")} choices={EXPIRY_CHOICES} />
      </div>
    </FormDialog>
  );
}

interface ChangeProps {
  readonly projectId: string;
  readonly of: Key;
  readonly onClose: () => void;
}

/** Makes a successor of a key; the old one works for a while longer. */
export function RotateKey(props: ChangeProps & { readonly onDone: (key: CreatedKey) => void }) {
  const { projectId, of, onDone, onClose } = props;
  const [overlap, setOverlap] = useState(String(DAY_S));
  const { isBusy, problem, run } = useRequest(async () => {
    const path = `/v1/projects/${projectId}/keys/${of.id}/rotate`;
    onDone((await send<CreatedKey>("POST", path, { overlapSeconds: Number(overlap) }))!);
  });
  return (
    <Dialog
      title={`Rotate ${keyName(of)}`}
      onClose={onClose}
      footer={
        <DialogButtons onCancel={onClose} isDisabled={isBusy} onDo={run}>
          Make the new key
        </DialogButtons>
      }
    >
      <p>A new key of the same kind takes its place. Put it wherever the old one is used.</p>
      <SelectField
        label="The old key"
        value={overlap}
        onChange={setOverlap}
        choices={OVERLAP_CHOICES}
      />
      <Refused problem={problem} />
    </Dialog>
  );
}

/** Revokes a key. */
export function RevokeKey(props: ChangeProps & { readonly onDone: () => void }) {
  const { projectId, of, onDone, onClose } = props;
  return (
    <Deletion
      title={`Revoke ${keyName(of)}?`}
      action="Revoke the key"
      path={`/v1/projects/${projectId}/keys/${of.id}`}
      {...{ onDone, onClose }}
    >
      Events sent with this key are refused from now on, and pages that carry it stop counting. A
      revoked key cannot be brought back.
    </Deletion>
  );
}

/** A new key; a secret one is shown at this moment only. */
export function NewKey({ created, onClose }: { created: CreatedKey; onClose: () => void }) {
  const isPublic = created.kind === "public";
  return (
    <ShownOnce title="Your new key" isKept={isPublic} onClose={onClose}>
      {isPublic ? <p>From now on it is in the snippet under “Install”.</p> : (
        <p>
          Copy it now. It is stored in a form that cannot be read back, so it is{" "}
          <strong>never shown again</strong>.
        </p>
      )}
      <CodeToCopy label="The new key" text={created.key} />
      <p class="muted">{KIND_HINTS[created.kind]}</p>
    </ShownOnce>
  );
}
