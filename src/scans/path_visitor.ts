import { nameBit } from "../timelines/run_bits.ts";
import { ANY_RUN } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type EventPasses, EventTest } from "./event_test.ts";
import { addColumns, runVisitor, type VisitorKind } from "./visitor.ts";

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

export const PATH_COUNTS: VisitorKind<Inputs, PathCounts> = {
  name: "paths",
  create: (inputs, words) => {
    const { span, names, counted, folded } = inputs;
    const counts = () => new Int32Array(inputs.test.termMax + 1);
    const [visitors, events] = [counts(), counts()];
    /** The actor counted last on each path. */
    const lastActors = counts().fill(-1);
    const test = new EventTest(inputs.test, words);
    const first = folded?.indexOf(1) ?? 0;
    const bits = { ...ANY_RUN, names: names.reduce((bits, name) => bits | nameBit(name), 0) };
    return runVisitor(
      (actor, segment, start, end) => {
        const { times, names: ids, paths, contexts, filterBits } = segment;
        const fromTime = span.fromMs - segment.fromMs;
        const toTime = span.toMs - segment.fromMs;
        for (let at = start; at < end; at++) {
          const name = ids[at]!;
          const time = times[at]!;
          if (time < fromTime || time >= toTime || !names.includes(name)) continue;
          let path = paths[at]!;
          if (!test.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
          if (folded?.[path] === 1) path = first;
          if (name === counted) events[path]!++;
          if (lastActors[path] === actor) continue;
          lastActors[path] = actor;
          visitors[path]!++;
        }
      },
      () => ({ visitors, events }),
      bits,
    );
  },
  merge: addColumns,
};
