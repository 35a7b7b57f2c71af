import { SESSION_GAP_MS } from "../limits.ts";
import type { SessionFieldId } from "../query/filter_conditions.ts";
import { PAGE_VIEW } from "../reserved_terms.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { Timeline } from "../timelines/timeline.ts";
import { NO_ID } from "./value_ids.ts";

/** Goes from an event to those before it (-1) or after it (1). */
type Direction = -1 | 1;

/**
 * Looks up an id of the session of one event, by going to the session's ends from there. Of a million events,
 * this takes 2 ms for one of each actor, and 24 for all (`SESSION_ID_WRITER`).
 */
export class SessionOfEvent {
  readonly #of: SessionFieldId;
  /** The furthest event of the session so far, and the furthest page view; null: there is none. */
  #segment: LoadedSegment | null = null;
  #at = 0;
  #viewSegment: LoadedSegment | null = null;
  #viewAt = 0;

  constructor(of: SessionFieldId) {
    this.#of = of;
  }

  /** Returns the id of the session of event `at` of a slice; its timeline must hold the whole session. */
  idOf(timeline: Timeline, slice: number, at: number): number {
    const segment = timeline.segments[timeline.segmentOf[slice]!]!;
    if (segment.traffics[at] === 0) return NO_ID;
    const direction = this.#of === "exitPath" ? 1 : -1;
    this.#viewSegment = null;
    this.#take(segment, at);
    this.#go(timeline, slice, at, direction, false);
    if (this.#viewSegment === null) {
      const [edge, edgeAt] = [this.#segment!, this.#at];
      this.#go(timeline, slice, at, direction === 1 ? -1 : 1, true);
      if (this.#viewSegment === null) return this.#idAt(edge, edgeAt);
    }
    return this.#idAt(this.#viewSegment!, this.#viewAt);
  }

  #idAt({ traffics, paths }: LoadedSegment, at: number): number {
    return this.#of === "traffic" ? traffics[at]! : paths[at]!;
  }

  #take(segment: LoadedSegment, at: number): void {
    this.#segment = segment;
    this.#at = at;
    if (segment.names[at] !== PAGE_VIEW) return;
    this.#viewSegment = segment;
    this.#viewAt = at;
  }

  /** Takes the session's further events in a direction, to its end or to the first page view. */
  #go(
    { first, end, segments, segmentOf, starts, ends }: Timeline,
    slice: number,
    at: number,
    direction: Direction,
    endsAtView: boolean,
  ): void {
    let segment = segments[segmentOf[slice]!]!;
    let ms = segment.fromMs + segment.times[at]!;
    at += direction;
    for (;;) {
      if (at < starts[slice]! || at >= ends[slice]!) {
        slice += direction;
        if (slice < first || slice >= end) return;
        segment = segments[segmentOf[slice]!]!;
        at = direction === 1 ? starts[slice]! : ends[slice]! - 1;
      }
      // Events in no session may lie among the session's.
      if (segment.traffics[at] !== 0) {
        const nextMs = segment.fromMs + segment.times[at]!;
        if (Math.abs(nextMs - ms) > SESSION_GAP_MS) return;
        ms = nextMs;
        this.#take(segment, at);
        if (endsAtView && this.#viewSegment !== null) return;
      }
      at += direction;
    }
  }
}
