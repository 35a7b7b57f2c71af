import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { RunBits, Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type MatchPasses, MatchTests } from "../../scans/match_tests.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";

interface Inputs {
  /** One match. */
  readonly matches: MatchPasses;
  readonly span: Span;
}

/** Counts the events that a match takes by their contexts. */
class ViewVisitor implements Visitor<Map<number, number>> {
  readonly #views = new Map<number, number>();
  readonly #tests: MatchTests;
  readonly bits: RunBits;

  constructor(readonly inputs: Inputs, words: readonly Int32Array[]) {
    this.#tests = new MatchTests(inputs.matches, words);
    this.bits = this.#tests.bits;
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): Map<number, number> {
    return this.#views;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { names, paths, contexts, filterBits, times } = segment;
    const { fromMs, toMs } = this.inputs.span;
    const [test] = this.#tests.tests;
    for (let at = start; at < end; at++) {
      const ms = segment.fromMs + times[at]!;
      if (ms < fromMs || ms >= toMs) continue;
      const context = contexts[at]!;
      if (!test!.passes(names[at]!, paths[at]!, context, actor, filterBits[at]!)) continue;
      this.#views.set(context, (this.#views.get(context) ?? 0) + 1);
    }
  };
}

export const VIEW_COUNTS: VisitorKind<Inputs, Map<number, number>> = {
  name: "views",
  create: (inputs, words) => new ViewVisitor(inputs, words),
  merge: (counts, more) => {
    for (const [context, views] of more) counts.set(context, (counts.get(context) ?? 0) + views);
    return counts;
  },
};
