import { typedNumber } from "../typed_number.ts";
import {
  NEW_QUESTION,
  type QuestionForm,
  questionForm,
  questionOf,
  typedMatch,
} from "./settings_question_form.ts";
import { addressesOf, type ReceiverForm } from "./settings_notification_fields.tsx";
import type { Alert, Cause } from "./settings_notification_replies.ts";

/** An alert as it is typed: a finding has the question's conditions, silence its events. */
export interface AlertForm extends ReceiverForm, QuestionForm {
  readonly title: string;
  readonly kind: Cause["kind"];
  readonly side: "above" | "below";
  readonly bound: string;
  readonly over: string;
  readonly direction: string;
  readonly minutes: string;
  readonly score: string;
  readonly recovery: boolean;
}

export const NEW_ALERT: AlertForm = {
  ...NEW_QUESTION,
  title: "",
  kind: "threshold",
  side: "below",
  bound: "",
  over: "24h",
  direction: "any",
  minutes: "60",
  score: "0.2",
  recovery: true,
  to: "",
  webhooks: [],
};

function formOfCause(on: Cause): Partial<AlertForm> {
  switch (on.kind) {
    case "threshold":
      return {
        ...questionForm(on.question),
        side: on.above === undefined ? "below" : "above",
        bound: String(on.above ?? on.below),
        over: on.over,
      };
    case "unusual":
      return { ...questionForm(on.question), direction: on.direction };
    case "silence":
      return {
        minutes: String(on.minutes),
        ...on.match === null ? {} : { match: on.match },
      };
    case "finding":
      return { score: String(on.score), filters: on.filters, segment: on.segment ?? "" };
  }
}

/** A stored alert as the form has it. */
export function alertForm({ title, on, recovery, to, webhooks }: Alert): AlertForm {
  const { kind } = on;
  const common = { recovery, to: to.join("\n"), webhooks };
  return { ...NEW_ALERT, title, kind, ...formOfCause(on), ...common };
}

/** A typed number; other text is sent as it is, to be refused. */
const numberOf = (text: string): number | string => typedNumber(text) ?? text;

function causeOf(form: AlertForm): unknown {
  const { kind } = form;
  switch (kind) {
    case "threshold":
      return {
        kind,
        question: questionOf(form),
        over: form.over.trim(),
        [form.side]: numberOf(form.bound),
      };
    case "unusual":
      return { kind, question: questionOf(form), direction: form.direction };
    case "silence": {
      const { name, filters } = form.match;
      // Conditions take a name: without one they are sent to be refused, not left out.
      const isAny = name === null && filters.length === 0;
      const match = isAny ? null : typedMatch(form.match);
      return { kind, minutes: numberOf(form.minutes), match };
    }
    case "finding": {
      const segment = form.segment === "" ? null : form.segment;
      return { kind, score: numberOf(form.score), filters: form.filters, segment };
    }
  }
}

/** The form as the API takes it. */
export function alertBody(form: AlertForm): Record<string, unknown> {
  const { title, recovery, to, webhooks } = form;
  return { title, on: causeOf(form), recovery, to: addressesOf(to), webhooks };
}
