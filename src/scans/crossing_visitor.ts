import { SESSION_GAP_MS } from "../limits.ts";
import { joinColumns, runVisitor, type VisitorKind } from "./visitor.ts";

interface Inputs {
  readonly atMs: number;
}

/** The actors with an event of a session before a moment, and those with one at or after it. */
interface Sides {
  readonly before: Int32Array;
  readonly after: Int32Array;
}

/** Finds the actors with an event of a session within a session's gap of a moment, run by run. */
export const CROSSING: VisitorKind<Inputs, Sides> = {
  name: "crossing",
  create: ({ atMs }) => {
    const [before, after] = [new Set<number>(), new Set<number>()];
    return runVisitor((actor, { fromMs, times, traffics }, start, end) => {
      const fromTime = atMs - SESSION_GAP_MS - fromMs;
      const toTime = atMs + SESSION_GAP_MS - fromMs;
      if (times[end - 1]! < fromTime || times[start]! > toTime) return;
      for (let at = start; at < end; at++) {
        const time = times[at]!;
        if (time < fromTime || traffics[at] === 0) continue;
        if (time > toTime) break;
        (fromMs + time < atMs ? before : after).add(actor);
      }
    }, () => ({ before: Int32Array.from(before), after: Int32Array.from(after) }));
  },
  merge: joinColumns,
};
