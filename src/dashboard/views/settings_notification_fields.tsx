/// <reference lib="dom" />
import { CheckList, LinesField } from "../field.tsx";
import { fieldsOf, type FormPart } from "../form.tsx";
import type { Webhook } from "./settings_notification_replies.ts";

/** The receivers as they are typed. */
export interface ReceiverForm {
  /** One a line. */
  readonly to: string;
  readonly webhooks: readonly string[];
}

/** The addresses of a text, separated by whitespace, commas or semicolons. */
export function addressesOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((address) => address !== "");
}

interface ReceiverFieldsProps extends FormPart<ReceiverForm> {
  readonly webhooks: readonly Webhook[];
}

/** People by mail, and webhooks of the project. */
export function ReceiverFields(props: ReceiverFieldsProps) {
  const { form, webhooks, problem, put } = props;
  const field = fieldsOf<Pick<ReceiverForm, "to">>(props);
  return (
    <>
      <LinesField
        label="By mail to"
        hint="E-mail addresses of people who may see the project, one a line. Without any receiver, only the list of messages shows it."
        {...field("to")}
      />
      {webhooks.length > 0 && (
        <CheckList
          legend="And to the webhooks"
          choices={webhooks.map(({ slug, title }) => ({ value: slug, label: title }))}
          chosen={form.webhooks}
          error={problem?.messageFor("webhooks")}
          onChange={(chosen) => put({ webhooks: chosen })}
        />
      )}
    </>
  );
}
