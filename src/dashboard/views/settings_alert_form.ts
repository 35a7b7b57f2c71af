import { type EventMatch, matchBody } from "../match_editor.tsx";
import type { ReceiverForm } from "./settings_told_fields.tsx";
import { addressesOf } from "./settings_told_fields.tsx";
import type { Alert, Cause, Question } from "./settings_told_replies.ts";

/** What is counted: a figure, a goal, or events. */
export type Counting = "metric" | "goal" | "match";

/** An alert as it is typed. */
export interface AlertForm extends ReceiverForm {
  readonly title: string;
  readonly kind: Cause["kind"];
  readonly counting: Counting;
  readonly metric: string;
  readonly goal: string;
  readonly goalMeasure: string;
  readonly match: EventMatch;
  readonly matchMeasure: string;
  readonly side: "above" | "below";
  readonly bound: string;
  readonly over: string;
  readonly direction: string;
  readonly minutes: string;
  readonly score: string;
}

export const NEW_ALERT: AlertForm = {
  title: "",
  kind: "threshold",
  counting: "metric",
  metric: "visitors",
  goal: "",
  goalMeasure: "conversions",
  match: { name: null, filters: [] },
  matchMeasure: "total",
  side: "below",
  bound: "",
  over: "24h",
  direction: "any",
  minutes: "60",
  score: "0.2",
  to: "",
  webhooks: [],
};

function formOfQuestion({ metric, goal, match, measure }: Question): Partial<AlertForm> {
  if (metric !== undefined) return { counting: "metric", metric };
  if (goal !== undefined) {
    return { counting: "goal", goal, goalMeasure: measure ?? "conversions" };
  }
  return { counting: "match", match: match!, matchMeasure: measure ?? "total" };
}

function formOfCause(on: Cause): Partial<AlertForm> {
  switch (on.kind) {
    case "threshold":
      return {
        ...formOfQuestion(on.question),
        side: on.above === undefined ? "below" : "above",
        bound: String(on.above ?? on.below),
        over: on.over,
      };
    case "unusual":
      return { ...formOfQuestion(on.question), direction: on.direction };
    case "silence":
      return {
        minutes: String(on.minutes),
        ...on.match === null ? {} : { match: on.match },
      };
    case "finding":
      return { score: String(on.score) };
  }
}

/** A stored alert as the form has it. */
export function alertForm({ title, on, to, webhooks }: Alert): AlertForm {
  const { kind } = on;
  return { ...NEW_ALERT, title, kind, ...formOfCause(on), to: to.join("\n"), webhooks };
}

/** A number as people type it, a comma for the point as well; text that is none is refused as such. */
function numberOf(text: string): number | string {
  const plain = text.trim().replace(",", ".");
  return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : text;
}

function questionOf(form: AlertForm): Question {
  switch (form.counting) {
    case "metric":
      return { metric: form.metric };
    case "goal":
      return { goal: form.goal, measure: form.goalMeasure };
    case "match": {
      const { name, filters } = matchBody(form.match);
      return { match: { name: name ?? "", filters }, measure: form.matchMeasure };
    }
  }
}

function causeOf(form: AlertForm): unknown {
  const { kind } = form;
  switch (kind) {
    case "threshold":
      return {
        ...{ kind, question: questionOf(form), over: form.over.trim() },
        [form.side]: numberOf(form.bound),
      };
    case "unusual":
      return { kind, question: questionOf(form), direction: form.direction };
    case "silence": {
      const { name, filters } = matchBody(form.match);
      const match = name === null ? null : { name, filters };
      return { kind, minutes: numberOf(form.minutes), match };
    }
    case "finding":
      return { kind, score: numberOf(form.score) };
  }
}

/** The form as the API takes it. */
export function alertBody(form: AlertForm): Record<string, unknown> {
  const { title, to, webhooks } = form;
  return { title, on: causeOf(form), to: addressesOf(to), webhooks };
}
