import type { Timeline } from "../timelines/timeline.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { joinColumns, type Visitor, type VisitorKind } from "./visitor.ts";

interface Inputs {
  readonly atMs: number;
}

/** The actors with an event of a session before a moment, and those with one at or after it. */
interface Sides {
  readonly before: Int32Array;
  readonly after: Int32Array;
}

/** Finds the actors with an event of a session within a session's gap of a moment, run by run. */
class SideFinder implements Visitor<Sides> {
  readonly #before = new Set<number>();
  readonly #after = new Set<number>();

  constructor(readonly inputs: Inputs) {}

  visit(actor: number, { first, segments, segmentOf, starts, ends }: Timeline): void {
    const { fromMs, times, traffics } = segments[segmentOf[first]!]!;
    const [start, end] = [starts[first]!, ends[first]!];
    const atTime = this.inputs.atMs - fromMs;
    if (times[end - 1]! < atTime - SESSION_GAP_MS || times[start]! > atTime + SESSION_GAP_MS) {
      return;
    }
    for (let at = start; at < end; at++) {
      const time = times[at]!;
      if (time < atTime - SESSION_GAP_MS || traffics[at] === 0) continue;
      if (time > atTime + SESSION_GAP_MS) break;
      (time < atTime ? this.#before : this.#after).add(actor);
    }
  }

  result(): Sides {
    return { before: Int32Array.from(this.#before), after: Int32Array.from(this.#after) };
  }
}

export const CROSSING: VisitorKind<Inputs, Sides> = {
  name: "crossing",
  create: (inputs) => new SideFinder(inputs),
  merge: joinColumns,
};
