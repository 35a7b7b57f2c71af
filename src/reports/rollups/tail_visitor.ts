import { PAGE_VIEW } from "../../reserved_terms.ts";
import { runVisitor, type VisitorKind } from "../../scans/visitor.ts";
import type { NewcomerInputs } from "../visitors/newcomers.ts";

/** Counts of a span, without bots. */
export interface TailCounts {
  readonly actors: ReadonlySet<number>;
  readonly events: number;
  readonly pageviews: number;
}

/** Counts run by run. As several visitors may count the same actor, they return sets of actors to merge. */
export const TAIL_COUNTS: VisitorKind<NewcomerInputs, TailCounts> = {
  name: "tail",
  create: ({ span, technical }) => {
    const actors = new Set<number>();
    let events = 0;
    let pageviews = 0;
    return runVisitor((actor, { fromMs, times, names, contexts }, start, end) => {
      const fromTime = span.fromMs - fromMs;
      const toTime = span.toMs - fromMs;
      const before = events;
      for (let at = start; at < end; at++) {
        const time = times[at]!;
        if (time < fromTime || contexts[at]! < 0) continue;
        if (time >= toTime) break;
        if (technical.size > 0 && technical.has(names[at]!)) continue;
        events++;
        if (names[at] === PAGE_VIEW) pageviews++;
      }
      if (events > before) actors.add(actor);
    }, () => ({ actors, events, pageviews }));
  },
  merge: (counts, more) => ({
    actors: counts.actors.union(more.actors),
    events: counts.events + more.events,
    pageviews: counts.pageviews + more.pageviews,
  }),
};
