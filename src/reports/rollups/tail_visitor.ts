import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import type { TechnicalNames } from "../../scans/technical_names.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

interface Inputs {
  readonly span: Span;
  readonly technical: TechnicalNames;
}

/** Counts of a span, without bots. */
export interface TailCounts {
  readonly actors: ReadonlySet<number>;
  readonly events: number;
  readonly pageviews: number;
}

function tailVisitor({ span, technical }: Inputs): Visitor<TailCounts> {
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
}

/** Counts run by run. As several visitors may count the same actor, they return sets of actors to merge. */
export const TAIL_COUNTS: VisitorKind<Inputs, TailCounts> = {
  name: "tail",
  create: tailVisitor,
  merge: (counts, more) => ({
    actors: counts.actors.union(more.actors),
    events: counts.events + more.events,
    pageviews: counts.pageviews + more.pageviews,
  }),
};
