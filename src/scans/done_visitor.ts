import { type LoadedSegment, nameBit } from "../timelines/loaded_segment.ts";
import { lengthened, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type EventPasses, EventTest } from "./event_test.ts";
import { followRuns, joined, type Visitor, type VisitorKind } from "./visitor.ts";

/** What is counted of each actor. */
export interface AskedDone {
  readonly test: EventPasses;
  readonly span: Span;
  /** From so many on, it is all the same how many there are. */
  readonly countMax: number;
}

export interface DoneInputs {
  readonly asked: readonly AskedDone[];
}

/** Rows of who did which of what is asked (by its place) how often; the same may have several. */
export interface DoneRows {
  readonly actors: Int32Array;
  readonly places: Int32Array;
  readonly counts: Int32Array;
}

/** The bits of the names that pass: of all of them where any does. */
function nameBitsOf({ names }: EventPasses): number {
  if (names === null) return -1;
  return names.reduce((bits, passes, name) => passes === 1 ? bits | nameBit(name) : bits, 0);
}

/** Counts, run by run, what actors did. */
class DoneVisitor implements Visitor<DoneRows> {
  readonly #asked: readonly AskedDone[];
  readonly #tests: readonly EventTest[];
  readonly #bits: number;
  #actors = new Int32Array(1_024);
  #places = new Int32Array(1_024);
  #counts = new Int32Array(1_024);
  #length = 0;

  constructor({ asked }: DoneInputs, words: readonly Int32Array[]) {
    this.#asked = asked;
    this.#tests = asked.map(({ test }) => new EventTest(test, words));
    this.#bits = asked.reduce((bits, { test }) => bits | nameBitsOf(test), 0);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.#bits);
  }

  result(): DoneRows {
    const cut = (column: Int32Array) => column.slice(0, this.#length);
    return { actors: cut(this.#actors), places: cut(this.#places), counts: cut(this.#counts) };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    for (let place = 0; place < this.#asked.length; place++) {
      const count = this.#countOf(place, actor, segment, start, end);
      if (count > 0) this.#add(actor, place, count);
    }
  };

  #countOf(
    place: number,
    actor: number,
    { fromMs, times, names, paths, contexts, filterBits }: LoadedSegment,
    start: number,
    end: number,
  ): number {
    const { span, countMax } = this.#asked[place]!;
    const test = this.#tests[place]!;
    const fromTime = span.fromMs - fromMs;
    const toTime = span.toMs - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return 0;
    let count = 0;
    for (let at = start; at < end && count < countMax; at++) {
      const time = times[at]!;
      if (time < fromTime) continue;
      if (time >= toTime) break;
      if (test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) count++;
    }
    return count;
  }

  #add(actor: number, place: number, count: number): void {
    if (this.#length === this.#actors.length) {
      this.#actors = lengthened(this.#actors);
      this.#places = lengthened(this.#places);
      this.#counts = lengthened(this.#counts);
    }
    this.#actors[this.#length] = actor;
    this.#places[this.#length] = place;
    this.#counts[this.#length++] = count;
  }
}

/** Run by run: an actor may be met by several visitors. */
export const DONE_COUNTS: VisitorKind<DoneInputs, DoneRows> = {
  name: "done",
  create: (inputs, words) => new DoneVisitor(inputs, words),
  merge: (rows, more) => ({
    actors: joined(rows.actors, more.actors),
    places: joined(rows.places, more.places),
    counts: joined(rows.counts, more.counts),
  }),
};
