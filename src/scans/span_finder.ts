import type { Span } from "../query/selection.ts";

/** Finds the span that a moment lies in. The spans are in order, without gaps; there is at least one. */
export class SpanFinder {
  readonly fromMs: number;
  readonly toMs: number;
  /** The start of each span, and the end of the last one. */
  readonly #starts: Float64Array;
  readonly #count: number;
  readonly #perMs: number;

  constructor(spans: readonly Span[]) {
    this.fromMs = spans[0]!.fromMs;
    this.toMs = spans.at(-1)!.toMs;
    this.#starts = Float64Array.of(...spans.map(({ fromMs }) => fromMs), this.toMs);
    this.#count = spans.length;
    this.#perMs = this.#count / (this.toMs - this.fromMs);
  }

  /** Returns the place of the span; -1 before the first one, the number of spans after the last one. */
  at(ms: number): number {
    if (ms < this.fromMs) return -1;
    if (ms >= this.toMs) return this.#count;
    const starts = this.#starts;
    // Spans have about the same length, so this is the place or near it.
    let place = Math.min(Math.floor((ms - this.fromMs) * this.#perMs), this.#count - 1);
    while (starts[place]! > ms) place--;
    while (starts[place + 1]! <= ms) place++;
    return place;
  }

  /** Returns the start of the span at a place; -Infinity before the first one. */
  fromMsOf(place: number): number {
    return this.#starts[place] ?? -Infinity;
  }

  /** Returns the end of the span at a place; Infinity after the last one. */
  toMsOf(place: number): number {
    return this.#starts[place + 1] ?? Infinity;
  }
}
