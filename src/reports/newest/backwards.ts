import { DAY_MS } from "../../limits.ts";
import type { Span } from "../../query/selection.ts";

// Usually only the newest rows are needed, so a small part of the span is searched first, then the part
// before it, `PART_GROWTH` times as long, and so on. No part is shorter than a day, because with filters on
// sessions each part costs a look-up of the sessions that cross its edges.
const FIRST_PART = 1 / 64;
const PART_MS_MIN = DAY_MS;
const PART_GROWTH = 8;

/** Yields the parts of a span, the last one first. */
export function* partsBackwards({ fromMs, toMs }: Span): Generator<Span> {
  let partMs = Math.max(PART_MS_MIN, Math.ceil((toMs - fromMs) * FIRST_PART));
  for (let endMs = toMs; endMs > fromMs;) {
    const part = { fromMs: Math.max(fromMs, endMs - partMs), toMs: endMs };
    yield part;
    endMs = part.fromMs;
    partMs *= PART_GROWTH;
  }
}
