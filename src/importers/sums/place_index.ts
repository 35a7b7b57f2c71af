const SLOTS_FIRST = 1_024;

/** Spreads a number over all 32 bits, as its last ones choose the slot. */
export function spread(value: number): number {
  let mixed = Math.imul(value ^ value >>> 16, 0x45d9f3b);
  mixed = Math.imul(mixed ^ mixed >>> 16, 0x45d9f3b);
  return (mixed ^ mixed >>> 16) >>> 0;
}

/**
 * Finds places in columns by what stands there: a table of places by hash, eight to sixteen bytes for
 * each. The hash and the comparison are the owner's, who keeps the values.
 */
export class PlaceIndex {
  /** Each a place and one, 0: none. Never more than half of them are taken. */
  #slots = new Int32Array(SLOTS_FIRST);
  #size = 0;

  constructor(readonly hashAt: (place: number) => number) {}

  /** The place that `isMeant` says is the one; else `fresh`, which is kept as its place from now on. */
  placeOf(hash: number, isMeant: (place: number) => boolean, fresh: number): number {
    // Before, while all that it knows stands where it says.
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
