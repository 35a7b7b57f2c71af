import { RecentCache } from "../recent_cache.ts";

interface CachedRowsOptions<Found> {
  /** Reads the rows with these ids from the database. Throws `DatabaseUnavailable`. */
  readonly find: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>;
  readonly now: () => number;
  /** An older row is refreshed in the background. */
  readonly freshMs: number;
  /** An older row is not used: the caller waits for a new one. */
  readonly cachedMsMax: number;
  /** How many rows are cached. */
  readonly cachedMax: number;
}

interface Known<Found> {
  /** Null: there is no such row. */
  readonly found: Found | null;
  /** When the query was sent: the row is no older than that. */
  readonly askedAtMs: number;
}

/**
 * A cache of rows that say whether a session, a token or a share is still valid. Ids that are asked for while a
 * query runs are gathered into the next one, so that many cost no more than one.
 */
export class CachedRows<Found> {
  readonly #options: CachedRowsOptions<Found>;
  #cache: RecentCache<string, Known<Found>>;
  #waiting = new Map<string, PromiseWithResolvers<Known<Found>>>();
  #isAsking = false;

  constructor(options: CachedRowsOptions<Found>) {
    this.#options = options;
    this.#cache = new RecentCache(options.cachedMax);
  }

  /** Returns the row as of at most `cachedMsMax` ago; null: there is none. Throws what `find` throws. */
  async get(id: string): Promise<Found | null> {
    const { now, freshMs, cachedMsMax } = this.#options;
    const known = this.#cache.get(id);
    const ageMs = known === undefined ? Infinity : now() - known.askedAtMs;
    if (known === undefined || ageMs < 0 || ageMs > cachedMsMax) {
      return (await this.#ask(id)).found;
    }
    // After a failure, the known row is used until it is too old.
    if (ageMs > freshMs) this.#ask(id).catch(() => {});
    return known.found;
  }

  /** Empties the cache, so that a change made by this server takes effect here at once. */
  invalidate(): void {
    this.#cache = new RecentCache(this.#options.cachedMax);
  }

  async #ask(id: string): Promise<Known<Found>> {
    // After an `invalidate` meanwhile, the row goes to the old cache, which nobody reads any more.
    const cache = this.#cache;
    let asked = this.#waiting.get(id);
    if (asked === undefined) {
      asked = Promise.withResolvers();
      this.#waiting.set(id, asked);
      if (!this.#isAsking) void this.#run();
    }
    const known = await asked.promise;
    cache.set(id, known);
    return known;
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    // Gathers the ids of one turn of the event loop.
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
