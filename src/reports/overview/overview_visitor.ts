import type { Span } from "../../query/selection.ts";
import type { TechnicalNames } from "../../scans/technical_names.ts";
import { addTo, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

interface SpanVisitorInputs {
  /** The spans may overlap. */
  readonly spans: readonly Span[];
  readonly technical: TechnicalNames;
}

function spanVisitor({ spans, technical }: SpanVisitorInputs): Visitor<Int32Array> {
  const counts = new Int32Array(spans.length);
  /** By span: the last actor who was counted. Actors are visited one after the other. */
  const seen = new Int32Array(spans.length).fill(-1);
  return runVisitor((actor, { fromMs, times, names, contexts }, start, end) => {
    for (let at = start; at < end; at++) {
      if (contexts[at]! < 0 || technical.size > 0 && technical.has(names[at]!)) continue;
      const ms = fromMs + times[at]!;
      for (const [i, span] of spans.entries()) {
        if (ms < span.fromMs || ms >= span.toMs || seen[i] === actor) continue;
        seen[i] = actor;
        counts[i]!++;
      }
    }
  }, () => counts);
}

/** Counts the distinct actors of each span, without bots and technical names. */
export const SPAN_VISITORS: VisitorKind<SpanVisitorInputs, Int32Array> = {
  name: "span visitors",
  create: spanVisitor,
  merge: addTo,
};
