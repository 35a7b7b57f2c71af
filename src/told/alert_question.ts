/** What an alert counts: a figure of one of the reads, over a span of time. */

import { z } from "zod";
import type { Project } from "../auth/projects.ts";
import { type Filter, FiltersSchema } from "../query/filters.ts";
import { EventNameText } from "./event_name_text.ts";
import { SLUG } from "./receivers.ts";
import type { ToldReads } from "./told_reads.ts";

/** Figures of `GET /v1/kpis`: what people call them, and whether they are counts. */
export const METRICS = {
  visitors: { name: "Visitors", unit: "count" },
  newVisitors: { name: "New visitors", unit: "count" },
  sessions: { name: "Visits", unit: "count" },
  pageviews: { name: "Page views", unit: "count" },
  events: { name: "Events", unit: "count" },
  bounceRate: { name: "Bounce rate", unit: "rate" },
  sessionSeconds: { name: "Median visit", unit: "seconds" },
} as const;
export type Metric = keyof typeof METRICS;
export type Unit = "count" | "rate" | "seconds" | "amount";

const METRIC_NAMES = Object.keys(METRICS) as [Metric, ...Metric[]];
const GOAL_MEASURES = ["conversions", "total", "rate", "amount"] as const;
const MATCH_MEASURES = ["total", "visitors"] as const;
const ONE_OF = "Give one of metric, goal and match.";

interface Given {
  readonly metric?: Metric | undefined;
  readonly goal?: string | undefined;
  readonly match?: { readonly name: string; readonly filters: readonly Filter[] } | undefined;
  readonly measure?: string | undefined;
}

/** What is wrong with the members together; null: nothing. */
function faultOf({ metric, goal, match, measure }: Given): [string, string] | null {
  const given = [metric, goal, match].filter((each) => each !== undefined);
  if (given.length !== 1) return ["metric", ONE_OF];
  if (metric !== undefined) {
    return measure === undefined ? null : ["measure", "A metric takes no measure."];
  }
  const measures: readonly string[] = goal === undefined ? MATCH_MEASURES : GOAL_MEASURES;
  return measure === undefined || measures.includes(measure)
    ? null
    : ["measure", `Use ${measures.join(", ")}.`];
}

/** What is counted, as the API takes it. */
export const QuestionSchema = z.strictObject({
  metric: z.enum(METRIC_NAMES, `Use ${METRIC_NAMES.join(", ")}.`).optional()
    .meta({ description: "A figure of /v1/kpis." }),
  goal: z.string().regex(SLUG, "Give the slug of a goal.").optional()
    .meta({ description: "Slug of a goal." }),
  match: z.strictObject({ name: EventNameText, filters: FiltersSchema.default([]) }).optional()
    .meta({ description: "Events of one name that fulfil filters." }),
  measure: z.string().max(20).optional().meta({
    description:
      "Of a goal: conversions (default: people), total, rate, amount; of a match: total " +
      "(default: events), visitors.",
  }),
  filters: FiltersSchema.default([]),
}).superRefine((given, context) => {
  const fault = faultOf(given);
  if (fault === null) return;
  context.addIssue({ code: "custom", message: fault[1], path: [fault[0]] });
}).meta({ id: "AlertQuestion" });

export type AlertQuestion = z.output<typeof QuestionSchema>;

/** A span of time with the zone in which it is told. */
export interface AskedSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timezone: string;
}

/** What was found, and what the figure means. */
export interface Counted {
  /** Null: of nothing, such as a rate of no visits, or a goal that is gone. */
  readonly value: number | null;
  readonly semantics: string;
  /** Events that are not counted yet. */
  readonly pending: number;
}

interface GoalFigures {
  readonly slug: string;
  readonly title: string;
  readonly uniqueConversions: number | null;
  readonly totalConversions: number | null;
  readonly conversionRate: { readonly value: number | null };
  readonly value: { readonly amount: number | null; readonly currency: string | null };
}

const isGoal = (question: AlertQuestion) => question.goal !== undefined;

/** The unit of what is counted. */
export function unitOf(question: AlertQuestion): Unit {
  const { metric, goal, measure } = question;
  if (metric !== undefined) return METRICS[metric].unit;
  if (goal === undefined) return "count";
  return measure === "rate" ? "rate" : measure === "amount" ? "amount" : "count";
}

const GOAL_WORDS: Readonly<Record<string, string>> = {
  conversions: "Conversions",
  total: "All conversions",
  rate: "Conversion rate",
  amount: "Value",
};

/** What is counted, in words. */
export function questionName({ metric, goal, match, measure }: AlertQuestion): string {
  if (metric !== undefined) return METRICS[metric].name;
  if (goal !== undefined) {
    return `${GOAL_WORDS[measure ?? "conversions"]} of the goal ${goal}`;
  }
  return measure === "visitors" ? `Visitors with ${match!.name}` : `Events ${match!.name}`;
}

/** The filters that say the same in other reads. */
export function filtersOf({ match, filters }: AlertQuestion): readonly Filter[] {
  if (match === undefined) return filters;
  return [{ field: "name", op: "is", values: [match.name] }, ...match.filters, ...filters];
}

const iso = (ms: number) => new Date(ms).toISOString();

/** Parameters of the read: one bucket as large as there is. */
function paramsOf(question: AlertQuestion, { fromMs, toMs, timezone }: AskedSpan) {
  const filters = filtersOf(question);
  return {
    from: iso(fromMs),
    to: iso(toMs),
    timezone,
    interval: "month",
    ...filters.length === 0 ? {} : { filters: JSON.stringify(filters) },
  };
}

function goalFigure(found: GoalFigures | undefined, measure = "conversions"): number | null {
  switch (measure) {
    case "total":
      return found?.totalConversions ?? null;
    case "rate":
      return found?.conversionRate.value ?? null;
    case "amount":
      return found?.value.amount ?? null;
    default:
      return found?.uniqueConversions ?? null;
  }
}

interface KpiTotals {
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly pageviews: number | null;
  readonly events: number | null;
  readonly bounceRate: { readonly value: number | null };
  readonly sessionDuration: { readonly medianSeconds: number | null };
}

function kpiFigure(totals: KpiTotals, { metric, measure }: AlertQuestion): number | null {
  switch (metric) {
    case "bounceRate":
      return totals.bounceRate.value;
    case "sessionSeconds":
      return totals.sessionDuration.medianSeconds;
    case undefined:
      return measure === "visitors" ? totals.visitors : totals.events;
    default:
      return totals[metric];
  }
}

/** What a question comes to over a span, by the reads that everybody has. */
export async function count(
  reads: ToldReads,
  project: Project,
  question: AlertQuestion,
  span: AskedSpan,
): Promise<Counted> {
  const params = paramsOf(question, span);
  if (isGoal(question)) {
    const reply = await reads.read<{ goals: GoalFigures[] }>(project, "goals", params);
    const found = reply.goals.find(({ slug }) => slug === question.goal);
    const { query: { semantics }, pending } = reply;
    return { value: goalFigure(found, question.measure), semantics, pending };
  }
  const reply = await reads.read<{ totals: KpiTotals }>(project, "kpis", params);
  const { totals, pending, query: { semantics } } = reply;
  return { value: kpiFigure(totals, question), semantics, pending };
}
