import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { nameBit } from "../timelines/run_bits.ts";
import { ANY_RUN, type RunBits, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type EventPasses, EventTest } from "./event_test.ts";
import { addColumns, followRuns, type Visitor, type VisitorKind } from "./visitor.ts";

interface Inputs {
  readonly test: EventPasses;
  readonly span: Span;
  readonly names: readonly number[];
  readonly counted: number;
  /** By path id: 1 for the paths that are counted together, as the first of them; null: each by itself. */
  readonly folded: Uint8Array | null;
}

/** By path id; 0 stands for events without a path. */
export interface PathCounts {
  /** Distinct actors of selected events of the names. */
  readonly visitors: Int32Array;
  /** Selected events of the name `counted`. */
  readonly events: Int32Array;
}

class PathVisitor implements Visitor<PathCounts> {
  readonly #visitors: Int32Array;
  readonly #events: Int32Array;
  /** The actor counted last on each path. */
  readonly #lastActors: Int32Array;
  readonly #test: EventTest;
  readonly #first: number;
  readonly bits: RunBits;

  constructor(readonly inputs: Inputs, words: readonly Int32Array[]) {
    const counts = () => new Int32Array(inputs.test.termMax + 1);
    this.#visitors = counts();
    this.#events = counts();
    this.#lastActors = counts().fill(-1);
    this.#test = new EventTest(inputs.test, words);
    this.#first = inputs.folded?.indexOf(1) ?? 0;
    const names = inputs.names.reduce((bits, name) => bits | nameBit(name), 0);
    this.bits = { ...ANY_RUN, names };
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): PathCounts {
    return { visitors: this.#visitors, events: this.#events };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { times, names: ids, paths, contexts, filterBits } = segment;
    const { span, names, counted, folded } = this.inputs;
    const first = this.#first;
    const test = this.#test;
    const lastActors = this.#lastActors;
    const fromTime = span.fromMs - segment.fromMs;
    const toTime = span.toMs - segment.fromMs;
    for (let at = start; at < end; at++) {
      const name = ids[at]!;
      const time = times[at]!;
      if (time < fromTime || time >= toTime || !names.includes(name)) continue;
      let path = paths[at]!;
      if (!test.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
      if (folded?.[path] === 1) path = first;
      if (name === counted) this.#events[path]!++;
      if (lastActors[path] === actor) continue;
      lastActors[path] = actor;
      this.#visitors[path]!++;
    }
  };
}

export const PATH_COUNTS: VisitorKind<Inputs, PathCounts> = {
  name: "paths",
  create: (inputs, words) => new PathVisitor(inputs, words),
  merge: addColumns,
};
