import { RecentCache } from "../recent_cache.ts";

export interface BelievedRowsOptions<Found> {
  /** What the database says of these ids now. Throws `DatabaseUnavailable`. */
  readonly find: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>;
  readonly now: () => number;
  /** After so long it is asked for again in the background; after the other, a request waits for it. */
  readonly freshMs: number;
  readonly believedMsMax: number;
  readonly cachedMax: number;
}

interface Known<Found> {
  /** Null: there is no such row. */
  readonly found: Found | null;
  /** When the query was sent: what it found is at least as young as that. */
  readonly askedAtMs: number;
}

/**
 * Rows that say whether something in use still holds, as of at most `believedMsMax` ago. Ids that are
 * asked for while a query is under way go together in the next, so that many cost no more than one.
 */
export class BelievedRows<Found> {
  readonly #options: BelievedRowsOptions<Found>;
  #remembered: RecentCache<string, Known<Found>>;
  #waiting = new Map<string, PromiseWithResolvers<Known<Found>>>();
  #isAsking = false;

  constructor(options: BelievedRowsOptions<Found>) {
    this.#options = options;
    this.#remembered = new RecentCache(options.cachedMax);
  }

  /** The row, as of at most `believedMsMax` ago; null: there is none. Throws what `find` throws. */
  async believed(id: string): Promise<Found | null> {
    const { now, freshMs, believedMsMax } = this.#options;
    const known = this.#remembered.get(id);
    const ageMs = known === undefined ? Infinity : now() - known.askedAtMs;
    if (known === undefined || ageMs < 0 || ageMs > believedMsMax) {
      return (await this.#ask(id)).found;
    }
    // A failure leaves what is known, until nobody may believe it any more.
    if (ageMs > freshMs) this.#ask(id).catch(() => {});
    return known.found;
  }

  /** Drops all that is remembered, so that a change made here holds at once here. */
  invalidate(): void {
    this.#remembered = new RecentCache(this.#options.cachedMax);
  }

  async #ask(id: string): Promise<Known<Found>> {
    // What was asked before `invalidate` is not for those who come after it.
    const into = this.#remembered;
    let asked = this.#waiting.get(id);
    if (asked === undefined) {
      asked = Promise.withResolvers();
      this.#waiting.set(id, asked);
      if (!this.#isAsking) void this.#run();
    }
    const known = await asked.promise;
    into.set(id, known);
    return known;
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    // Those of one turn of the event loop go together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = this.#waiting;
      this.#waiting = new Map();
      try {
        const askedAtMs = this.#options.now();
        const rows = await this.#options.find([...batch.keys()]);
        for (const [id, { resolve }] of batch) resolve({ found: rows.get(id) ?? null, askedAtMs });
      } catch (error) {
        for (const { reject } of batch.values()) reject(error);
      }
    }
    this.#isAsking = false;
  }
}
