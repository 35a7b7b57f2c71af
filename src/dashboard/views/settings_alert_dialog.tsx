/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { send } from "../api.ts";
import type { ApiProblem } from "../api_problem.ts";
import { Segments, SelectField, TextField } from "../field.tsx";
import { MatchEditor } from "../match_editor.tsx";
import { FormDialog } from "../request_dialogs.tsx";
import { useRequest } from "../request_state.tsx";
import { useRead } from "../resource.ts";
import { freeSlugOf } from "./goals_slug.ts";
import {
  alertBody,
  type AlertForm,
  alertForm,
  type Counting,
  NEW_ALERT,
} from "./settings_alert_form.ts";
import { faultOf } from "./settings_share_form.ts";
import { ReceiverFields } from "./settings_told_fields.tsx";
import { type Alert, type Cause, METRIC_CHOICES, type Webhook } from "./settings_told_replies.ts";

interface PartProps {
  readonly form: AlertForm;
  readonly problem: ApiProblem | null;
  readonly put: (change: Partial<AlertForm>) => void;
}

const KINDS = [
  { value: "threshold", label: "A figure is above or below a value" },
  { value: "unusual", label: "A figure is unusual for the weekday" },
  { value: "silence", label: "No events come" },
  { value: "finding", label: "There is a finding" },
];
const COUNTINGS = [
  { value: "metric", label: "A figure" },
  { value: "goal", label: "A goal" },
  { value: "match", label: "Events" },
];
const GOAL_MEASURES = [
  { value: "conversions", label: "People who reached it" },
  { value: "total", label: "All conversions" },
  { value: "rate", label: "Conversion rate (0 to 1)" },
  { value: "amount", label: "Value" },
];
const MATCH_MEASURES = [
  { value: "total", label: "Events" },
  { value: "visitors", label: "Visitors" },
];
const SIDES = [{ value: "above", label: "Above" }, { value: "below", label: "Below" }];
const DIRECTIONS = [
  { value: "any", label: "Either way" },
  { value: "up", label: "More" },
  { value: "down", label: "Less" },
];

interface GoalsListed {
  readonly goals: readonly { readonly slug: string; readonly title: string }[];
}

function GoalFields({ form, put }: PartProps) {
  const goals = useRead<GoalsListed>("/v1/goals").data?.goals ?? [];
  const choices = [
    { value: "", label: "Choose a goal" },
    ...goals.map(({ slug, title }) => ({ value: slug, label: title })),
  ];
  return (
    <div class="field-pair">
      <SelectField
        label="Goal"
        value={form.goal}
        choices={choices}
        onChange={(goal) => put({ goal })}
      />
      <SelectField
        label="Counted"
        value={form.goalMeasure}
        choices={GOAL_MEASURES}
        onChange={(goalMeasure) => put({ goalMeasure })}
      />
    </div>
  );
}

/** What is counted. */
function QuestionFields(props: PartProps) {
  const { form, problem, put } = props;
  const fault = faultOf(problem, "on.question");
  return (
    <>
      <Segments
        label="What is counted"
        value={form.counting}
        choices={COUNTINGS}
        onChange={(counting) => put({ counting: counting as Counting })}
      />
      {form.counting === "metric" && (
        <SelectField
          label="Figure"
          value={form.metric}
          choices={METRIC_CHOICES}
          onChange={(metric) => put({ metric })}
        />
      )}
      {form.counting === "goal" && <GoalFields {...props} />}
      {form.counting === "match" && (
        <>
          <MatchEditor value={form.match} onChange={(match) => put({ match })} />
          <SelectField
            label="Counted"
            value={form.matchMeasure}
            choices={MATCH_MEASURES}
            onChange={(matchMeasure) => put({ matchMeasure })}
          />
        </>
      )}
      {fault && <p class="field-error" role="alert">{fault}</p>}
    </>
  );
}

function ThresholdFields(props: PartProps) {
  const { form, problem, put } = props;
  return (
    <>
      <QuestionFields {...props} />
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
          error={faultOf(problem, "on.above") ?? faultOf(problem, "on.below")}
          onChange={(bound) => put({ bound })}
        />
        <TextField
          label="In the last"
          value={form.over}
          hint="Such as 30m, 24h or 7d."
          error={faultOf(problem, "on.over")}
          onChange={(over) => put({ over })}
        />
      </div>
    </>
  );
}

/** The fields of what an alert waits for. */
function CauseFields(props: PartProps) {
  const { form, problem, put } = props;
  switch (form.kind) {
    case "threshold":
      return <ThresholdFields {...props} />;
    case "unusual":
      return (
        <>
          <QuestionFields {...props} />
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
    case "silence":
      return (
        <>
          <TextField
            label="For so many minutes"
            type="number"
            min="5"
            value={form.minutes}
            error={faultOf(problem, "on.minutes")}
            onChange={(minutes) => put({ minutes })}
          />
          <MatchEditor
            value={form.match}
            error={faultOf(problem, "on.match")}
            onChange={(match) => put({ match })}
          />
        </>
      );
    case "finding":
      return (
        <TextField
          label="With a higher score than"
          type="number"
          min="0"
          value={form.score}
          hint="The change as a part of the whole: 0.2 is a fifth of all."
          error={faultOf(problem, "on.score")}
          onChange={(score) => put({ score })}
        />
      );
  }
}

interface AlertDialogProps {
  /** Null: a new one. */
  readonly of: Alert | null;
  readonly taken: readonly string[];
  readonly webhooks: readonly Webhook[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The form of an alert. */
export function AlertDialog({ of, taken, webhooks, onClose, onDone }: AlertDialogProps) {
  const [form, setForm] = useState(of === null ? NEW_ALERT : alertForm(of));
  const put = (change: Partial<AlertForm>) => setForm((before) => ({ ...before, ...change }));
  const request = useRequest(async () => {
    const slug = of?.slug ?? freeSlugOf(form.title, "alert", taken);
    await send("PUT", `/v1/alerts/${slug}`, alertBody(form));
    onDone();
  });
  const { problem } = request;
  return (
    <FormDialog
      title={of === null ? "A new alert" : `Change ${of.title}`}
      id="alert"
      request={request}
      action="Save"
      isWide
      onClose={onClose}
    >
      <TextField
        label="Title"
        value={form.title}
        placeholder="Nobody buys"
        maxLength={200}
        error={faultOf(problem, "title")}
        onChange={(title) => put({ title })}
      />
      <SelectField
        label="Tell when"
        value={form.kind}
        choices={KINDS}
        onChange={(kind) => put({ kind: kind as Cause["kind"] })}
      />
      <CauseFields {...{ form, problem, put }} />
      <ReceiverFields {...{ form, webhooks, problem, put }} />
    </FormDialog>
  );
}
