/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import { SelectField, TextField } from "../field.tsx";
import { FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { freeSlugOf } from "./goals_slug.ts";
import { faultOf } from "./settings_share_form.ts";
import { FORMATS, type Webhook } from "./settings_told_replies.ts";
import { CodeToCopy, ShownOnce } from "./settings_shown_once.tsx";

interface WebhookDialogProps {
  /** Null: a new one. */
  readonly of: Webhook | null;
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onDone: (webhook: Webhook) => void;
}

/** The form of a webhook. */
export function WebhookDialog({ of, taken, onClose, onDone }: WebhookDialogProps) {
  const [form, setForm] = useState({
    title: of?.title ?? "",
    url: of?.url ?? "",
    format: of?.format ?? "standard",
  });
  const put = (change: Partial<typeof form>) => setForm((before) => ({ ...before, ...change }));
  const request = useRequest(async () => {
    const slug = of?.slug ?? freeSlugOf(form.title, "webhook", taken);
    onDone((await send<Webhook>("PUT", `/v1/webhooks/${slug}`, form))!);
  });
  const { problem } = request;
  return (
    <FormDialog
      title={of === null ? "A new webhook" : `Change ${of.title}`}
      id="webhook"
      request={request}
      action="Save"
      onClose={onClose}
    >
      <TextField
        label="Title"
        value={form.title}
        placeholder="The team's chat"
        maxLength={200}
        error={faultOf(problem, "title")}
        onChange={(title) => put({ title })}
      />
      <TextField
        label="URL"
        type="url"
        value={form.url}
        placeholder="https://hooks.example.com/…"
        hint="Messages are posted there."
        error={faultOf(problem, "url")}
        onChange={(url) => put({ url })}
      />
      <SelectField
        label="Format"
        value={form.format}
        choices={FORMATS}
        onChange={(format) => put({ format: format as Webhook["format"] })}
      />
    </FormDialog>
  );
}

/** The secret of a new webhook, this once. */
export function WebhookSecret({ of, onClose }: { of: Webhook; onClose: () => void }) {
  return (
    <ShownOnce title={`The secret of ${of.title}`} onClose={onClose}>
      <p>
        Each message is signed with it, as Standard Webhooks says, so that whoever gets one can tell
        that it is from here. It is shown this once.
      </p>
      <CodeToCopy label="The secret" text={of.secret ?? ""} />
    </ShownOnce>
  );
}
