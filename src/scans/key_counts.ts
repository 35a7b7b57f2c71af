/** The least slots per key, so that few keys collide. */
const SLOTS_PER_KEY = 2;
const SLOTS_MIN = 1_024;
/** Keys are multiplied by it, so that keys which are close together spread over all slots (Knuth, 6.4). */
const SPREAD = 0x9e3779b1;

/** How often each key occurred; only keys that did. */
export interface CountedKeys {
  readonly keys: Int32Array;
  readonly counts: Int32Array;
}

/**
 * Counts keys from 0 to before 2^31 - 1 in a hash table with open addressing: memory grows with the distinct
 * keys that occur, not with the largest key.
 */
export class KeyCounts {
  /** A power of two. */
  #slots = SLOTS_MIN;
  /** One more than the key; 0: the slot is free. */
  #keys: Int32Array;
  #counts: Int32Array;
  #size = 0;

  /** @param keys about how many distinct keys will occur */
  constructor(keys = 0) {
    while (keys * SLOTS_PER_KEY > this.#slots) this.#slots *= 2;
    this.#keys = new Int32Array(this.#slots);
    this.#counts = new Int32Array(this.#slots);
  }

  /** How many distinct keys occurred. */
  get size(): number {
    return this.#size;
  }

  add(key: number, count = 1): void {
    let slot = Math.imul(key, SPREAD) & (this.#slots - 1);
    while (this.#keys[slot] !== key + 1) {
      if (this.#keys[slot] === 0) {
        this.#keys[slot] = key + 1;
        this.#size++;
        break;
      }
      slot = (slot + 1) & (this.#slots - 1);
    }
    this.#counts[slot]! += count;
    if (this.#size * SLOTS_PER_KEY > this.#slots) this.#grow();
  }

  addAll({ keys, counts }: CountedKeys): void {
    for (let i = 0; i < keys.length; i++) this.add(keys[i]!, counts[i]);
  }

  result(): CountedKeys {
    const keys = new Int32Array(this.#size);
    const counts = new Int32Array(this.#size);
    let at = 0;
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#keys[slot] === 0) continue;
      keys[at] = this.#keys[slot]! - 1;
      counts[at++] = this.#counts[slot]!;
    }
    return { keys, counts };
  }

  #grow(): void {
    const [keys, counts] = [this.#keys, this.#counts];
    this.#slots *= 2;
    this.#keys = new Int32Array(this.#slots);
    this.#counts = new Int32Array(this.#slots);
    this.#size = 0;
    for (let slot = 0; slot < keys.length; slot++) {
      if (keys[slot] !== 0) this.add(keys[slot]! - 1, counts[slot]);
    }
  }
}

/** Adds up two counts. */
export function addKeys(some: CountedKeys, more: CountedKeys): CountedKeys {
  const all = new KeyCounts(some.keys.length + more.keys.length);
  all.addAll(some);
  all.addAll(more);
  return all.result();
}
