import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { type FoundMoments, NewestActors } from "../newest_actors.ts";

interface NewestPeopleInputs {
  /** People with a selected event in it, and none after it up to the end of the read's span. */
  readonly span: Span;
  readonly endMs: number;
  readonly test: EventPasses;
  /** How many are wanted, and the millisecond of which all are: see `NewestActors`. */
  readonly rows: number;
  readonly edgeMs: number;
}

/** Finds those who were seen last: by everything that they did, or by each of their runs. */
class NewestPeopleVisitor implements Visitor<FoundMoments> {
  readonly #inputs: NewestPeopleInputs;
  readonly #newest: NewestActors;
  readonly #test: EventTest;

  constructor(inputs: NewestPeopleInputs, words: readonly Int32Array[]) {
    const { rows, edgeMs, span } = inputs;
    this.#inputs = inputs;
    this.#newest = new NewestActors(rows, edgeMs, span.fromMs, { isOnce: true });
    this.#test = new EventTest(inputs.test, words);
  }

  visit(actor: number, timeline: Timeline): void {
    const { actors } = this.#test;
    if (actors !== null && actors[actor] !== 1) return;
    const { segments, segmentOf, starts, ends } = timeline;
    for (let i = timeline.end - 1; i >= timeline.first; i--) {
      const ms = this.#lastMs(segments[segmentOf[i]!]!, starts[i]!, ends[i]!, actor);
      if (ms === null) continue;
      // Whoever was seen after the span is none of those.
      if (ms < this.#inputs.span.toMs) this.#newest.add(ms, actor);
      return;
    }
  }

  result(): FoundMoments {
    return this.#newest.found();
  }

  /** When the last selected event of a slice was, as far as that matters; null: there is none. */
  #lastMs(segment: LoadedSegment, start: number, end: number, actor: number): number | null {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const floorTime = this.#newest.floorMs - fromMs;
    const endTime = this.#inputs.endMs - fromMs;
    for (let at = end - 1; at >= start; at--) {
      const time = times[at]!;
      if (time < floorTime) return null;
      if (time >= endTime) continue;
      if (this.#test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) {
        return fromMs + time;
      }
    }
    return null;
  }
}

export const NEWEST_PEOPLE: VisitorKind<NewestPeopleInputs, FoundMoments> = {
  name: "newest people",
  create: (inputs, words) => new NewestPeopleVisitor(inputs, words),
  merge: (found, more) => ({
    ms: [...found.ms, ...more.ms],
    actors: [...found.actors, ...more.actors],
  }),
};
