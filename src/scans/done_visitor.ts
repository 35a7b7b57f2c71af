import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { nameBit } from "../timelines/run_bits.ts";
import { GrowingList } from "../store/growing_list.ts";
import { ANY_RUN, type RunBits, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type EventPasses, EventTest } from "./event_test.ts";
import { followRuns, joinColumns, type Visitor, type VisitorKind } from "./visitor.ts";

/** The events that one condition counts. */
interface DoneCondition {
  readonly test: EventPasses;
  readonly span: Span;
  /** Counting ends here: a larger count makes no difference. */
  readonly countMax: number;
}

interface DoneInputs {
  readonly conditions: readonly DoneCondition[];
}

/** Rows: a segment, an identity, the place of a condition, and how often the identity met it there. */
export interface DoneRows {
  readonly segments: Float64Array;
  readonly identities: Int32Array;
  readonly places: Int32Array;
  readonly counts: Int32Array;
}

/** The bits of the names that pass; all bits if every name does. */
function nameBitsOf({ names }: EventPasses): number {
  if (names === null) return -1;
  return names.reduce((bits, passes, name) => passes === 1 ? bits | nameBit(name) : bits, 0);
}

/** By name, the conditions that its events may meet: bit i stands for the condition at place i. */
function conditionBits(conditions: readonly DoneCondition[]): Int32Array {
  const bits = new Int32Array(Math.max(0, ...conditions.map(({ test }) => test.termMax)) + 1);
  for (const [place, { test: { names } }] of conditions.entries()) {
    for (let name = 0; name < bits.length; name++) {
      if (names === null || names[name] === 1) bits[name]! |= 1 << place;
    }
  }
  return bits;
}

/**
 * Counts, run by run, how often actors met each condition, in one pass over a run. There are at most
 * `CONDITION_LEAVES_MAX` conditions, so that each has a bit of a number.
 */
class DoneVisitor implements Visitor<DoneRows> {
  readonly #conditions: readonly DoneCondition[];
  readonly #tests: readonly EventTest[];
  /** See `conditionBits`. */
  readonly #conditionsOf: Int32Array;
  readonly bits: RunBits;
  /** The counts of the current run, by the place of the condition. */
  readonly #counted: Int32Array;
  readonly #segments = new GrowingList(new Float64Array(1_024));
  readonly #identities = new GrowingList(new Int32Array(1_024));
  readonly #places = new GrowingList(new Int32Array(1_024));
  readonly #counts = new GrowingList(new Int32Array(1_024));
  /** The number of the current run in its segment. */
  #run = 0;

  constructor({ conditions }: DoneInputs, words: readonly Int32Array[]) {
    this.#conditions = conditions;
    this.#tests = conditions.map(({ test }) => new EventTest(test, words));
    this.#conditionsOf = conditionBits(conditions);
    const names = conditions.reduce((bits, { test }) => bits | nameBitsOf(test), 0);
    this.bits = { ...ANY_RUN, names };
    this.#counted = new Int32Array(conditions.length);
  }

  visit(actor: number, timeline: Timeline): void {
    this.#run = timeline.first;
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): DoneRows {
    return {
      segments: this.#segments.all(),
      identities: this.#identities.all(),
      places: this.#places.all(),
      counts: this.#counts.all(),
    };
  }

  /** The bits of the conditions whose span the run overlaps. */
  #conditionsIn({ fromMs, times }: LoadedSegment, start: number, end: number): number {
    const [firstMs, lastMs] = [fromMs + times[start]!, fromMs + times[end - 1]!];
    let bits = 0;
    for (let place = 0; place < this.#conditions.length; place++) {
      const { span } = this.#conditions[place]!;
      if (lastMs >= span.fromMs && firstMs < span.toMs) bits |= 1 << place;
    }
    return bits;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const [conditionsOf, counted] = [this.#conditionsOf, this.#counted];
    // The conditions whose count may still grow.
    let open = this.#conditionsIn(segment, start, end);
    counted.fill(0);
    for (let at = start; at < end && open !== 0; at++) {
      let left = conditionsOf[names[at]!]! & open;
      while (left !== 0) {
        const place = 31 - Math.clz32(left & -left);
        left &= left - 1;
        const { span, countMax } = this.#conditions[place]!;
        const ms = fromMs + times[at]!;
        if (ms < span.fromMs || ms >= span.toMs) continue;
        const test = this.#tests[place]!;
        if (!test.passesBeyondName(paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
        if (++counted[place]! === countMax) open &= ~(1 << place);
      }
    }
    for (let place = 0; place < counted.length; place++) {
      if (counted[place]! > 0) this.#add(segment, place, counted[place]!);
    }
  };

  #add({ segmentId, identities }: LoadedSegment, place: number, count: number): void {
    this.#segments.add(segmentId);
    this.#identities.add(identities[this.#run]!);
    this.#places.add(place);
    this.#counts.add(count);
  }
}

/** Only for scans run by run: it needs to know the run's identity. */
export const DONE_COUNTS: VisitorKind<DoneInputs, DoneRows> = {
  name: "done",
  create: (inputs, words) => new DoneVisitor(inputs, words),
  merge: joinColumns,
};
