import { SESSION_GAP_MS } from "../../limits.ts";
import { isSessionField, onEvents } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import { FilterBits } from "../../scans/filter_bits.ts";
import { Samples } from "../../scans/medians.ts";
import type { ScanSource } from "../../scans/read.ts";
import { endOfSessions, withWholeSessions } from "../../scans/session_end.ts";
import { sessionPasses } from "../../scans/session_tests.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import { countNew, withNewcomers } from "../visitors/new_actors.ts";
import type { SessionsAndMedian } from "./rolled_sessions.ts";
import type { Visits } from "../rollups/rolled_up.ts";
import { KPI_COUNTS, type ListedKpi, WHOLE } from "./kpi_visitor.ts";

/** What is counted of own events, in a bucket or in all together. */
export type OwnCounts = Visits & SessionsAndMedian;

/** The span from which events are loaded to count those in `span`. */
async function reachOf(source: ScanSource, span: Span, isOfSessions: boolean): Promise<Span> {
  const { projectId } = source.scope;
  // A filter on sessions needs every session with an event in the span as a whole. Without one, the pause
  // before the span suffices to find the sessions that began before it, which are not counted.
  const { fromMs, toMs } = isOfSessions
    ? await withWholeSessions(source, projectId, span)
    : { fromMs: span.fromMs, toMs: await endOfSessions(source, projectId, span.toMs) };
  return { fromMs: Math.min(fromMs, span.fromMs - SESSION_GAP_MS), toMs };
}

/** Which events and sessions a scan selects. */
export type KpiTests = Awaited<ReturnType<typeof lookUpTests>>;

/** Looks up what the filters of a read select: the same for all of its ranges. */
export async function lookUpTests({ sql, scope }: Pick<ScanSource, "sql" | "scope">) {
  const ofEvents = onEvents(scope.filters);
  const counting = withoutTechnical(ofEvents);
  const bits = new FilterBits(ofEvents);
  const [events, sessions, technical] = await Promise.all([
    eventPassesOf(sql, scope, scope.bots, counting, bits),
    sessionPasses(sql, scope, scope.filters),
    readTechnicalNames(sql, scope.projectId),
  ]);
  return { events, sessions, technical };
}

/**
 * Counts in one scan what the key figures are computed from, for each bucket, then for all together. The buckets
 * must follow each other without gaps.
 */
export async function scanKpis(
  source: ScanSource,
  buckets: readonly Span[],
  tests?: Promise<KpiTests>,
): Promise<OwnCounts[]> {
  const { counts, isNew } = await scanCounts(source, buckets, null, tests);
  const { newcomers, durations, sums: { visitors, ...sums } } = counts;
  const outside = visitors.length - 1;
  const places = buckets.map((_, i) => i + 1);
  const medians = new Samples(outside, durations).mediansWithAll(places);
  for (const column of Object.values(sums)) {
    for (const place of places) column[WHOLE]! += column[place]!;
  }
  const newVisitors = countNew(newcomers, isNew, outside + 1);
  return [...places, WHOLE].map((place) => ({
    visitors: visitors[place]!,
    newVisitors: newVisitors[place]!,
    pageviews: sums.pageviews[place]!,
    events: sums.events[place]!,
    sessions: sums.sessions[place]!,
    bounces: sums.bounces[place]!,
    durationMs: sums.durationsMs[place]!,
    medianMs: place === WHOLE ? medians.all : medians.of.get(place) ?? null,
  }));
}

/**
 * Counts in one scan, and lists the people that a figure counts; for new visitors, all who may be new, of whom
 * `isNew` tells the new ones.
 */
export async function scanCounts(
  source: ScanSource,
  buckets: readonly Span[],
  listed: ListedKpi | null,
  tests: Promise<KpiTests> = lookUpTests(source),
) {
  const { sql, scope } = source;
  // Its statements are sent before those of the timelines. If these fail, nothing awaits it.
  tests.catch(() => {});
  const span: Span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const isOfSessions = scope.filters.some(({ field }) => isSessionField(field));
  const reach = await reachOf(source, span, isOfSessions);
  const timelines = await source.timelines(reach, onEvents(scope.filters));
  const { events, sessions, technical } = await tests;
  const inputs = { buckets, reach, listed, events, newcomers: { span, technical } };
  const scan = timelines.scan(KPI_COUNTS, () => inputs, {
    sessions: isOfSessions ? { test: sessions, reach } : null,
    asked: { events, sessions },
  });
  return await withNewcomers(sql, timelines, { span, reach }, scan);
}
