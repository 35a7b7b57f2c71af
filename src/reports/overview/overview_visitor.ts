import type { Span } from "../../query/selection.ts";
import type { TechnicalNames } from "../../scans/technical_names.ts";
import { addTo, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

interface Inputs {
  /** They may overlap. */
  readonly spans: readonly Span[];
  readonly technical: TechnicalNames;
}

function spanVisitor({ spans, technical }: Inputs): Visitor<Int32Array> {
  const counts = new Int32Array(spans.length);
  /** By span, the last actor that was seen in it: actors are visited one after the other. */
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

/** Distinct actors of each span, bots and technical names left out. */
export const SPAN_VISITORS: VisitorKind<Inputs, Int32Array> = {
  name: "span visitors",
  create: spanVisitor,
  merge: (counts, more) => addTo(counts, more),
};
