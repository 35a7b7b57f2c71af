import { lookUpIds } from "../histories/event_ids.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { compareIds, ID_BYTES } from "../histories/segment.ts";
import { LISTED_TIES_MAX } from "../limits.ts";
import type { Span } from "../selection/selection.ts";
import { type EventTest, eventTest } from "../walks/event_tests.ts";
import { select } from "../walks/medians.ts";
import type { Read } from "../walks/read.ts";
import {
  isScopeKnownToHistories,
  selectHistories,
  walkSelectedRuns,
} from "../walks/selected_histories.ts";

type Source = Pick<Read, "sql" | "scope" | "histories">;

/** A place in the list of events, newest first, ties by id: behind it lies what is older. */
export interface ListPlace {
  readonly ms: number;
  /** 16 bytes. Null: behind it lies nothing of that millisecond. */
  readonly id: Uint8Array | null;
}

/** Some selected events that lie side by side in the list. */
export interface ListedEvents {
  readonly ids: readonly string[];
  /** Behind the last one; null where no more follow. */
  readonly end: ListPlace | null;
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
  /** Whether too many are of the same millisecond: then it is not all of them that are here. */
  isOverrun = false;
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
      this.#add(fromMs + time, segment.segmentId, at);
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
    if (kept <= this.#rows + LISTED_TIES_MAX) return;
    this.isOverrun = true;
    this.floorMs = Infinity;
  }
}

/** Meets all selected events of a span; null where histories are not at hand, or too many are tied. */
async function newestOf(
  source: Source,
  span: Span,
  rows: number,
  edgeMs: number,
): Promise<NewestEvents | null> {
  const selected = await selectHistories(source, span);
  if (selected === null) return null;
  const newest = new NewestEvents(rows, edgeMs);
  newest.floorMs = span.fromMs;
  const { sql, scope } = source;
  const { eventFilters, histories } = selected;
  const test = await eventTest(sql, scope, scope.bots, eventFilters, histories.bits);
  const { actors } = test;
  const follow = (actor: number, segment: LoadedSegment, start: number, end: number) => {
    if (actors !== null && actors[actor] !== 1) return;
    newest.follow(segment, start, end, actor, test, span.toMs - segment.fromMs);
  };
  await walkSelectedRuns(sql, selected, follow);
  newest.thin();
  return newest.isOverrun ? null : newest;
}

/** The first of those events that lie behind a place, in their order, and where the last one is. */
async function inOrder(
  { sql, scope }: Source,
  { ms, segmentIds, places }: NewestEvents,
  place: ListPlace,
  rows: number,
): Promise<{ ids: string[]; last: ListPlace | null }> {
  const ids = await lookUpIds(sql, scope.projectId, segmentIds, places);
  const isBehind = (i: number) =>
    ms[i]! < place.ms || compareIds(ids, i * ID_BYTES, place.id!, 0) < 0;
  const listed = ms.map((_, i) => i).filter(isBehind)
    .sort((a, b) => ms[b]! - ms[a]! || compareIds(ids, b * ID_BYTES, ids, a * ID_BYTES))
    .slice(0, rows);
  const idOf = (i: number) => ids.subarray(i * ID_BYTES, (i + 1) * ID_BYTES);
  const last = listed.at(-1);
  return {
    ids: listed.map((i) => idOf(i).toHex()),
    last: last === undefined ? null : { ms: ms[last]!, id: idOf(last) },
  };
}

/**
 * The next `rows` selected events of a span behind a place, fewer where no more follow. Found in
 * histories; null where these are not at hand, or do not hold what the filters ask for, or where too
 * many events are of one millisecond. Ids are 32 hexadecimal digits.
 */
export async function listInHistories(
  source: Source,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<ListedEvents | null> {
  const { scope } = source;
  if (!isScopeKnownToHistories(scope.filters)) return null;
  const ids: string[] = [];
  let place = from;
  let partMs = Math.max(PART_MS_MIN, Math.ceil((from.ms - span.fromMs) * FIRST_PART));
  for (;;) {
    const toMs = place.id === null ? place.ms : place.ms + 1;
    if (toMs <= span.fromMs) return { ids, end: null };
    const part = { fromMs: Math.max(span.fromMs, toMs - partMs), toMs };
    const wanted = rows - ids.length;
    const edgeMs = place.id === null ? NaN : place.ms;
    const newest = await newestOf(source, part, wanted, edgeMs);
    if (newest === null) return null;
    const found = await inOrder(source, newest, place, wanted);
    ids.push(...found.ids);
    if (ids.length === rows) return { ids, end: found.last };
    place = { ms: part.fromMs, id: null };
    partMs *= PART_GROWTH;
  }
}
