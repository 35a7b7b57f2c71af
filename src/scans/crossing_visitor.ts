import { SESSION_GAP_MS } from "../limits.ts";
import { PAGE_VIEW } from "../reserved_terms.ts";
import { joinColumns, runVisitor, type VisitorKind } from "./visitor.ts";

/** A moment that sessions may cross. */
export interface Edge {
  readonly atMs: number;
  /**
   * Leaves out the sessions of runs with a page view in the last session's gap before it, since no later event changes
   * their entry. Absent: no.
   */
  readonly isOfEntries?: boolean;
}

/** The actors with an event of a session before a moment, and those with one at or after it. */
interface Sides {
  readonly before: Int32Array;
  readonly after: Int32Array;
}

/** Finds the actors with an event of a session within a session's gap of a moment, run by run. */
export const CROSSING: VisitorKind<Edge, Sides> = {
  name: "crossing",
  create: ({ atMs, isOfEntries = false }) => {
    const [before, after] = [new Set<number>(), new Set<number>()];
    return runVisitor((actor, { fromMs, times, names, traffics }, start, end) => {
      const fromTime = atMs - SESSION_GAP_MS - fromMs;
      const toTime = atMs + SESSION_GAP_MS - fromMs;
      if (times[end - 1]! < fromTime || times[start]! > toTime) return;
      let [isBefore, isViewed] = [false, false];
      for (let at = start; at < end; at++) {
        const time = times[at]!;
        if (time < fromTime || traffics[at] === 0) continue;
        if (time > toTime) break;
        if (fromMs + time >= atMs) {
          after.add(actor);
          break;
        }
        isBefore = true;
        isViewed ||= names[at] === PAGE_VIEW;
      }
      if (isBefore && !(isOfEntries && isViewed)) before.add(actor);
    }, () => ({ before: Int32Array.from(before), after: Int32Array.from(after) }));
  },
  merge: joinColumns,
};
