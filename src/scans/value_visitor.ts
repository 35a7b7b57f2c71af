import type { RunBits, Timeline } from "../timelines/timeline.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { Span } from "../query/selection.ts";
import { type MatchPasses, MatchTests, UNMATCHED } from "./match_tests.ts";
import type { ValueIds } from "./event_value_ids.ts";
import { idsFrom, type IdsOf, NO_ID } from "./value_ids.ts";
import { addTo, followRuns, type Visitor, type VisitorKind } from "./visitor.ts";

interface Inputs extends Pick<ValueIds, "from" | "idsFrom" | "idMax" | "users"> {
  readonly matches: MatchPasses;
  readonly span: Span;
}

/** Counts the events that any match takes, by the id of a field's value. */
class ValueVisitor implements Visitor<Float64Array> {
  /** The count of id i is at `i - idsFrom`. */
  readonly #counts: Float64Array;
  readonly #tests: MatchTests;
  readonly bits: RunBits;
  readonly #idsOf: IdsOf;

  constructor(readonly inputs: Inputs, words: readonly Int32Array[]) {
    this.#counts = new Float64Array(inputs.idMax - inputs.idsFrom + 1);
    this.#tests = new MatchTests(inputs.matches, words);
    this.bits = this.#tests.bits;
    this.#idsOf = idsFrom(inputs.from);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): Float64Array {
    return this.#counts;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const { span, idsFrom, users } = this.inputs;
    const fromTime = span.fromMs - fromMs;
    const toTime = span.toMs - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return;
    const tests = this.#tests;
    const counts = this.#counts;
    const { scope, groupOf, isScopeNarrowed } = tests;
    const { contextMin, contextMax } = scope;
    const ids = this.#idsOf(segment);
    const actorId = users === null || users[actor] === 1 ? actor : NO_ID;
    for (let at = start; at < end; at++) {
      const group = groupOf[names[at]!]!;
      if (group <= UNMATCHED) continue;
      const time = times[at]!;
      if (time < fromTime) continue;
      if (time >= toTime) return;
      const context = contexts[at]!;
      if (context < contextMin || context > contextMax) continue;
      const path = paths[at]!;
      if (isScopeNarrowed && !scope.passesBeyondName(path, context, actor, filterBits[at]!)) {
        continue;
      }
      if (!tests.takesAny(group, path, context, actor, filterBits[at]!)) continue;
      counts[(ids === null ? actorId : ids[at]!) - idsFrom]!++;
    }
  };
}

/** Counts events by the id of a value: the count of id i is at `i - idsFrom`. */
export const VALUE_COUNTS: VisitorKind<Inputs, Float64Array> = {
  name: "values",
  create: (inputs, words) => new ValueVisitor(inputs, words),
  // Later parts may have more values.
  merge: (counts, more) => counts.length < more.length ? addTo(more, counts) : addTo(counts, more),
};
