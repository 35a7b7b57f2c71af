import type { Span } from "../../query/selection.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

function laterVisitor(span: Span): Visitor<boolean> {
  let isLater = false;
  return runVisitor((_, { fromMs, times }, start, end) => {
    if (isLater) return;
    for (let at = end - 1; at >= start && fromMs + times[at]! >= span.fromMs; at--) {
      if (fromMs + times[at]! < span.toMs) isLater = true;
    }
  }, () => isLater);
}

/** Tells whether any event lies in the span. */
export const HAS_EVENTS: VisitorKind<Span, boolean> = {
  name: "has events",
  create: laterVisitor,
  merge: (has, more) => has || more,
};
