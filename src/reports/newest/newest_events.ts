import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { runVisitor, type VisitorKind } from "../../scans/visitor.ts";
import { NewestMoments } from "./newest_moments.ts";

export interface NewestInputs {
  readonly test: EventPasses;
  readonly span: Span;
  readonly rows: number;
  /** The cursor's millisecond, the last of the span: all its events are wanted beside the `rows`; NaN: none. */
  readonly edgeMs: number;
}

/**
 * Events: their times, and the segments and places that they are stored at; with the bounds that they were asked
 * for with.
 */
export interface FoundEvents extends Pick<NewestInputs, "rows" | "edgeMs"> {
  readonly ms: readonly number[];
  readonly segmentIds: readonly number[];
  readonly places: readonly number[];
}

/** Keeps the newest of the events that are added. */
export class NewestEvents extends NewestMoments {
  readonly segmentIds = this.columns[0]!;
  readonly places = this.columns[1]!;

  constructor(rows: number, edgeMs: number, floorMs?: number) {
    super(2, rows, edgeMs, floorMs);
  }

  /** Returns the newest events so far. */
  found(): FoundEvents {
    this.thin();
    const { ms, segmentIds, places, rows, edgeMs } = this;
    return { ms, segmentIds, places, rows, edgeMs };
  }

  addAll({ ms, segmentIds, places }: FoundEvents): void {
    for (const [i, at] of ms.entries()) {
      if (at >= this.floorMs) this.add(at, segmentIds[i]!, places[i]!);
    }
  }

  /** Adds the events of a slice that pass and are before `toTime`, a time of the segment. */
  follow(
    segment: LoadedSegment,
    start: number,
    end: number,
    actor: number,
    test: EventTest,
    toTime: number,
  ): void {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    if (times[start]! >= toTime) return;
    let floor = this.floorMs - fromMs;
    for (let at = end - 1; at >= start; at--) {
      const time = times[at]!;
      if (time < floor) return;
      if (time >= toTime) continue;
      if (!test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
      this.add(fromMs + time, segment.segmentId, segment.storedPlace(at));
      floor = this.floorMs - fromMs;
    }
  }

  /** Adds an event that is not older than `floorMs`. */
  add(ms: number, segmentId: number, place: number): void {
    this.segmentIds.push(segmentId);
    this.places.push(place);
    this.addMoment(ms);
  }
}

/** Merges the events that two tasks found, and keeps the newest. */
export function mergedEvents(found: FoundEvents, more: FoundEvents): FoundEvents {
  const newest = new NewestEvents(found.rows, found.edgeMs);
  newest.addAll(found);
  newest.addAll(more);
  return newest.found();
}

/** Finds the newest selected events of a span; there may be more of them than wanted. */
export const NEWEST: VisitorKind<NewestInputs, FoundEvents> = {
  name: "newest",
  create: (inputs, words) => {
    const { rows, edgeMs, span } = inputs;
    const newest = new NewestEvents(rows, edgeMs, span.fromMs);
    const test = new EventTest(inputs.test, words);
    const visitor = runVisitor((actor, segment, start, end) => {
      if (test.actors !== null && test.actors[actor] !== 1) return;
      newest.follow(segment, start, end, actor, test, span.toMs - segment.fromMs);
    }, () => newest.found());
    // Soon most people's last event is older than the newest events so far: these people are skipped.
    return { ...visitor, wants: (lastMs) => lastMs >= newest.floorMs };
  },
  merge: mergedEvents,
};
