import type { Span } from "../query/selection.ts";

/** Finds in which of some spans a moment lies: these are in order, without gaps, at least one. */
export class SpanFinder {
  readonly fromMs: number;
  readonly toMs: number;
  /** When each begins, and when the last one ends. */
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

  /** The place of the span, -1 before the first one, and how many there are behind the last. */
  at(ms: number): number {
    if (ms < this.fromMs) return -1;
    if (ms >= this.toMs) return this.#count;
    const starts = this.#starts;
    // Most are of about one length, so it is near this.
    let place = Math.min(Math.floor((ms - this.fromMs) * this.#perMs), this.#count - 1);
    while (starts[place]! > ms) place--;
    while (starts[place + 1]! <= ms) place++;
    return place;
  }

  /** When what `at` found begins: before all spans it never does. */
  fromMsOf(place: number): number {
    return this.#starts[place] ?? -Infinity;
  }

  /** When what `at` found ends: behind all spans it never does. */
  toMsOf(place: number): number {
    return this.#starts[place + 1] ?? Infinity;
  }
}
