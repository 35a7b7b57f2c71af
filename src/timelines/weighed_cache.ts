/** Values in memory, at most `bytesMax` bytes of them: those used least recently go first. */
export class WeighedCache<K, V> {
  readonly #bytesMax: number;
  readonly #bytesOf: (value: V) => number;
  /** In the order of use, the latest last. */
  readonly #values = new Map<K, V>();
  #bytes = 0;

  readonly #dropped: (value: V) => void;

  /** @param dropped is told of each value that is no longer kept */
  constructor(
    bytesMax: number,
    bytesOf: (value: V) => number,
    dropped: (value: V) => void = () => {},
  ) {
    this.#bytesMax = bytesMax;
    this.#bytesOf = bytesOf;
    this.#dropped = dropped;
  }

  /** Bytes of what is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** All keys and values; that is no use of them. */
  entries(): IterableIterator<[K, V]> {
    return this.#values.entries();
  }

  /** The value, if it is kept; that is a use of it. */
  get(key: K): V | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /**
   * Keeps a value, in place of the one that had its key.
   * @returns false where it alone is too large, and so is not kept
   */
  set(key: K, value: V): boolean {
    const bytes = this.#bytesOf(value);
    if (bytes > this.#bytesMax) return false;
    const former = this.#values.get(key);
    if (former !== undefined) this.#drop(key, former);
    this.#values.set(key, value);
    this.#bytes += bytes;
    for (const [oldestKey, oldest] of this.#values) {
      if (this.#bytes <= this.#bytesMax) return true;
      this.#drop(oldestKey, oldest);
    }
    return true;
  }

  #drop(key: K, value: V): void {
    this.#values.delete(key);
    this.#bytes -= this.#bytesOf(value);
    this.#dropped(value);
  }
}
