/** A cache, as a budget sees it. */
interface Evicting {
  readonly bytes: number;
  /** The use of what was used least recently; Infinity: nothing is kept. */
  readonly oldestUse: number;
  readonly evictOldest: () => void;
}

/** Bytes that several caches may take together: the least recently used of all is evicted first. */
export class CacheBudget {
  readonly #caches: Evicting[] = [];
  #uses = 0;

  constructor(readonly bytesMax: number) {}

  /** Bytes of what all of them keep. */
  get bytes(): number {
    return this.#caches.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  join(cache: Evicting): void {
    this.#caches.push(cache);
  }

  /** Returns the number of a new use, greater than that of any use before. */
  use(): number {
    return ++this.#uses;
  }

  /** Evicts until all fits. */
  fit(): void {
    for (let over = this.bytes - this.bytesMax; over > 0; over = this.bytes - this.bytesMax) {
      const oldest = this.#caches.reduce((a, b) => a.oldestUse <= b.oldestUse ? a : b);
      oldest.evictOldest();
    }
  }
}

type Kept<V> = { readonly value: V; readonly bytes: number; readonly use: number };

/**
 * Values in memory: at most `bytesMax` bytes, and no more than the budget together with other caches. The
 * least recently used are evicted first.
 */
export class WeighedCache<K, V> implements Evicting {
  /** In the order of use, the latest last. */
  readonly #values = new Map<K, Kept<V>>();
  #bytes = 0;

  /**
   * @param dropped called with each value that is no longer kept
   * @param budget shared with other caches; absent: this cache has its own
   */
  constructor(
    private readonly bytesMax: number,
    private readonly bytesOf: (value: V) => number,
    private readonly dropped: (value: V) => void = () => {},
    private readonly budget = new CacheBudget(bytesMax),
  ) {
    budget.join(this);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get oldestUse(): number {
    const [oldest] = this.#values.values();
    return oldest?.use ?? Infinity;
  }

  /** Yields all keys and values, which does not count as a use. */
  *entries(): Generator<[K, V]> {
    for (const [key, { value }] of this.#values) yield [key, value];
  }

  /** Returns the value, if it is kept, which counts as a use. */
  get(key: K): V | undefined {
    const kept = this.#values.get(key);
    if (kept === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, { ...kept, use: this.budget.use() });
    return kept.value;
  }

  /**
   * Keeps a value, in place of the one with its key.
   * @returns false if it is too large by itself, and so is not kept
   */
  set(key: K, value: V): boolean {
    const bytes = this.bytesOf(value);
    if (bytes > Math.min(this.bytesMax, this.budget.bytesMax)) return false;
    if (this.#values.has(key)) this.#drop(key);
    this.#values.set(key, { value, bytes, use: this.budget.use() });
    this.#bytes += bytes;
    while (this.#bytes > this.bytesMax) this.evictOldest();
    this.budget.fit();
    return true;
  }

  /** Evicts the value that was used least recently; there must be one. */
  evictOldest(): void {
    const [oldest] = this.#values.keys();
    this.#drop(oldest!);
  }

  #drop(key: K): void {
    const { value, bytes } = this.#values.get(key)!;
    this.#values.delete(key);
    this.#bytes -= bytes;
    this.dropped(value);
  }
}
