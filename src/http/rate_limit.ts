import { RecentCache } from "../recent_cache.ts";

/**
 * A token bucket for each key, refilled at `unitsPerSecond` up to one second's worth. A request is
 * let in while its bucket is not in debt, whatever its size, so that a batch larger than a second's
 * worth is possible; the debt makes the next one wait.
 */
export class RateLimit {
  readonly #buckets: RecentCache<string, { units: number; atMs: number }>;

  constructor(
    readonly unitsPerSecond: number,
    keysMax: number,
    /** Milliseconds of a clock that nobody turns back: who is in debt would wait until they came again. */
    readonly now: () => number,
  ) {
    this.#buckets = new RecentCache(keysMax);
  }

  /** Takes `units` for `key`. @returns 0, or the whole seconds after which to try again */
  take(key: string, units: number): number {
    const nowMs = this.now();
    const bucket = this.#buckets.get(key) ?? { units: this.unitsPerSecond, atMs: nowMs };
    const refilled = bucket.units + Math.max(0, nowMs - bucket.atMs) / 1000 * this.unitsPerSecond;
    const available = Math.min(this.unitsPerSecond, refilled);
    if (available <= 0) return Math.max(1, Math.ceil(-available / this.unitsPerSecond));
    this.#buckets.set(key, { units: available - units, atMs: nowMs });
    return 0;
  }
}
