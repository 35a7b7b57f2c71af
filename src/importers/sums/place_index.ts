const SLOTS_FIRST = 1_024;

/** Spreads a number over all 32 bits, since the last bits choose the slot. */
export function spread(value: number): number {
  let mixed = Math.imul(value ^ value >>> 16, 0x45d9f3b);
  mixed = Math.imul(mixed ^ mixed >>> 16, 0x45d9f3b);
  return (mixed ^ mixed >>> 16) >>> 0;
}

/**
 * A hash table of places in columns, with eight to sixteen bytes a place. The values themselves are kept, hashed
 * and compared by the caller.
 */
export class PlaceIndex {
  /** Each slot holds a place plus one; 0: none. At most half of the slots are taken. */
  #slots = new Int32Array(SLOTS_FIRST);
  #size = 0;

  constructor(readonly hashAt: (place: number) => number) {}

  /** Returns the place of this hash for which `isSame` is true; if there is none, adds and returns `fresh`. */
  placeOf(hash: number, isSame: (place: number) => boolean, fresh: number): number {
    // Grows before the search, as the caller has no value at `fresh` yet that could be hashed.
    if (2 * this.#size >= this.#slots.length) this.#grow();
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = slot + 1 & mask) {
      const place = this.#slots[slot]! - 1;
      if (isSame(place)) return place;
    }
    this.#slots[slot] = fresh + 1;
    this.#size++;
    return fresh;
  }

  #grow(): void {
    const taken = this.#slots;
    this.#slots = new Int32Array(2 * taken.length);
    const mask = this.#slots.length - 1;
    for (const entry of taken) {
      if (entry === 0) continue;
      let slot = this.hashAt(entry - 1) & mask;
      while (this.#slots[slot] !== 0) slot = slot + 1 & mask;
      this.#slots[slot] = entry;
    }
  }
}
