import { z } from "zod";
import { TREND_EVENTS_MAX, TREND_POINTS_MAX, TREND_VALUES_MAX } from "../../limits.ts";
import { BUCKET_SHOWN, bucketsOf, shownBucket } from "../../query/buckets.ts";
import {
  ANY_EVENT,
  EventMatch,
  isJsonLike,
  readEventMatch,
  readField,
  readJson,
} from "../../query/filters.ts";
import { rangeTooLarge, readAll } from "../../query/parameters.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { ChangeShown } from "../answer/changes.ts";
import { COMPARED_SHOWN, comparisonOf } from "../answer/compared_read.ts";
import type { Answer, Report } from "../answer/report.ts";
import { MEASURES, readMeasure } from "../visitors/trend_measures.ts";
import { OTHER } from "../answer/small_groups.ts";
import { compareLines, readLines, type TrendParameters } from "./trend_lines.ts";
import type { TrendLines } from "./trend_scan.ts";

const EventList: z.ZodType<EventMatch[]> = z.array(EventMatch, "Use a list of events.")
  .min(1, "List at least one event.")
  .max(TREND_EVENTS_MAX, `List at most ${TREND_EVENTS_MAX} events.`);

/** Reads `event`: a name, an event match, or a list of either. Default: any event. */
function readEvents(query: URLSearchParams): readonly EventMatch[] {
  const text = query.get("event")?.trimStart() ?? "";
  if (text.startsWith("[") && isJsonLike(text)) {
    return readJson(query, "event", EventList) ?? [ANY_EVENT];
  }
  return [readEventMatch(query, "event") ?? ANY_EVENT];
}

function refuseManyPoints(
  { events, by }: TrendParameters,
  { range, comparison, interval }: SharedRead,
): void {
  const lines = events.length * (by === null ? 1 : TREND_VALUES_MAX + 1);
  for (const one of comparison === null ? [range] : [range, comparison]) {
    if (lines * bucketsOf(one, interval).length <= TREND_POINTS_MAX) continue;
    throw rangeTooLarge(
      "interval",
      `Ask for at most ${TREND_POINTS_MAX} points at once: fewer events, a coarser interval, or a shorter range.`,
    );
  }
}

/** Returns the lines as replies show them; a single one without `by` as only its points. */
function shownSeries(
  { range, interval, asOfMs }: Read,
  { lines, top }: TrendLines,
): readonly unknown[] {
  const buckets = bucketsOf(range, interval);
  const shown = lines.map(({ event, value, values }) => ({
    event,
    value,
    points: buckets.map((bucket, i) => ({
      ...shownBucket(bucket, range, asOfMs),
      value: values[i]!,
    })),
  }));
  return top === null && lines.length === 1 ? shown[0]!.points : shown;
}

async function answer(read: Read, parameters: TrendParameters): Promise<Answer> {
  const { events, measure: { kind, key }, by } = parameters;
  const measure = key === null ? kind : `${kind}:properties.${key}`;
  const lines = await readLines(read, parameters, null);
  const comparison = await comparisonOf(read, async (compared) => {
    const { previous, change } = await compareLines(read, compared, parameters, lines);
    return { previous: { series: shownSeries(compared, previous) }, change };
  });
  return {
    query: { event: events, measure, by },
    result: { series: shownSeries(read, lines), ...comparison },
  };
}

const TrendPoint = z.object({
  ...BUCKET_SHOWN,
  value: z.number().nullable(),
}).meta({ id: "TrendPoint" });

export type TrendPoint = z.output<typeof TrendPoint>;

const TrendLine = z.object({
  event: z.string().nullable().describe("Its label, else its name; null: any event"),
  value: z.string().nullable().describe(
    `The value of \`by\`; ${OTHER} for all but the ${TREND_VALUES_MAX} most frequent, and those of too few visitors for a share; null where it is missing`,
  ),
  points: z.array(TrendPoint),
}).meta({ id: "TrendLine" });

export type TrendLine = z.output<typeof TrendLine>;

const Series = z.union([z.array(TrendPoint), z.array(TrendLine)]);

const TrendChange = z.object({
  event: z.string().nullable(),
  value: z.string().nullable(),
  current: z.number().nullable().describe("The measure over the whole range"),
  previous: z.number().nullable(),
  change: ChangeShown,
}).meta({ id: "TrendChange", description: "How the line of an event and a value changed" });

export const TRENDS_REPLY = {
  series: Series.describe("Buckets; with `by` or several events lines of buckets"),
  previous: z.object({ ...COMPARED_SHOWN, series: Series }).optional().describe(
    "Only with `compare`: the same values' lines of the range or segment compared with",
  ),
  change: z.array(TrendChange).optional(),
};

/** `GET /v1/trends`: how often chosen events happen, or a measure of their properties, over time. */
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
  compares: "asked",
  semantics:
    "total = selected events, those of technical names ($…) where a question names them; visitors = their distinct actors; perVisitor = total / visitors; sum, avg, min, max, p50 and p90 are over the values of the property that are JSON numbers, percentiles interpolated linearly. " +
    `Of nothing, counts and sums are 0 and all else is null. Each bucket is computed by itself. by is the value at each event (that of its session for session fields); the ${TREND_VALUES_MAX} values with most events over all listed events have lines, the rest is ${OTHER}, computed as one group. With compare the lines are of the same values; change = (current - previous) / previous of the measure over each whole range.`,
  reply: TRENDS_REPLY,
  ask: (query) => {
    const parameters: TrendParameters = readAll({
      events: () => readEvents(query),
      measure: () => readMeasure(query),
      by: () => readField(query, "by"),
    });
    const { events, by, measure } = parameters;
    return {
      refuse: (shared) => refuseManyPoints(parameters, shared),
      answer: (read) => answer(read, parameters),
      terms: { matches: { event: events }, fields: [by], property: measure.key },
    };
  },
};
