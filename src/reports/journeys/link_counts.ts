import { addKeys, type CountedKeys, KeyCounts } from "../../scans/key_counts.ts";

/** The most distinct links that one scan counts, in 4 MB. */
export const LINKS_COUNTED_MAX = 2 ** 18;
const KEYS_MAX = 2 ** 31;

/** The possible links. */
export interface LinkSpace {
  readonly steps: number;
  /** All codes are below this number, which stands for the end of a way. */
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

/** Whether all keys fit in 32 bits; if not, the second pass counts links. */
export function hasKeys({ steps, codes, linksMax }: LinkSpace): boolean {
  return linksMax > 0 && steps * codes * (codes + 1) < KEYS_MAX;
}

/** Counts by key how many ways have each link; gives up at too many distinct links. */
export class LinkCounts {
  readonly #linksMax: number;
  /** Null: there are too many distinct links. */
  #counts: KeyCounts | null;

  constructor(space: LinkSpace) {
    this.#linksMax = space.linksMax;
    this.#counts = hasKeys(space) ? new KeyCounts() : null;
  }

  add(key: number): void {
    const counts = this.#counts;
    if (counts === null) return;
    counts.add(key);
    if (counts.size > this.#linksMax) this.#counts = null;
  }

  /** Returns the counts; null: there were too many distinct links. */
  result(): CountedKeys | null {
    return this.#counts?.result() ?? null;
  }
}

/** Adds up two counts; null: there are too many distinct links. */
export function addLinks(
  { linksMax }: LinkSpace,
  some: CountedKeys | null,
  more: CountedKeys | null,
): CountedKeys | null {
  if (some === null || more === null) return null;
  const all = addKeys(some, more);
  return all.keys.length > linksMax ? null : all;
}
