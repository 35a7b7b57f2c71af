/** Questions of alerts and digests: each asks for one figure of one of the reads, over a span of time. */

import { z } from "zod";
import type { Project } from "../auth/projects.ts";
import { Problem } from "../problem.ts";
import { type Filter, FiltersSchema } from "../query/filters.ts";
import { isPathField, readablePath } from "../readable_path.ts";
import { readMeasure } from "../reports/visitors/trend_measures.ts";
import { VITAL_NAMES, type VitalName } from "../reports/vitals/vital_bounds.ts";
import { EventName } from "../text_schemas.ts";
import { type Figure, plainLine, type Unit } from "./message.ts";
import { QUESTION_NAME_LENGTH_MAX } from "./notification_limits.ts";
import { SLUG } from "../query/slugs.ts";
import type { NotificationReads, ReplyFrame } from "./notification_reads.ts";
import type { ViewPlace } from "./view_link.ts";

/** Figures of `GET /v1/kpis`, with their names and units. */
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

const METRIC_NAMES = Object.keys(METRICS) as [Metric, ...Metric[]];
const VITALS = [...VITAL_NAMES] as [VitalName, ...VitalName[]];
const GOAL_MEASURES = ["conversions", "total", "rate", "amount"];
const FUNNEL_MEASURES = ["rate", "converted", "entered"];
const VITAL_MEASURES = ["p75", "good", "poor"];
const MATCH_USAGE =
  "Use total, visitors, perVisitor, or sum, avg, min, max, p50 or p90 with a property, as in sum:properties.price.";
const ONE_OF = "Give exactly one of metric, goal, match, funnel, vital.";

interface Given {
  readonly metric?: Metric | undefined;
  readonly goal?: string | undefined;
  readonly match?: { readonly name: string; readonly filters: readonly Filter[] } | undefined;
  readonly funnel?: string | undefined;
  readonly vital?: VitalName | undefined;
  readonly measure?: string | undefined;
}

/** Whether `GET /v1/trends` accepts a measure. */
function isTrendMeasure(measure: string): boolean {
  try {
    readMeasure(new URLSearchParams({ measure }));
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/** Returns why a measure does not fit what is asked for; null: it does. */
function faultOfMeasure({ metric, goal, match, funnel, measure }: Given): string | null {
  if (measure === undefined) return null;
  if (metric !== undefined) return "A metric takes no measure.";
  if (match !== undefined) return isTrendMeasure(measure) ? null : MATCH_USAGE;
  const known = goal !== undefined
    ? GOAL_MEASURES
    : funnel !== undefined
    ? FUNNEL_MEASURES
    : VITAL_MEASURES;
  return known.includes(measure) ? null : `Use ${known.join(", ")}.`;
}

/** Returns what is wrong with the combination of members, and where; null: nothing. */
export function faultOf(
  given: Given,
): { readonly path: string[]; readonly message: string } | null {
  const { metric, goal, match, funnel, vital } = given;
  const sources = [metric, goal, match, funnel, vital].filter((each) => each !== undefined);
  if (sources.length !== 1) return { path: [], message: ONE_OF };
  const message = faultOfMeasure(given);
  return message === null ? null : { path: ["measure"], message };
}

/** The slug of a segment; null: everybody. */
export const SegmentSlug = z.string().regex(SLUG, "Give the slug of a segment.")
  .nullable().default(null)
  .meta({ description: "Slug of a saved segment; null: everybody." });

/** A question as the API accepts it. */
export const QuestionSchema = z.strictObject({
  metric: z.enum(METRIC_NAMES, `Use ${METRIC_NAMES.join(", ")}.`).optional()
    .meta({ description: "A figure of /v1/kpis." }),
  goal: z.string().regex(SLUG, "Give the slug of a goal.").optional()
    .meta({ description: "Slug of a goal." }),
  match: z.strictObject({ name: EventName, filters: FiltersSchema.default([]) }).optional()
    .meta({ description: "Events of one name that fulfil filters, by a measure of /v1/trends." }),
  funnel: z.string().regex(SLUG, "Give the slug of a funnel.").optional()
    .meta({ description: "Slug of a saved funnel." }),
  vital: z.enum(VITALS, `Use ${VITALS.join(", ")}.`).optional()
    .meta({ description: "A web vital: its 75th percentile, or how many page views were good." }),
  measure: z.string().max(300, "Use at most 300 characters.").optional().meta({
    description:
      "Of a goal: conversions (default: people), total, rate, amount; of a match: total (default), " +
      "visitors, perVisitor, sum:properties.x and the like; of a funnel: rate (default), converted, " +
      "entered; of a vital: p75 (default), good, poor.",
  }),
  filters: FiltersSchema.default([]),
  segment: SegmentSlug,
}).superRefine((given, context) => {
  const fault = faultOf(given);
  if (fault !== null) context.addIssue({ code: "custom", ...fault });
}).meta({ id: "AlertQuestion" });

export type AlertQuestion = z.output<typeof QuestionSchema>;

/** A span of time, and the time zone in which it is shown. */
export interface AskedSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timezone: string;
}

/** The answer to a question. */
export interface Counted {
  /** Null: it does not exist, such as a rate of no visits. */
  readonly value: number | null;
  /** The currency of a goal's amount; null: the figure is not money. */
  readonly currency: string | null;
  readonly semantics: string;
  /** Where the dashboard shows it. */
  readonly place: ViewPlace;
}

const COUNTS = ["conversions", "total", "converted", "entered", "visitors"];
const RATES = ["rate", "good", "poor"];

/** Returns the unit of a question's figure. */
export function unitOf({ metric, goal, vital, funnel, measure }: AlertQuestion): Unit {
  if (metric !== undefined) return METRICS[metric].unit;
  if (vital !== undefined && (measure ?? "p75") === "p75") {
    return vital === "cls" ? "amount" : "milliseconds";
  }
  const named = measure ??
    (funnel !== undefined ? "rate" : goal !== undefined ? "conversions" : "total");
  return RATES.includes(named) ? "rate" : COUNTS.includes(named) ? "count" : "amount";
}

const GOAL_WORDS: Readonly<Record<string, string>> = {
  conversions: "Conversions",
  total: "All conversions",
  rate: "Conversion rate",
  amount: "Value",
};
const FUNNEL_WORDS: Readonly<Record<string, string>> = {
  rate: "Conversion rate",
  converted: "Converted",
  entered: "Entered",
};
const TREND_WORDS: Readonly<Record<string, string>> = {
  sum: "Sum",
  avg: "Average",
  min: "Smallest",
  max: "Largest",
  p50: "Median",
  p90: "90th percentile",
};

function matchName(name: string, measure = "total"): string {
  const [kind = "", field = ""] = measure.split(":properties.");
  if (measure === "total") return `Events ${name}`;
  if (measure === "visitors") return `Visitors with ${name}`;
  return measure === "perVisitor"
    ? `Events ${name} per visitor`
    : `${TREND_WORDS[kind]} of ${field} of ${name}`;
}

function sourceName({ metric, goal, match, funnel, vital, measure }: AlertQuestion): string {
  if (metric !== undefined) return METRICS[metric].name;
  if (goal !== undefined) return `${GOAL_WORDS[measure ?? "conversions"]} of the goal ${goal}`;
  if (funnel !== undefined) return `${FUNNEL_WORDS[measure ?? "rate"]} of the funnel ${funnel}`;
  if (match !== undefined) return matchName(match.name, measure);
  const name = vital!.toUpperCase();
  return (measure ?? "p75") === "p75" ? `${name} (p75)` : `Page views with a ${measure} ${name}`;
}

const filterWords = ({ field, op, values }: Filter) => {
  const shown = isPathField(field) ? values.map((value) => readablePath(String(value))) : values;
  return [field, op.replaceAll("_", " "), shown.join(" or ")].filter((word) => word !== "").join(
    " ",
  );
};

/** Returns filters and a segment in words, which every figure under them must show. */
export function conditionWords(filters: readonly Filter[], segment: string | null): string {
  return plainLine([
    segment === null ? "" : `of the segment ${segment}`,
    filters.length === 0 ? "" : `where ${filters.map(filterWords).join(" and ")}`,
  ].join(" "));
}

/** Returns a question in words. */
export function questionName(question: AlertQuestion): string {
  const { match, filters, segment } = question;
  const conditions = conditionWords([...match?.filters ?? [], ...filters], segment);
  return plainLine(`${sourceName(question)} ${conditions}`, QUESTION_NAME_LENGTH_MAX);
}

interface GoalFigures {
  readonly slug: string;
  readonly uniqueConversions: number | null;
  readonly totalConversions: number | null;
  readonly conversionRate: { readonly value: number | null };
  readonly value: { readonly amount: number | null; readonly currency: string | null };
}

function goalFigure(
  { goals }: { readonly goals: readonly GoalFigures[] },
  { goal, measure }: AlertQuestion,
): Pick<QuestionAnswer, "value" | "currency"> {
  const found = goals.find(({ slug }) => slug === goal);
  if (found === undefined) throw new Problem("not_found", `There is no goal "${goal}" any more.`);
  switch (measure) {
    case "total":
      return { value: found.totalConversions };
    case "rate":
      return { value: found.conversionRate.value };
    case "amount":
      return { value: found.value.amount, currency: found.value.currency };
    default:
      return { value: found.uniqueConversions };
  }
}

export interface KpiTotals {
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly pageviews: number | null;
  readonly events: number | null;
  readonly bounceRate: { readonly value: number | null };
  readonly sessionDuration: { readonly medianSeconds: number | null };
}

function kpiFigure({ totals }: { readonly totals: KpiTotals }, metric: Metric): number | null {
  switch (metric) {
    case "bounceRate":
      return totals.bounceRate.value;
    case "sessionSeconds":
      return totals.sessionDuration.medianSeconds;
    default:
      return totals[metric];
  }
}

interface FunnelFigures {
  readonly entered: number | null;
  readonly converted: number | null;
  readonly steps: readonly { readonly conversionFromStart: { readonly value: number | null } }[];
}

function funnelFigure(found: FunnelFigures, { measure }: AlertQuestion): number | null {
  if (measure === "converted") return found.converted;
  return measure === "entered" ? found.entered : found.steps.at(-1)!.conversionFromStart.value;
}

type VitalFigures = Readonly<
  Record<VitalName, {
    readonly p75: number | null;
    readonly good: { readonly value: number | null };
    readonly poor: { readonly value: number | null };
  }>
>;

function vitalFigure(
  { totals }: { readonly totals: VitalFigures },
  { vital, measure }: AlertQuestion,
): number | null {
  const found = totals[vital!];
  if (measure === "good") return found.good.value;
  return measure === "poor" ? found.poor.value : found.p75;
}

const iso = (ms: number) => new Date(ms).toISOString();

/** Returns the parameters of every question. The largest interval makes the fewest buckets. */
function paramsOf({ filters, segment }: AlertQuestion, { fromMs, toMs }: AskedSpan) {
  return {
    from: iso(fromMs),
    to: iso(toMs),
    interval: "month",
    ...filters.length === 0 ? {} : { filters: JSON.stringify(filters) },
    ...segment === null ? {} : { segment },
  };
}

type Params = Readonly<Record<string, string>>;

/** A read's reply, its figure, and where the dashboard shows it. */
interface QuestionAnswer {
  readonly value: number | null;
  readonly currency?: string | null;
  readonly reply: ReplyFrame;
  readonly path: string;
  readonly params: Params;
}

interface TrendFigures {
  readonly change: readonly { readonly current: number | null }[];
}

async function askTrend(
  reads: NotificationReads,
  project: Project,
  { match, measure = "total" }: AlertQuestion,
  shared: Params,
): Promise<QuestionAnswer> {
  const event = match!.filters.length === 0 ? match!.name : JSON.stringify(match);
  // Only `change` has the measure over the whole range; those of buckets cannot be added up.
  const params = { ...shared, event, measure, compare: "previous" };
  const reply = await reads.read<TrendFigures>(project, "trends", params);
  return { value: reply.change[0]?.current ?? null, reply, path: "/v1/trends", params };
}

async function ask(
  reads: NotificationReads,
  project: Project,
  question: AlertQuestion,
  params: Params,
): Promise<QuestionAnswer> {
  const { metric, goal, funnel, vital } = question;
  if (metric !== undefined) {
    const reply = await reads.read<{ totals: KpiTotals }>(project, "kpis", params);
    return { value: kpiFigure(reply, metric), reply, path: "/v1/kpis", params };
  }
  if (goal !== undefined) {
    const reply = await reads.read<{ goals: GoalFigures[] }>(project, "goals", params);
    return { ...goalFigure(reply, question), reply, path: `/v1/goals/${goal}`, params };
  }
  if (funnel !== undefined) {
    const reply = await reads.read<FunnelFigures>(project, "funnel", params, { slug: funnel });
    return { value: funnelFigure(reply, question), reply, path: `/v1/funnels/${funnel}`, params };
  }
  if (vital !== undefined) {
    const reply = await reads.read<{ totals: VitalFigures }>(project, "vitals", params);
    return { value: vitalFigure(reply, question), reply, path: "/v1/vitals", params };
  }
  return await askTrend(reads, project, question, params);
}

/** Answers a question over a span, with the reads of the API. Throws Problem, as they do. */
export async function count(
  reads: NotificationReads,
  project: Project,
  question: AlertQuestion,
  span: AskedSpan,
): Promise<Counted> {
  const shared = paramsOf(question, span);
  const zone: Params = span.timezone === project.timezone ? {} : { timezone: span.timezone };
  const { value, currency = null, reply, path, params } = await ask(reads, project, question, {
    ...shared,
    ...zone,
  });
  const { query } = reply;
  return { value, currency, semantics: query.semantics, place: { path, params, query } };
}

/** Returns a question's figure, with its change against an earlier value. */
export function figureOf(
  question: AlertQuestion,
  { value, currency }: Pick<Counted, "value" | "currency">,
  previous: number | null,
): Figure {
  const isBoth = value !== null && previous !== null;
  return {
    name: questionName(question),
    value,
    unit: unitOf(question),
    ...currency === null ? {} : { currency },
    change: isBoth && previous !== 0 ? (value - previous) / previous : null,
    points: isBoth ? value - previous : null,
  };
}
