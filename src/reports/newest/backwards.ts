import { DAY_MS } from "../../limits.ts";
import type { Span } from "../../query/selection.ts";

// The newest rows are mostly all that is asked for: they are looked for in a small part of the span
// first, then in the next one, so many times as long. Not in smaller ones than of a day: where filters
// are on sessions, those that cross the edges of each part are looked up.
const FIRST_PART = 1 / 64;
const PART_MS_MIN = DAY_MS;
const PART_GROWTH = 8;

/** The parts of a span, the last one first. */
export function* partsBackwards({ fromMs, toMs }: Span): Generator<Span> {
  let partMs = Math.max(PART_MS_MIN, Math.ceil((toMs - fromMs) * FIRST_PART));
  for (let endMs = toMs; endMs > fromMs;) {
    const part = { fromMs: Math.max(fromMs, endMs - partMs), toMs: endMs };
    yield part;
    endMs = part.fromMs;
    partMs *= PART_GROWTH;
  }
}
