import type { Sql } from "../../db/sql.ts";
import type { Scope, Span } from "../../query/selection.ts";
import { type DatedSegment, datedSegments } from "../../timelines/timelines.ts";

/** About how many events are searched first: a page of 100 rows is among these if one event in 160 is selected. */
const FIRST_EVENTS_MIN = 16_000;
/** The same for each of the many rows of an export's window. */
const FIRST_EVENTS_OF_ROW = 4;
const PART_GROWTH = 8;

/** Returns how many events of a segment are in a span, if they are spread evenly. */
function eventsIn({ from_ms, to_ms, events }: DatedSegment, { fromMs, toMs }: Span): number {
  const sharedMs = Math.min(to_ms + 1, toMs) - Math.max(from_ms, fromMs);
  return events * Math.max(0, sharedMs) / (to_ms + 1 - from_ms);
}

/** The share of a part's time that may be left to the part before it, so that segments of that one are searched once. */
const SHARE_LEFT_MAX = 1 / 4;

/**
 * Cuts a span into parts, the last one first, each with `PART_GROWTH` times as many events as the one after it. They
 * are cut where a segment begins, because segments are searched as a whole; or where those before it end, if these
 * overlap it a little, as the events of some devices arrive late.
 * @param segments those with an event in the span
 */
export function* cutBackwards(
  span: Span,
  segments: readonly DatedSegment[],
  firstEvents: number,
): Generator<Span> {
  const ascending = segments.toSorted((a, b) => a.from_ms - b.from_ms);
  /** By segment, when those before it end. */
  const endsMs = [-Infinity];
  for (const { to_ms } of ascending) endsMs.push(Math.max(endsMs.at(-1)!, to_ms + 1));
  let { toMs } = span;
  let events = 0;
  let wanted = firstEvents;
  for (let i = ascending.length - 1; i >= 0; i--) {
    const { from_ms: fromMs } = ascending[i]!;
    events += eventsIn(ascending[i]!, span);
    const partMs = Math.min(toMs, endsMs.at(-1)!) - fromMs;
    const isLittle = endsMs[i]! - fromMs <= SHARE_LEFT_MAX * partMs;
    const cutMs = isLittle ? Math.max(fromMs, endsMs[i]!) : fromMs;
    if (cutMs <= span.fromMs) break;
    if (events < wanted || cutMs >= toMs) continue;
    yield { fromMs: cutMs, toMs };
    toMs = cutMs;
    events = 0;
    wanted *= PART_GROWTH;
  }
  if (span.fromMs < toMs) yield { fromMs: span.fromMs, toMs };
}

/** What is searched backwards. */
export interface PartedSource {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId">;
  /** About how many events are searched first; absent: as many as usually have the wanted rows. */
  readonly firstEvents?: number;
}

/**
 * Yields the parts of a span, the last one first. Usually only the newest rows are wanted, so a small part is searched
 * first, then a larger one before it, and so on.
 * @param rows how many rows are wanted
 */
export async function* partsBackwards(
  { sql, scope: { projectId }, firstEvents }: PartedSource,
  span: Span,
  rows: number,
): AsyncGenerator<Span> {
  const segments = await datedSegments(sql, projectId, span);
  const wanted = firstEvents ?? Math.max(FIRST_EVENTS_MIN, FIRST_EVENTS_OF_ROW * rows);
  yield* cutBackwards(span, segments, wanted);
}
