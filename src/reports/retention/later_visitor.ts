import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";

/** Tells whether any event lies in a span. */
class LaterVisitor implements Visitor<boolean> {
  #isLater = false;

  constructor(readonly span: Span) {}

  visit(actor: number, timeline: Timeline): void {
    if (!this.#isLater) followRuns(actor, timeline, this.#follow);
  }

  result(): boolean {
    return this.#isLater;
  }

  readonly #follow = (_: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times } = segment;
    const { span } = this;
    for (let at = end - 1; at >= start && fromMs + times[at]! >= span.fromMs; at--) {
      if (fromMs + times[at]! < span.toMs) this.#isLater = true;
    }
  };
}

export const HAS_EVENTS: VisitorKind<Span, boolean> = {
  name: "has events",
  create: (span) => new LaterVisitor(span),
  merge: (has, more) => has || more,
};
