import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type EventPasses, EventTest } from "../scans/event_test.ts";
import { followRuns, type Visitor, type VisitorKind } from "../scans/visitor.ts";
import { NewestMoments } from "./newest_moments.ts";

interface Inputs {
  readonly test: EventPasses;
  readonly span: Span;
  /** How many are wanted. */
  readonly rows: number;
  /** Events of this millisecond, the last of the span, are wanted beside the `rows`; NaN: of none. */
  readonly edgeMs: number;
}

/** Events by when they were, and where they are stored. */
interface PlacedEvents {
  readonly ms: readonly number[];
  readonly segmentIds: readonly number[];
  readonly places: readonly number[];
}

/** The same as they were looked for. */
export interface FoundEvents extends PlacedEvents, Pick<Inputs, "rows" | "edgeMs"> {}

/** The newest events of those that are met. */
export class NewestEvents extends NewestMoments {
  readonly segmentIds: number[];
  readonly places: number[];

  constructor(rows: number, edgeMs: number, floorMs = -Infinity) {
    const [segmentIds, places]: [number[], number[]] = [[], []];
    super(rows, edgeMs, floorMs, [segmentIds, places]);
    this.segmentIds = segmentIds;
    this.places = places;
  }

  /** What is wanted of all that was met. */
  found(): FoundEvents {
    this.thin();
    const { ms, segmentIds, places, rows, edgeMs } = this;
    return { ms, segmentIds, places, rows, edgeMs };
  }

  add({ ms, segmentIds, places }: PlacedEvents): void {
    for (const [i, at] of ms.entries()) {
      if (at >= this.floorMs) this.meet(at, segmentIds[i]!, places[i]!);
    }
  }

  /** Takes the events of a slice that pass, from before `toTime` of the segment. */
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
      this.meet(fromMs + time, segment.segmentId, segment.storedPlace(at));
      floor = this.floorMs - fromMs;
    }
  }

  /** Takes an event that is not older than `floorMs`. */
  meet(ms: number, segmentId: number, place: number): void {
    this.segmentIds.push(segmentId);
    this.places.push(place);
    this.met(ms);
  }
}

/** What many tasks have found is no more than what one may find. */
export function mergedEvents(found: FoundEvents, more: FoundEvents): FoundEvents {
  const newest = new NewestEvents(found.rows, found.edgeMs);
  newest.add(found);
  newest.add(more);
  return newest.found();
}

class NewestVisitor implements Visitor<FoundEvents> {
  readonly #newest: NewestEvents;
  readonly #test: EventTest;
  readonly #toMs: number;

  constructor({ rows, edgeMs, span, test }: Inputs, words: readonly Int32Array[]) {
    this.#newest = new NewestEvents(rows, edgeMs, span.fromMs);
    this.#toMs = span.toMs;
    this.#test = new EventTest(test, words);
  }

  visit(actor: number, timeline: Timeline): void {
    const { actors } = this.#test;
    if (actors === null || actors[actor] === 1) followRuns(actor, timeline, this.#follow);
  }

  result(): FoundEvents {
    return this.#newest.found();
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    this.#newest.follow(segment, start, end, actor, this.#test, this.#toMs - segment.fromMs);
  };
}

/** The newest selected events of a span, and maybe more. */
export const NEWEST: VisitorKind<Inputs, FoundEvents> = {
  name: "newest",
  create: (inputs, words) => new NewestVisitor(inputs, words),
  merge: mergedEvents,
};
