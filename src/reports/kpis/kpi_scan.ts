import { SESSION_GAP_MS } from "../../limits.ts";
import { isSessionField, onEvents } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import { Samples } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import { sessionsEndByMs, sessionsStartMs } from "../../scans/session_end.ts";
import { sessionPasses } from "../../scans/session_tests.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import { countNew, withNewcomers } from "../visitors/new_actors.ts";
import type { SessionsAndMedian } from "./rolled_sessions.ts";
import type { Visits } from "../rollups/rolled_up.ts";
import type { Behind } from "../behind/behind_tally.ts";
import { KPI_COUNTS, type KpiCounts, type ToldKpi, WHOLE } from "./kpi_visitor.ts";

type Source = Pick<Read, "sql" | "scope" | "timelines">;

/** What one bucket comes to, counted from 1; the whole has the bucket null. */
interface BucketCounts extends Visits, SessionsAndMedian {
  readonly bucket: number | null;
}

/** What has to be looked at for all that is counted in the span. */
async function reachOf(source: Source, span: Span): Promise<Span> {
  const { projectId, filters } = source.scope;
  // Under a filter on sessions, each that has an event in the span is looked at whole. Else, of one
  // that crosses the beginning of the span, only that it does matters: it is not counted.
  const fromMs = filters.some(({ field }) => isSessionField(field))
    ? await sessionsStartMs(source, projectId, span.fromMs)
    : span.fromMs;
  const toMs = await sessionsEndByMs(source, projectId, span.toMs);
  return { fromMs: Math.min(fromMs, span.fromMs - SESSION_GAP_MS), toMs };
}

/** What was counted, the whole first. */
function counted(
  { newcomers, durations, ...counts }: KpiCounts,
  isNew: (actor: number) => boolean,
): BucketCounts[] {
  const outside = counts.visitors.length - 1;
  const places = Array.from({ length: outside }, (_, place) => place);
  const samples = new Samples(outside, durations);
  const medians = samples.mediansOf(places.slice(1));
  const { events, pageviews, sessions, bounces, durationsMs } = counts;
  for (const sums of [events, pageviews, sessions, bounces, durationsMs]) {
    for (const place of places) if (place !== WHOLE) sums[WHOLE]! += sums[place]!;
  }
  const newVisitors = countNew(newcomers, isNew, outside + 1);
  return places.map((place) => ({
    bucket: place === WHOLE ? null : place,
    visitors: counts.visitors[place]!,
    newVisitors: newVisitors[place]!,
    pageviews: pageviews[place]!,
    events: events[place]!,
    sessions: sessions[place]!,
    bounces: bounces[place]!,
    durationMs: durationsMs[place]!,
    medianMs: place === WHOLE ? samples.medianOfAll() : medians.get(place) ?? null,
  }));
}

/** Counts in one scan. The buckets must follow each other without gaps. */
async function scanCounts(source: Source, buckets: readonly Span[], told: ToldKpi | null) {
  const { sql, scope } = source;
  const span: Span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const reach = await reachOf(source, span);
  const ofEvents = onEvents(scope.filters);
  const timelines = await source.timelines(reach, ofEvents);
  const counting = withoutTechnical(ofEvents);
  const inputs = {
    ...{ buckets, reach, told },
    events: await eventPassesOf(sql, scope, scope.bots, counting, timelines.bits),
    sessions: await sessionPasses(sql, scope, scope.filters),
    newcomers: { span, technical: await readTechnicalNames(sql, scope.projectId) },
  };
  return await withNewcomers(
    sql,
    timelines,
    { span, reach },
    timelines.scan(KPI_COUNTS, () => inputs),
  );
}

/**
 * What the key figures are made of, of each bucket and of all together, counted in one scan. The
 * buckets must follow each other without gaps.
 */
export async function scanKpis(source: Source, buckets: readonly Span[]): Promise<BucketCounts[]> {
  const { counts, isNew } = await scanCounts(source, buckets, null);
  return counted(counts, isNew);
}

/** Whom a figure counts in a span; of new visitors all who may be new, of whom `isNew` tells who is. */
export async function scanTold(
  source: Source,
  span: Span,
  told: ToldKpi,
): Promise<{ readonly behind: Behind; readonly isNew: (actor: number) => boolean }> {
  const { counts: { behind }, isNew } = await scanCounts(source, [span], told);
  return { behind, isNew };
}
