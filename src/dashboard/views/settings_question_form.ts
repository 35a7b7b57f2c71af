import type { Filter } from "../location_query.ts";
import type { EventMatch } from "../match_editor.tsx";
import type { Question } from "./settings_notification_replies.ts";
import { measureOf, textOfMeasure } from "./trends_question.ts";

/** What is counted: a figure, a goal, events, a funnel, or a web vital. */
export type Counting = "metric" | "goal" | "match" | "funnel" | "vital";

/** A question as it is typed. */
export interface QuestionForm {
  readonly counting: Counting;
  readonly metric: string;
  readonly goal: string;
  readonly goalMeasure: string;
  readonly match: EventMatch;
  readonly matchMeasure: string;
  /** The property to compute from, if the measure takes one. */
  readonly property: string;
  readonly funnel: string;
  readonly funnelMeasure: string;
  readonly vital: string;
  readonly vitalMeasure: string;
  readonly filters: readonly Filter[];
  /** Empty: everybody. */
  readonly segment: string;
}

export const NEW_QUESTION: QuestionForm = {
  counting: "metric",
  metric: "visitors",
  goal: "",
  goalMeasure: "conversions",
  match: { name: null, filters: [] },
  matchMeasure: "total",
  property: "",
  funnel: "",
  funnelMeasure: "rate",
  vital: "lcp",
  vitalMeasure: "p75",
  filters: [],
  segment: "",
};

const PROPERTY = ":properties.";

function sourceForm(
  { metric, goal, match, funnel, vital, measure }: Question,
): Partial<QuestionForm> {
  if (metric !== undefined) return { counting: "metric", metric };
  if (goal !== undefined) return { counting: "goal", goal, goalMeasure: measure ?? "conversions" };
  if (funnel !== undefined) {
    return { counting: "funnel", funnel, funnelMeasure: measure ?? "rate" };
  }
  if (vital !== undefined) return { counting: "vital", vital, vitalMeasure: measure ?? "p75" };
  const [kind = "total", property = ""] = (measure ?? "total").split(PROPERTY);
  return { counting: "match", match: match!, matchMeasure: kind, property };
}

/** A stored question as the form has it. */
export function questionForm(question: Question): QuestionForm {
  const { filters, segment } = question;
  return { ...NEW_QUESTION, ...sourceForm(question), filters, segment: segment ?? "" };
}

/** A match as it is typed: what is unfinished is sent to be refused, not left out. */
export function typedMatch({ name, filters }: EventMatch) {
  return { name: name ?? "", filters };
}

function sourceOf(form: QuestionForm) {
  switch (form.counting) {
    case "metric":
      return { metric: form.metric };
    case "goal":
      return { goal: form.goal, measure: form.goalMeasure };
    case "funnel":
      return { funnel: form.funnel, measure: form.funnelMeasure };
    case "vital":
      return { vital: form.vital, measure: form.vitalMeasure };
    case "match": {
      const measure = textOfMeasure(measureOf(form.matchMeasure), form.property.trim());
      return { match: typedMatch(form.match), measure: measure ?? "total" };
    }
  }
}

/** The form as the API takes it. */
export function questionOf(form: QuestionForm) {
  return {
    ...sourceOf(form),
    filters: form.filters,
    segment: form.segment === "" ? null : form.segment,
  };
}
