import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { nameBit } from "../timelines/run_bits.ts";
import { ANY_RUN, type RunBits, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type EventPasses, EventTest } from "./event_test.ts";
import { followRuns, type Visitor, type VisitorKind } from "./visitor.ts";

interface Inputs {
  readonly test: EventPasses;
  readonly span: Span;
  readonly name: number;
  /** By path id: 1 where actors count. */
  readonly isOn: Uint8Array;
}

/** Counts the actors with a selected event of one name on any of some paths. */
class PathActorsVisitor implements Visitor<number> {
  readonly #test: EventTest;
  readonly bits: RunBits;
  #actors = 0;
  #lastActor = -1;

  constructor(readonly inputs: Inputs, words: readonly Int32Array[]) {
    this.#test = new EventTest(inputs.test, words);
    this.bits = { ...ANY_RUN, names: nameBit(inputs.name) };
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): number {
    return this.#actors;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    if (actor === this.#lastActor) return;
    const { times, names, paths, contexts, filterBits } = segment;
    const { span, name, isOn } = this.inputs;
    const fromTime = span.fromMs - segment.fromMs;
    const toTime = span.toMs - segment.fromMs;
    for (let at = start; at < end; at++) {
      const time = times[at]!;
      const path = paths[at]!;
      if (names[at] !== name || isOn[path] !== 1 || time < fromTime || time >= toTime) continue;
      if (!this.#test.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
      this.#actors++;
      this.#lastActor = actor;
      return;
    }
  };
}

export const PATH_ACTORS: VisitorKind<Inputs, number> = {
  name: "path actors",
  create: (inputs, words) => new PathActorsVisitor(inputs, words),
  merge: (actors, more) => actors + more,
};
