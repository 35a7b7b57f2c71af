import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { NewestMoments } from "./newest_moments.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

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
  readonly segmentIds: number[] = [];
  readonly places: number[] = [];

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

  protected override keepFrom(floorMs: number): void {
    const { ms, segmentIds, places } = this;
    let kept = 0;
    for (let i = 0; i < ms.length; i++) {
      if (ms[i]! < floorMs) continue;
      ms[kept] = ms[i]!;
      segmentIds[kept] = segmentIds[i]!;
      places[kept++] = places[i]!;
    }
    ms.length = segmentIds.length = places.length = kept;
  }
}

/** What many tasks have found is no more than what one may find. */
export function mergedEvents(found: FoundEvents, more: FoundEvents): FoundEvents {
  const newest = new NewestEvents(found.rows, found.edgeMs);
  newest.add(found);
  newest.add(more);
  return newest.found();
}

function newestVisitor(inputs: Inputs, words: readonly Int32Array[]): Visitor<FoundEvents> {
  const { rows, edgeMs, span } = inputs;
  const newest = new NewestEvents(rows, edgeMs, span.fromMs);
  const test = new EventTest(inputs.test, words);
  return runVisitor((actor, segment, start, end) => {
    if (test.actors !== null && test.actors[actor] !== 1) return;
    newest.follow(segment, start, end, actor, test, span.toMs - segment.fromMs);
  }, () => newest.found());
}

/** The newest selected events of a span, and maybe more. */
export const NEWEST: VisitorKind<Inputs, FoundEvents> = {
  name: "newest",
  create: newestVisitor,
  merge: mergedEvents,
};
