/** The most different links that one scan counts: 4 MB. */
export const LINKS_COUNTED_MAX = 2 ** 18;
/** The least slots per link, so that few links collide. */
const SLOTS_PER_LINK = 2;
const SLOTS_MIN = 1_024;
const KEYS_MAX = 2 ** 31;
/** Keys are multiplied by it, so that keys which are close together spread over all slots (Knuth, 6.4). */
const SPREAD = 0x9e3779b1;

/** How many ways go over each link; only links that some way goes over. */
export interface CountedKeys {
  readonly keys: Int32Array;
  readonly counts: Int32Array;
}

/** The links that are possible. */
export interface LinkSpace {
  readonly steps: number;
  /** All codes are below it; it stands for the end of a way. */
  readonly codes: number;
  /** See `LINKS_COUNTED_MAX`. */
  readonly linksMax: number;
}

/** Returns the key of a link: its index among all possible links; steps and codes count from 0. */
export function keyOf({ codes }: LinkSpace, step: number, from: number, to: number): number {
  return (step * codes + from) * (codes + 1) + to;
}

/** Returns the link of a key. */
export function linkOf(
  { codes }: LinkSpace,
  key: number,
): [step: number, from: number, to: number] {
  const place = Math.floor(key / (codes + 1));
  return [Math.floor(place / codes), place % codes, key % (codes + 1)];
}

/** Tells whether all keys fit in 32 bits. Where they do not, the second pass counts links. */
export function hasKeys({ steps, codes, linksMax }: LinkSpace): boolean {
  return linksMax > 0 && steps * codes * (codes + 1) < KEYS_MAX;
}

/** Counts links by key in a hash table with open addressing; it stops at too many different links. */
export class LinkCounts {
  readonly #linksMax: number;
  /** A power of two. */
  #slots = SLOTS_MIN;
  /** One more than the key; 0: the slot is free. */
  #keys = new Int32Array(SLOTS_MIN);
  #counts = new Int32Array(SLOTS_MIN);
  #size = 0;
  #isOver: boolean;

  constructor(space: LinkSpace) {
    this.#linksMax = space.linksMax;
    this.#isOver = !hasKeys(space);
  }

  add(key: number, ways = 1): void {
    if (this.#isOver) return;
    let slot = Math.imul(key, SPREAD) & (this.#slots - 1);
    while (this.#keys[slot] !== key + 1) {
      if (this.#keys[slot] === 0) {
        this.#keys[slot] = key + 1;
        this.#size++;
        break;
      }
      slot = (slot + 1) & (this.#slots - 1);
    }
    this.#counts[slot]! += ways;
    if (this.#size * SLOTS_PER_LINK > this.#slots) this.#grow();
  }

  /** Returns the counts; null: there were too many different links. */
  result(): CountedKeys | null {
    if (this.#isOver) return null;
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
    if (this.#size > this.#linksMax) {
      this.#isOver = true;
      this.#keys = this.#counts = new Int32Array(0);
      return;
    }
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

/** Adds up two counts; null where there are too many different links. */
export function addLinks(
  space: LinkSpace,
  some: CountedKeys | null,
  more: CountedKeys | null,
): CountedKeys | null {
  if (some === null || more === null) return null;
  const all = new LinkCounts(space);
  for (const { keys, counts } of [some, more]) {
    for (let i = 0; i < keys.length; i++) all.add(keys[i]!, counts[i]);
  }
  return all.result();
}
