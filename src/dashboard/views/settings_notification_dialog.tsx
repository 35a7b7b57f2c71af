/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { send } from "../api.ts";
import { TextField } from "../field.tsx";
import { type FormPart, useTyped } from "../form.tsx";
import { FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { sendNew } from "../send_new.ts";
import { freeSlugOf } from "./goals_slug.ts";

/** What a dialog needs in which a digest, an alert or a webhook is made or changed. */
export interface NotificationDialogOf<Stored> {
  /** Null: a new one. */
  readonly of: Stored | null;
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onDone: (saved: Stored) => void;
}

interface NotificationDialogProps<Form, Stored> extends NotificationDialogOf<Stored> {
  readonly one: "alert" | "digest" | "webhook";
  readonly start: Form;
  /** The form as the API takes it. */
  readonly bodyOf: (form: Form) => unknown;
  /** An example of a title. */
  readonly example: string;
  readonly isWide?: boolean;
  /** The fields below the title. */
  readonly children: (part: FormPart<Form>) => ComponentChildren;
}

/** The form of a digest, an alert or a webhook: its title, its own fields, and one request. */
export function NotificationDialog<
  Form extends { readonly title: string },
  Stored extends { readonly slug: string; readonly title: string },
>(props: NotificationDialogProps<Form, Stored>) {
  const { one, of, taken, start, bodyOf, example, isWide = false, children } = props;
  const { form, put } = useTyped(start);
  const request = useRequest(async () => {
    const [path, body] = [`/v1/${one}s`, bodyOf(form)];
    props.onDone(
      of === null
        ? await sendNew<Stored>(path, body, taken, (all) => freeSlugOf(form.title, one, all))
        : (await send<Stored>("PUT", `${path}/${of.slug}`, body))!,
    );
  });
  return (
    <FormDialog
      title={of === null ? `A new ${one}` : `Change ${of.title}`}
      id={one}
      request={request}
      action="Save"
      isWide={isWide}
      onClose={props.onClose}
    >
      <TextField
        label="Title"
        value={form.title}
        placeholder={example}
        maxLength={200}
        error={request.problem?.messageFor("title")}
        onChange={(title) => put({ title } as Partial<Form>)}
      />
      {children({ form, problem: request.problem, put })}
    </FormDialog>
  );
}
