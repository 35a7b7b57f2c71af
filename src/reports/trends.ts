import { z } from "zod";
import { TREND_EVENTS_MAX, TREND_POINTS_MAX, TREND_VALUES_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Bucket, bucketsOf, shownBucket } from "../selection/buckets.ts";
import {
  EventMatch,
  type Field,
  type Filter,
  readEventMatch,
  readField,
  readJson,
} from "../selection/filters.ts";
import { readAll } from "../selection/parameters.ts";
import {
  anyFactConditions,
  factConditions,
  factNumber,
  factValue,
  type Scope,
  type Span,
} from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { isCountedByName } from "../walks/match_tests.ts";
import type { Read, SharedRead } from "../walks/read.ts";
import { type Answer, askingOf, rate, type Report } from "./report.ts";
import { findInHistories, type FoundTrends, type PointRow } from "./trend_histories.ts";
import { type Measure, MEASURES, readMeasure } from "./trend_measures.ts";

/** What a line of values is called where a value is not among the most frequent. */
const OTHER = "$other";
const ANY_EVENT: EventMatch = { name: null, filters: [] };

const EventList: z.ZodType<EventMatch[]> = z.array(EventMatch, "Use a list of events.")
  .min(1, "List at least one event.")
  .max(TREND_EVENTS_MAX, `List at most ${TREND_EVENTS_MAX} events.`);

/** `event`: a name, an event match, or a list of both; any event where it is not given. */
function readEvents(query: URLSearchParams): readonly EventMatch[] {
  const isList = query.get("event")?.trimStart().startsWith("[") ?? false;
  if (isList) return readJson(query, "event", EventList) ?? [ANY_EVENT];
  return [readEventMatch(query, "event") ?? ANY_EVENT];
}

interface Asked {
  readonly events: readonly EventMatch[];
  readonly measure: Measure;
  readonly by: Field | null;
}

function readAsked(query: URLSearchParams): Asked {
  return readAll({
    events: () => readEvents(query),
    measure: () => readMeasure(query),
    by: () => readField(query, "by"),
  });
}

/** What is told apart: a field, and its values that have a line of their own, most events first. */
interface Breakdown {
  readonly by: Field;
  readonly top: readonly (string | null)[];
}

/** How a measure is made of rows. */
interface Aggregate {
  readonly value: string;
  /** What `value` is to be divided by. */
  readonly divisor?: string;
  /** True: each row is an actor with its number of `events`; else an event, with its `number`. */
  readonly perActor?: boolean;
}

// Numbers are summed as decimals, so that no order of adding changes the sum.
const AGGREGATES: Readonly<Record<Measure["kind"], Aggregate>> = {
  total: { value: "count(*)" },
  visitors: { value: "count(*)", perActor: true },
  perVisitor: { value: "sum(events)", divisor: "count(*)", perActor: true },
  sum: { value: "coalesce(sum(number), 0)" },
  avg: { value: "sum(number)", divisor: "count(number)" },
  min: { value: "min(number)" },
  max: { value: "max(number)" },
  p50: { value: "percentile_cont(0.5) WITHIN GROUP (ORDER BY number::float8)" },
  p90: { value: "percentile_cont(0.9) WITHIN GROUP (ORDER BY number::float8)" },
};

/** What a bucket without any event is told as. */
function nothingOf({ kind }: Measure): number | null {
  return kind === "total" || kind === "visitors" || kind === "sum" ? 0 : null;
}

function spanOf(buckets: readonly Span[]): Span {
  return { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
}

/** The facts that any of the events means, each once. */
function anyOf(
  params: SqlParams,
  scope: Scope,
  span: Span,
  events: readonly EventMatch[],
): string {
  const [only] = events;
  if (events.length === 1) return factConditions(params, scope, span, only);
  const names = events.flatMap(({ name, filters }) => filters.length > 0 ? [] : name ?? []);
  if (names.length === events.length) {
    // One list of names is a condition of an index; alternatives are none.
    const named: Filter = { field: "name", op: "is", values: names };
    return factConditions(params, scope, span, { name: null, filters: [named] });
  }
  // What the read says of names is said again: it may name technical ones.
  const ofNames = { ...scope, filters: scope.filters.filter(({ field }) => field === "name") };
  const alternatives = events.map((event) => factConditions(params, ofNames, null, event));
  return `${anyFactConditions(params, scope, span)} AND ((${alternatives.join(") OR (")}))`;
}

/** The values with most events, ties by value, the missing one (null) last. */
async function readTop(
  { sql, scope }: Read,
  span: Span,
  events: readonly EventMatch[],
  by: Field,
): Promise<(string | null)[]> {
  const params = new SqlParams();
  const { joins, value } = factValue(params, scope, by);
  const rows = await sql.query<{ value: string | null }>(
    `SELECT value FROM (
      SELECT ${value} AS value, count(*) AS events
      FROM facts f ${joins} WHERE ${anyOf(params, scope, span, events)} GROUP BY 1
    ) AS counted
    ORDER BY events DESC, value COLLATE "C" ASC NULLS LAST LIMIT ${params.int(TREND_VALUES_MAX)}`,
    params.values,
  );
  return rows.map((row) => row.value);
}

/** Of each fact (alias f) its line: 1-based among the most frequent values, 0 for any other. */
function lineSql(
  params: SqlParams,
  scope: Scope,
  breakdown: Breakdown | null,
): { joins: string; line: string } {
  if (breakdown === null) return { joins: "", line: "1" };
  const { by, top } = breakdown;
  const { joins, value } = factValue(params, scope, by);
  // Joined, a value is found by its hash: a search through the list took longer than all the rest.
  const ranked = `jsonb_array_elements_text(${params.json(top)}) WITH ORDINALITY`;
  const missing = params.int(top.indexOf(null) + 1);
  return {
    joins: `${joins} LEFT JOIN ${ranked} AS ranked (value, line) ON ranked.value = ${value}`,
    line: `CASE WHEN ${value} IS NULL THEN ${missing} ELSE coalesce(ranked.line, 0) END`,
  };
}

/** Line and bucket of the selected facts, a row for each fact, or for each actor where that is enough. */
function placedSql(
  params: SqlParams,
  { scope }: Read,
  buckets: readonly Span[],
  event: EventMatch,
  { kind, key }: Measure,
  breakdown: Breakdown | null,
): string {
  const { joins, line } = lineSql(params, scope, breakdown);
  // A subquery, since casts from text are not folded into constants: each row would parse the array.
  const starts = `(SELECT ${params.bigints(buckets.map(({ fromMs }) => fromMs))})`;
  const place = `${line} AS line, width_bucket(f.tick >> 16, ${starts}) AS bucket`;
  const where = `WHERE ${factConditions(params, scope, spanOf(buckets), event)}`;
  if (AGGREGATES[kind].perActor) {
    return `SELECT ${place}, f.actor_id, count(*) AS events FROM facts f ${joins} ${where} GROUP BY 1, 2, 3`;
  }
  if (key === null) return `SELECT ${place} FROM facts f ${joins} ${where}`;
  const number = factNumber(params, key);
  return `SELECT ${place}, ${number.value} AS number FROM facts f ${joins} ${number.joins} ${where}`;
}

/** The measure of one event in each bucket of each line that has any. */
async function readPoints(
  read: Read,
  buckets: readonly Span[],
  event: EventMatch,
  measure: Measure,
  breakdown: Breakdown | null,
): Promise<PointRow[]> {
  const params = new SqlParams();
  const { value, divisor = "NULL::int8" } = AGGREGATES[measure.kind];
  const placed = placedSql(params, read, buckets, event, measure, breakdown);
  return await read.sql.query<PointRow>(
    `SELECT line, bucket, ${value} AS value, ${divisor} AS divisor
    FROM (${placed}) AS placed GROUP BY line, bucket`,
    params.values,
  );
}

function valueOf({ value, divisor }: PointRow): number | null {
  return value === null || divisor === null ? value : rate(value, divisor).value;
}

/** Every bucket of the range, those without events too. */
function pointsOf(
  rows: readonly PointRow[],
  buckets: readonly Bucket[],
  measure: Measure,
  { range, asOfMs }: Read,
) {
  const found = new Map(rows.map((row) => [row.bucket, valueOf(row)]));
  const nothing = nothingOf(measure);
  return buckets.map((bucket, i) => ({
    ...shownBucket(bucket, range, asOfMs),
    value: found.has(i + 1) ? found.get(i + 1)! : nothing,
  }));
}

/** Lines of one event in the order of their values, the others last; values that it never has are left out. */
function linesOf(rows: readonly PointRow[], top: readonly (string | null)[]) {
  const ofLine = Map.groupBy(rows, ({ line }) => line);
  const values = [...top.map((value, i) => ({ line: i + 1, value })), { line: 0, value: OTHER }];
  return values.flatMap(({ line, value }) => {
    const own = ofLine.get(line);
    return own === undefined ? [] : [{ value, rows: own }];
  });
}

function refuseManyPoints({ events, by }: Asked, { range, interval }: SharedRead): void {
  const lines = events.length * (by === null ? 1 : TREND_VALUES_MAX + 1);
  if (lines * bucketsOf(range, interval).length <= TREND_POINTS_MAX) return;
  throw new Problem(
    "range_too_large",
    `Ask for at most ${TREND_POINTS_MAX} points at once: fewer events, a coarser interval, or a shorter range.`,
  );
}

async function findInFacts(
  read: Read,
  buckets: readonly Span[],
  { events, measure, by }: Asked,
): Promise<FoundTrends> {
  const top = by === null ? null : await readTop(read, spanOf(buckets), events, by);
  if (top?.length === 0) return { top, points: [] };
  const breakdown = by === null || top === null ? null : { by, top };
  const points: PointRow[][] = [];
  for (const event of events) {
    points.push(await readPoints(read, buckets, event, measure, breakdown));
  }
  return { top, points };
}

/** Trends are followed in histories, unless an index has them at hand. */
async function findTrends(
  read: Read,
  buckets: readonly Span[],
  asked: Asked,
): Promise<FoundTrends> {
  const { events, measure, by } = asked;
  const isAtHand = measure.key === null && by === null &&
    events.every((event) => isCountedByName(read.scope, event));
  const found = isAtHand ? null : await findInHistories(read, { buckets, events, measure, by });
  return found ?? await findInFacts(read, buckets, asked);
}

async function readSeries(read: Read, asked: Asked): Promise<readonly unknown[]> {
  const { events, measure } = asked;
  const buckets = bucketsOf(read.range, read.interval);
  const { top, points: found } = await findTrends(read, buckets, asked);
  if (top?.length === 0) return [];
  const series: unknown[] = [];
  for (const [i, event] of events.entries()) {
    const rows = found[i]!;
    const points = (some: readonly PointRow[]) => pointsOf(some, buckets, measure, read);
    if (events.length === 1 && top === null) return points(rows);
    const lines = top === null ? [{ value: null, rows }] : linesOf(rows, top);
    for (const { value, rows: own } of lines) {
      series.push({ event: event.label ?? event.name, value, points: points(own) });
    }
  }
  return series;
}

async function answer(read: Read, asked: Asked): Promise<Answer> {
  const { events, measure: { kind, key }, by } = asked;
  const measure = key === null ? kind : `${kind}:properties.${key}`;
  return {
    query: { event: events, measure, by },
    result: { series: await readSeries(read, asked) },
    asking: askingOf({ event: events }),
  };
}

const TrendPoint = z.object({
  start: z.iso.datetime(),
  label: z.string(),
  complete: z.boolean(),
  value: z.number().nullable(),
}).meta({ id: "TrendPoint" });

const TrendLine = z.object({
  event: z.string().nullable().meta({ description: "Its label, else its name; null: any event" }),
  value: z.string().nullable().meta({
    description:
      `The value of \`by\`; ${OTHER} for all but the ${TREND_VALUES_MAX} most frequent; null where it is missing`,
  }),
  points: z.array(TrendPoint),
}).meta({ id: "TrendLine" });

/** `GET /v1/trends`: how often chosen events happen, or what their properties come to, over time. */
export const TRENDS: Report = {
  path: "/v1/trends",
  summary: "Any event over time: how often, by how many, or what a property of it comes to",
  parameters: {
    event:
      `Event name, or JSON: {"name","filters"?,"label"?}, or a list of 1 to ${TREND_EVENTS_MAX} of either. Default: all events`,
    measure: `${MEASURES}. Default: total`,
    by:
      `A filter field: one line for each of its ${TREND_VALUES_MAX} values with most events, and ${OTHER}`,
  },
  semantics:
    "total = selected events, those of technical names ($…) where a question names them; visitors = their distinct actors; perVisitor = total / visitors; sum, avg, min, max, p50 and p90 are over the values of the property that are JSON numbers, percentiles interpolated linearly. " +
    `Of nothing, counts and sums are 0 and all else is null. Each bucket is computed by itself. by is the value at each event (that of its session for session fields); the ${TREND_VALUES_MAX} values with most events over all listed events have lines, the rest is ${OTHER}, computed as one group.`,
  reply: {
    series: z.union([z.array(TrendPoint), z.array(TrendLine)]).meta({
      description: "Buckets; with `by` or several events lines of buckets",
    }),
  },
  ask: (query) => {
    const asked = readAsked(query);
    return {
      refuse: (shared) => refuseManyPoints(asked, shared),
      answer: (read) => answer(read, asked),
    };
  },
};
