const SLOTS_FIRST = 1_024;

/** Spreads a number over all 32 bits, since the last bits choose the slot. */
export function spread(value: number): number {
  let mixed = Math.imul(value ^ value >>> 16, 0x45d9f3b);
  mixed = Math.imul(mixed ^ mixed >>> 16, 0x45d9f3b);
  return (mixed ^ mixed >>> 16) >>> 0;
}

/**
 * A hash table of places in columns: eight to sixteen bytes a place. The owner keeps the values, hashes them
 * and compares them.
 */
export class PlaceIndex {
  /** Each slot holds a place plus one; 0: none. At most half of the slots are taken. */
  #slots = new Int32Array(SLOTS_FIRST);
  #size = 0;

  constructor(readonly hashAt: (place: number) => number) {}

  /** Returns the place for which `isMeant` holds; else adds `fresh` as the place of this hash, and returns it. */
  placeOf(hash: number, isMeant: (place: number) => boolean, fresh: number): number {
    // Grows before the search: the owner has not filled the place `fresh` yet, so it cannot be hashed.
    if (2 * this.#size >= this.#slots.length) this.#grow();
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = slot + 1 & mask) {
      const place = this.#slots[slot]! - 1;
      if (isMeant(place)) return place;
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
