/// <reference lib="dom" />
import type { FunctionComponent } from "preact";
import { CheckField, Segments, SelectField, TextField } from "../field.tsx";
import { fieldsOf, type FormPart } from "../form.tsx";
import { MatchEditor } from "../match_editor.tsx";
import { alertBody, type AlertForm, alertForm, NEW_ALERT } from "./settings_alert_form.ts";
import { FilterFields } from "./settings_filter_fields.tsx";
import { QuestionFields, SegmentField } from "./settings_question_fields.tsx";
import { NotificationDialog, type NotificationDialogOf } from "./settings_notification_dialog.tsx";
import { ReceiverFields } from "./settings_notification_fields.tsx";
import type { Alert, Cause, Webhook } from "./settings_notification_replies.ts";

type PartProps = FormPart<AlertForm>;

const KINDS = [
  { value: "threshold", label: "A figure is above or below a value" },
  { value: "unusual", label: "A figure is unusual for the weekday" },
  { value: "silence", label: "No events come" },
  { value: "finding", label: "There is a finding" },
];
const SIDES = [{ value: "above", label: "Above" }, { value: "below", label: "Below" }];
const DIRECTIONS = [
  { value: "any", label: "Either way" },
  { value: "up", label: "More" },
  { value: "down", label: "Less" },
];

function ThresholdFields(props: PartProps) {
  const { form, problem, put } = props;
  const field = fieldsOf(props);
  return (
    <>
      <QuestionFields {...props} member="on.question" />
      <Segments
        label="Which side"
        value={form.side}
        choices={SIDES}
        onChange={(side) => put({ side: side as AlertForm["side"] })}
      />
      <div class="field-pair">
        <TextField
          label="Value"
          value={form.bound}
          error={problem?.messageFor("on.above") ?? problem?.messageFor("on.below")}
          onChange={(bound) => put({ bound })}
        />
        <TextField
          label="In the last"
          {...field("over", "on.over")}
          hint="Such as 30m, 24h or 7d."
        />
      </div>
    </>
  );
}

function UnusualFields(props: PartProps) {
  const { form, put } = props;
  return (
    <>
      <QuestionFields {...props} member="on.question" />
      <Segments
        label="Which way"
        value={form.direction}
        choices={DIRECTIONS}
        onChange={(direction) => put({ direction })}
      />
      <p class="field-hint">
        The last 24 hours, against the same 24 hours of up to eight weeks before.
      </p>
    </>
  );
}

function SilenceFields(props: PartProps) {
  const { form, problem, put } = props;
  return (
    <>
      <TextField
        label="For so many minutes"
        type="number"
        min="5"
        {...fieldsOf(props)("minutes", "on.minutes")}
      />
      <MatchEditor
        value={form.match}
        error={problem?.messageFor("on.match")}
        onChange={(match) => put({ match })}
      />
    </>
  );
}

function FindingFields(props: PartProps) {
  const { form, problem, put } = props;
  const field = fieldsOf(props);
  return (
    <>
      <TextField
        label="With a higher score than"
        type="number"
        min="0"
        {...field("score", "on.score")}
        hint="The change as a part of the whole: 0.2 is a fifth of all."
      />
      <FilterFields
        filters={form.filters}
        error={problem?.messageFor("on.filters")}
        onChange={(filters) => put({ filters })}
      />
      <SegmentField
        {...field("segment", "on.segment")}
      />
    </>
  );
}

const CAUSES: Readonly<Record<Cause["kind"], FunctionComponent<PartProps>>> = {
  threshold: ThresholdFields,
  unusual: UnusualFields,
  silence: SilenceFields,
  finding: FindingFields,
};

interface AlertDialogProps extends NotificationDialogOf<Alert> {
  readonly webhooks: readonly Webhook[];
}

/** The form of an alert. */
export function AlertDialog({ webhooks, ...dialog }: AlertDialogProps) {
  return (
    <NotificationDialog
      {...dialog}
      one="alert"
      start={dialog.of === null ? NEW_ALERT : alertForm(dialog.of)}
      bodyOf={alertBody}
      example="Nobody buys"
      isWide
    >
      {(part) => {
        const { form, put } = part;
        const Fields = CAUSES[form.kind];
        return (
          <>
            <SelectField
              label="Tell when"
              value={form.kind}
              choices={KINDS}
              onChange={(kind) => put({ kind: kind as Cause["kind"] })}
            />
            <Fields {...part} />
            {form.kind !== "finding" && (
              <CheckField
                label="Tell, too, when it is over"
                isChecked={form.recovery}
                onChange={(recovery) => put({ recovery })}
              />
            )}
            <ReceiverFields {...part} webhooks={webhooks} />
          </>
        );
      }}
    </NotificationDialog>
  );
}
