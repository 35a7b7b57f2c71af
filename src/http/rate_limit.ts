import { RecentCache } from "../recent_cache.ts";

/**
 * Keeps a token bucket for each key, refilled at `unitsPerSecond` up to one second's worth. A request is
 * admitted if its bucket holds all that it takes. A batch larger than one second's worth takes a full bucket,
 * and the debt that it leaves makes the next request wait.
 */
export class RateLimit {
  readonly #buckets: RecentCache<string, { units: number; atMs: number }>;

  constructor(
    readonly unitsPerSecond: number,
    keysMax: number,
    /** Milliseconds of a monotonic clock: if it were set back, keys in debt would wait for that long. */
    readonly now: () => number,
  ) {
    this.#buckets = new RecentCache(keysMax);
  }

  /** Takes `units` for `key`. @returns 0, or the whole seconds to wait before the next try */
  take(key: string, units: number): number {
    const nowMs = this.now();
    const bucket = this.#buckets.get(key) ?? { units: this.unitsPerSecond, atMs: nowMs };
    const refilled = bucket.units + Math.max(0, nowMs - bucket.atMs) / 1000 * this.unitsPerSecond;
    const available = Math.min(this.unitsPerSecond, refilled);
    const missing = Math.min(units, this.unitsPerSecond) - available;
    if (missing > 0) return Math.ceil(missing / this.unitsPerSecond);
    this.#buckets.set(key, { units: available - units, atMs: nowMs });
    return 0;
  }
}
