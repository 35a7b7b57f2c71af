import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { PAGE_VIEW } from "../query/terms.ts";
import type { TechnicalNames } from "../scans/technical_names.ts";
import { followRuns, type Visitor, type VisitorKind } from "../scans/visitor.ts";

interface Inputs {
  readonly span: Span;
  readonly technical: TechnicalNames;
}

/** What people did in a span, bots left out. */
export interface TailCounts {
  readonly actors: ReadonlySet<number>;
  readonly events: number;
  readonly pageviews: number;
}

class TailVisitor implements Visitor<TailCounts> {
  readonly #actors = new Set<number>();
  #events = 0;
  #pageviews = 0;

  constructor(readonly inputs: Inputs) {}

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow);
  }

  result(): TailCounts {
    return { actors: this.#actors, events: this.#events, pageviews: this.#pageviews };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { span, technical } = this.inputs;
    const { times, names, contexts } = segment;
    const fromTime = span.fromMs - segment.fromMs;
    const toTime = span.toMs - segment.fromMs;
    let events = 0;
    for (let at = start; at < end; at++) {
      const time = times[at]!;
      if (time < fromTime || contexts[at]! < 0) continue;
      if (time >= toTime) break;
      if (technical.size > 0 && technical.has(names[at]!)) continue;
      events++;
      if (names[at] === PAGE_VIEW) this.#pageviews++;
    }
    if (events === 0) return;
    this.#events += events;
    this.#actors.add(actor);
  };
}

/** Run by run: an actor may be met by several visitors. */
export const TAIL_COUNTS: VisitorKind<Inputs, TailCounts> = {
  name: "tail",
  create: (inputs) => new TailVisitor(inputs),
  merge: (counts, more) => ({
    actors: counts.actors.union(more.actors),
    events: counts.events + more.events,
    pageviews: counts.pageviews + more.pageviews,
  }),
};
