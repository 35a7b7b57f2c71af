/**
 * A bounded map of recently used entries that can be computed again.
 *
 * It has two generations instead of a list in order of use: a hit in the young one is a single lookup, and
 * only the first hit on an older entry moves it. When the young generation is full, it becomes the old one,
 * and entries of the previous old one that were not used since are dropped. Every operation is O(1), and
 * once it is full, between half of `entriesMax` and all of it is kept. `undefined` cannot be stored.
 */
export class RecentCache<K, V> {
  readonly #generationMax: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** @throws RangeError unless `entriesMax` is a whole number of at least 2. */
  constructor(entriesMax: number) {
    if (!Number.isInteger(entriesMax) || entriesMax < 2) {
      throw new RangeError("a RecentCache holds at least 2 entries");
    }
    this.#generationMax = Math.floor(entriesMax / 2);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.#old.delete(key);
    if (this.#young.size >= this.#generationMax && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: K): boolean {
    const wasYoung = this.#young.delete(key);
    return this.#old.delete(key) || wasYoung;
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
