import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import type { TechnicalNames } from "../../scans/technical_names.ts";
import { addTo, followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";

interface Inputs {
  /** They may overlap. */
  readonly spans: readonly Span[];
  readonly technical: TechnicalNames;
}

class SpanVisitor implements Visitor<Int32Array> {
  readonly #counts: Int32Array;
  /** By span, the last actor that was seen in it: actors are visited one after the other. */
  readonly #seen: Int32Array;

  constructor(readonly inputs: Inputs) {
    this.#counts = new Int32Array(inputs.spans.length);
    this.#seen = new Int32Array(inputs.spans.length).fill(-1);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow);
  }

  result(): Int32Array {
    return this.#counts;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { spans, technical } = this.inputs;
    const { fromMs, times, names, contexts } = segment;
    for (let at = start; at < end; at++) {
      if (contexts[at]! < 0 || technical.size > 0 && technical.has(names[at]!)) continue;
      const ms = fromMs + times[at]!;
      for (const [i, span] of spans.entries()) {
        if (ms < span.fromMs || ms >= span.toMs || this.#seen[i] === actor) continue;
        this.#seen[i] = actor;
        this.#counts[i]!++;
      }
    }
  };
}

/** Distinct actors of each span, bots and technical names left out. */
export const SPAN_VISITORS: VisitorKind<Inputs, Int32Array> = {
  name: "span visitors",
  create: (inputs) => new SpanVisitor(inputs),
  merge: (counts, more) => addTo(counts, more),
};
