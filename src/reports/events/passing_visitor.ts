import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";

interface Inputs {
  readonly test: EventPasses;
  /** Of these milliseconds alone. */
  readonly atMs: ReadonlySet<number>;
}

/** Tells the ids of events that pass. */
class PassingVisitor implements Visitor<string[]> {
  readonly #passing: string[] = [];
  readonly #test: EventTest;

  constructor(readonly inputs: Inputs, words: readonly Int32Array[]) {
    this.#test = new EventTest(inputs.test, words);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow);
  }

  result(): string[] {
    return this.#passing;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    for (let at = start; at < end; at++) {
      if (!this.inputs.atMs.has(fromMs + times[at]!)) continue;
      if (!this.#test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) {
        continue;
      }
      const hex = segment.eventIds.subarray(16 * at, 16 * at + 16).toHex();
      this.#passing.push(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
    }
  };
}

export const PASSING_IDS: VisitorKind<Inputs, string[]> = {
  name: "passing ids",
  create: (inputs, words) => new PassingVisitor(inputs, words),
  merge: (ids, more) => [...ids, ...more],
};
