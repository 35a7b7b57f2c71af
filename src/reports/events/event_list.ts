import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { BLOCKS_AT_ONCE, LISTED_ROWS_AT_ONCE } from "../../limits.ts";
import { arrayLiteral } from "../../db/sql.ts";
import type { Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { type PendingRow, waitingEvents } from "../../store/journal_block.ts";
import { rowsAt } from "../../store/segments.ts";
import { type EventTest, eventTest } from "../../scans/event_tests.ts";
import { select } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import { selectHistories, walkSelectedRuns } from "../../scans/selected_histories.ts";
import { isOfBots } from "../shown_event.ts";

type Source = Pick<Read, "sql" | "scope" | "histories">;

/** A place in the list of events, newest first, ties by id: behind it lies what is older. */
export interface ListPlace {
  readonly ms: number;
  /** Null: behind it lies nothing of that millisecond. */
  readonly id: string | null;
}

// The newest events are mostly all that is asked for: they are looked for in a small part of the span
// first, then in the next one, so many times as long. Not in smaller ones than of a day: where filters
// are on sessions, those that cross the edges of each part are looked up.
const FIRST_PART = 1 / 64;
const PART_MS_MIN = 86_400_000;
const PART_GROWTH = 8;
/** Events between two looks at which of them are still wanted, at least. */
const CROWD_MIN = 100;

/** The newest events of those that are met: as many as are wanted, and all of the last one's millisecond. */
class NewestEvents {
  readonly #rows: number;
  readonly #edgeMs: number;
  /** What is older is not wanted. */
  floorMs = -Infinity;
  ms: number[] = [];
  segmentIds: number[] = [];
  places: number[] = [];
  #ofEdge = 0;
  #crowd: number;

  /** `edgeMs`: events of this millisecond, the last that may be met, are wanted beside the `rows`. */
  constructor(rows: number, edgeMs: number) {
    this.#rows = rows;
    this.#edgeMs = edgeMs;
    this.#crowd = 2 * rows + CROWD_MIN;
  }

  /** Takes the events of a stretch that pass, from before `toTime` of the segment. */
  follow(
    segment: LoadedSegment,
    start: number,
    end: number,
    actor: number,
    test: EventTest,
    toTime: number,
  ): void {
    const { fromMs, times, names, paths, contexts, marks } = segment;
    if (times[start]! >= toTime) return;
    let floor = this.floorMs - fromMs;
    for (let at = end - 1; at >= start; at--) {
      const time = times[at]!;
      if (time < floor) return;
      if (time >= toTime) continue;
      if (!test.passes(names[at]!, paths[at]!, contexts[at]!, actor, marks[at]!)) continue;
      this.#add(fromMs + time, segment.segmentId, segment.storedPlace(at));
      floor = this.floorMs - fromMs;
    }
  }

  #add(ms: number, segmentId: number, place: number): void {
    this.ms.push(ms);
    this.segmentIds.push(segmentId);
    this.places.push(place);
    if (ms === this.#edgeMs) this.#ofEdge++;
    if (this.ms.length >= this.#crowd) this.thin();
  }

  /** Lets go of what is not among the newest. */
  thin(): void {
    const { ms, segmentIds, places } = this;
    const first = ms.length - this.#rows - this.#ofEdge;
    if (first <= 0) return;
    const ordered = Float64Array.from(ms);
    select(ordered, 0, ordered.length, first);
    this.floorMs = ordered[first]!;
    let kept = 0;
    for (let i = 0; i < ms.length; i++) {
      if (ms[i]! < this.floorMs) continue;
      ms[kept] = ms[i]!;
      segmentIds[kept] = segmentIds[i]!;
      places[kept++] = places[i]!;
    }
    ms.length = kept;
    segmentIds.length = kept;
    places.length = kept;
    this.#crowd = 2 * kept + CROWD_MIN;
  }
}

/** Meets all selected events of a span. */
async function newestOf(
  source: Source,
  span: Span,
  rows: number,
  edgeMs: number,
): Promise<NewestEvents> {
  const { sql, scope } = source;
  const selected = await selectHistories(source, span);
  const newest = new NewestEvents(rows, edgeMs);
  newest.floorMs = span.fromMs;
  const { eventFilters, histories } = selected;
  const test = await eventTest(sql, scope, scope.bots, eventFilters, histories.bits);
  const { actors } = test;
  await walkSelectedRuns(sql, selected, (actor, segment, start, end) => {
    if (actors !== null && actors[actor] !== 1) return;
    newest.follow(segment, start, end, actor, test, span.toMs - segment.fromMs);
  });
  newest.thin();
  return newest;
}

/** Newest first, ties by id, the greatest first. */
function byPlace(a: EventRow, b: EventRow): number {
  if (a.occurred_at !== b.occurred_at) return a.occurred_at < b.occurred_at ? 1 : -1;
  return a.event_id < b.event_id ? 1 : -1;
}

/** The first of those events that lie behind a place, in their order. */
async function inOrder(
  { sql, scope }: Source,
  { ms, segmentIds, places }: NewestEvents,
  place: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  let listed: EventRow[] = [];
  for (let from = 0; from < ms.length; from += LISTED_ROWS_AT_ONCE) {
    const to = Math.min(ms.length, from + LISTED_ROWS_AT_ONCE);
    const asked = [];
    for (let i = from; i < to; i++) asked.push({ segmentId: segmentIds[i]!, place: places[i]! });
    const found = await rowsAt(sql, scope.projectId, asked);
    const behind = found.filter(({ event_id }, i) =>
      ms[from + i]! < place.ms || event_id < place.id!
    );
    listed = [...listed, ...behind].sort(byPlace).slice(0, rows);
  }
  return listed;
}

// Those that can hold something of a span, from the one that goes on the longest. Blocks are left
// alone here: there are thousands of them while a history is imported.
const WAITING = `
SELECT journal_id, to_ms FROM journal
WHERE project_id = $1::int AND from_ms < $2::int8 AND to_ms >= $3::int8
  AND (projected_at IS NULL OR set_aside_until IS NOT NULL)
ORDER BY to_ms DESC, journal_id`;

const BLOCKS = `
SELECT project_id, journal_id, to_ms, block, known_ids::text[] AS known_ids, projected_count,
  set_aside_ids::text[] AS set_aside_ids
FROM journal WHERE project_id = $1::int AND journal_id = ANY ($2::text::int8[])
ORDER BY to_ms DESC, journal_id`;

interface WaitingBlock extends Record<string, unknown> {
  readonly journal_id: number;
  readonly to_ms: number;
}

/**
 * The first of the events that are not projected yet, behind a place: those that no filter is asked
 * of. Blocks are decoded one by one, the latest first, until none can hold an event of the page: one
 * where they lie in the order of time, all of the span where each goes on to its end.
 */
async function waitingRows(
  { sql, scope }: Source,
  span: Span,
  place: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const isMeant = (row: EventRow): boolean => {
    const ms = Date.parse(row.occurred_at);
    const isBehind = ms < place.ms || ms === place.ms && place.id !== null &&
        row.event_id < place.id;
    return isBehind && ms >= span.fromMs && ms < span.toMs && isOfBots(scope.bots, row);
  };
  const toMs = Math.min(span.toMs, place.id === null ? place.ms : place.ms + 1);
  const waiting = await sql.query<WaitingBlock>(WAITING, [scope.projectId, toMs, span.fromMs]);
  let listed: EventRow[] = [];
  let lastMs = -Infinity;
  for (let from = 0; from < waiting.length; from += BLOCKS_AT_ONCE) {
    if (waiting[from]!.to_ms < lastMs) return listed;
    const ids = waiting.slice(from, from + BLOCKS_AT_ONCE).map(({ journal_id }) => journal_id);
    const found = await sql.query<WaitingBlock & PendingRow>(BLOCKS, [
      scope.projectId,
      arrayLiteral(ids),
    ]);
    for (const block of found) {
      // One that ends in the last one's millisecond may hold a greater id.
      if (block.to_ms < lastMs) return listed;
      listed = [...listed, ...waitingEvents(block).filter(isMeant)].sort(byPlace).slice(0, rows);
      if (listed.length === rows) lastMs = Date.parse(listed.at(-1)!.occurred_at);
    }
  }
  return listed;
}

/** The next `rows` selected events of segments behind a place, fewer where no more follow. */
async function projectedRows(
  source: Source,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const listed: EventRow[] = [];
  let place = from;
  let partMs = Math.max(PART_MS_MIN, Math.ceil((from.ms - span.fromMs) * FIRST_PART));
  for (;;) {
    const toMs = place.id === null ? place.ms : place.ms + 1;
    if (toMs <= span.fromMs) return listed;
    const part = { fromMs: Math.max(span.fromMs, toMs - partMs), toMs };
    const wanted = rows - listed.length;
    const edgeMs = place.id === null ? NaN : place.ms;
    const newest = await newestOf(source, part, wanted, edgeMs);
    listed.push(...await inOrder(source, newest, place, wanted));
    if (listed.length === rows) return listed;
    place = { ms: part.fromMs, id: null };
    partMs *= PART_GROWTH;
  }
}

/**
 * The next `rows` selected events of a span behind a place, newest first, fewer where no more follow.
 * Filters are asked of what is projected; without any, what is not projected yet is listed too.
 */
export async function listEvents(
  source: Source,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const projected = await projectedRows(source, span, from, rows);
  if (source.scope.filters.length > 0) return projected;
  // What is older than a full page of those is not looked for.
  const last = projected.length === rows ? Date.parse(projected.at(-1)!.occurred_at) : span.fromMs;
  const recent = { fromMs: Math.max(span.fromMs, last), toMs: span.toMs };
  const waiting = await waitingRows(source, recent, from, rows);
  return [...projected, ...waiting].sort(byPlace).slice(0, rows);
}
