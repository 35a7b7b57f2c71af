import { PAGE_VIEW } from "../../reserved_terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { runVisitor, type VisitorKind } from "../../scans/visitor.ts";

export const MINUTE_MS = 60_000;

interface LiveInputs {
  readonly test: EventPasses;
  readonly asOfMs: number;
  /** When the last 30 and the last 5 minutes begin. */
  readonly longAgoMs: number;
  readonly shortAgoMs: number;
}

/** The actors who are there, and what they view. Actors are in sets, since they are few. */
export interface LiveCounts {
  readonly lastLong: Set<number>;
  readonly lastShort: Set<number>;
  /** Actors of the shorter time, by path. */
  readonly actorsOn: Map<number, Set<number>>;
  /** Page views, by the minute of the clock since 1970. */
  readonly viewsAt: Map<number, number>;
}

/** Counts run by run, so that several visitors may count the same actor. */
export const LIVE_COUNTS: VisitorKind<LiveInputs, LiveCounts> = {
  name: "live",
  create: (inputs, words) => {
    const { asOfMs, longAgoMs, shortAgoMs } = inputs;
    const test = new EventTest(inputs.test, words);
    const lastLong = new Set<number>();
    const lastShort = new Set<number>();
    const actorsOn = new Map<number, Set<number>>();
    const viewsAt = new Map<number, number>();
    // Visits a run from its last event back to the first one that counts.
    return runVisitor((actor, segment, start, end) => {
      const { fromMs, times, names, paths, contexts, filterBits } = segment;
      for (let at = end - 1; at >= start; at--) {
        const ms = fromMs + times[at]!;
        if (ms < longAgoMs) return;
        const [name, path] = [names[at]!, paths[at]!];
        if (ms > asOfMs) continue;
        if (!test.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
        lastLong.add(actor);
        const minute = Math.floor(ms / MINUTE_MS);
        if (name === PAGE_VIEW) viewsAt.set(minute, (viewsAt.get(minute) ?? 0) + 1);
        if (ms < shortAgoMs) continue;
        lastShort.add(actor);
        if (path === 0) continue;
        actorsOn.getOrInsertComputed(path, () => new Set()).add(actor);
      }
    }, () => ({ lastLong, lastShort, actorsOn, viewsAt }));
  },
  merge: (counts, more) => {
    for (const [path, actors] of more.actorsOn) {
      counts.actorsOn.set(path, (counts.actorsOn.get(path) ?? new Set()).union(actors));
    }
    for (const [minute, views] of more.viewsAt) {
      counts.viewsAt.set(minute, (counts.viewsAt.get(minute) ?? 0) + views);
    }
    return {
      ...counts,
      lastLong: counts.lastLong.union(more.lastLong),
      lastShort: counts.lastShort.union(more.lastShort),
    };
  },
};
