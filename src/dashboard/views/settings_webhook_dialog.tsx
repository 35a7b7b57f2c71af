/// <reference lib="dom" />
import { SelectField, TextField } from "../field.tsx";
import { fieldsOf } from "../form.tsx";
import { CodeToCopy, ShownOnce } from "./settings_shown_once.tsx";
import { NotificationDialog, type NotificationDialogOf } from "./settings_notification_dialog.tsx";
import { FORMATS, type Webhook } from "./settings_notification_replies.ts";

type WebhookForm = Pick<Webhook, "title" | "url" | "format">;

const NEW: WebhookForm = { title: "", url: "", format: "standard" };
const formOf = ({ title, url, format }: Webhook): WebhookForm => ({ title, url, format });

/** The form of a webhook. */
export function WebhookDialog(dialog: NotificationDialogOf<Webhook>) {
  return (
    <NotificationDialog
      {...dialog}
      one="webhook"
      start={dialog.of === null ? NEW : formOf(dialog.of)}
      bodyOf={(form) => form}
      example="The team's chat"
    >
      {(part) => (
        <>
          <TextField
            label="URL"
            type="url"
            {...fieldsOf(part)("url")}
            placeholder="https://hooks.example.com/…"
            hint="Messages are posted there."
          />
          <SelectField
            label="Format"
            value={part.form.format}
            choices={FORMATS}
            onChange={(format) => part.put({ format: format as Webhook["format"] })}
          />
        </>
      )}
    </NotificationDialog>
  );
}

/** The secret of a new webhook, shown this once. */
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
