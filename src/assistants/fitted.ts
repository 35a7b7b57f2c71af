import { ASSISTANT_CUTS, ASSISTANT_ITEMS_WANTED, type CutBounds } from "./assistant_limits.ts";

/** A value cut to fit, and what was cut of it. */
export interface Fitted {
  /** Null: nothing of it fits. */
  readonly value: unknown;
  /**
   * The lists that were cut, by their place (`rows`, `series.points`): how many items are kept, of how many.
   * Places have at most three names, since visitors choose the names that are deeper.
   */
  readonly lists: ReadonlyMap<string, { readonly kept: number; readonly of: number }>;
  /** How many texts were cut, and how many objects lost members. */
  readonly texts: number;
  readonly objects: number;
  /** What they were cut to. */
  readonly bounds: CutBounds;
}

const PLACE_NAMES_MAX = 3;
const encoder = new TextEncoder();

const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;

/**
 * Returns a value as JSON. Invisible characters are written as escapes, so that people see all that a model
 * reads.
 */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /\p{Cf}/gu,
    (sign) => Array.from({ length: sign.length }, (_, i) => escaped(sign.charCodeAt(i))).join(""),
  );
}

/** Returns the bytes of a value as `plainJson` writes it, in UTF-8. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(plainJson(value)).length;
}

/** Cuts lists, texts and objects anywhere in a value, and records what it cuts. */
class Cutter {
  readonly lists = new Map<string, { kept: number; of: number }>();
  texts = 0;
  objects = 0;

  /** @param items the most items of each list, however deep it is */
  constructor(readonly items: number, readonly bounds: CutBounds) {}

  cut(value: unknown, place: readonly string[] = [], level = 0): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    if (level >= this.bounds.levels) {
      this.objects++;
      return "…";
    }
    return Array.isArray(value)
      ? this.#list(value, place, level + 1)
      : this.#object(value, place, level + 1);
  }

  #shortened(text: string): string {
    const { characters } = this.bounds;
    return text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}…`;
  }

  #text(text: string): string {
    const short = this.#shortened(text);
    if (short !== text) this.texts++;
    return short;
  }

  #object(value: object, place: readonly string[], level: number): unknown {
    const members = Object.entries(value);
    const kept = members.slice(0, this.bounds.members);
    if (kept.length < members.length) this.objects++;
    return Object.fromEntries(
      kept.map(([name, member]) => [
        this.#shortened(name),
        this.cut(member, place.length < PLACE_NAMES_MAX ? [...place, name] : place, level),
      ]),
    );
  }

  #list(list: readonly unknown[], place: readonly string[], level: number): unknown[] {
    const kept = list.slice(0, this.items);
    if (kept.length < list.length) {
      const key = place.join(".");
      const known = this.lists.get(key);
      // Of several lists at one place, the longest is recorded.
      if (known === undefined || known.of < list.length) {
        this.lists.set(key, { kept: kept.length, of: list.length });
      }
    }
    return kept.map((item) => this.cut(item, place, level));
  }
}

function cutTo(value: unknown, items: number, bounds: CutBounds): Fitted {
  const cutter = new Cutter(items, bounds);
  const cut = cutter.cut(value);
  const { lists, texts, objects } = cutter;
  return { value: cut, lists, texts, objects, bounds };
}

/** Returns the number of items of the longest list anywhere in a value. */
function longestList(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce((most, one) => Math.max(most, longestList(one)), own);
}

/**
 * Returns the most items of each list with which the value fits; 0: not even one does. The search starts from
 * below, so that nothing much larger than the bound is ever written.
 */
function itemsThatFit(value: unknown, bytesMax: number, bounds: CutBounds): number {
  const fits = (items: number) => jsonBytes(cutTo(value, items, bounds).value) <= bytesMax;
  if (!fits(1)) return 0;
  const most = Math.max(1, longestList(value));
  let fitting = 1;
  let beyond = 2;
  while (beyond <= most && fits(beyond)) [fitting, beyond] = [beyond, beyond * 2];
  beyond = Math.min(beyond, most + 1);
  while (beyond - fitting > 1) {
    const middle = (fitting + beyond) >> 1;
    if (fits(middle)) fitting = middle;
    else beyond = middle;
  }
  return fitting;
}

/**
 * Returns a JSON value of at most `bytesMax` bytes unchanged. Of a larger one, cuts every list to the same
 * number of items, the most that fit, and long texts and large objects; the beginning of each is kept.
 */
export function fitted(value: unknown, bytesMax: number): Fitted {
  const nothing = { lists: new Map(), texts: 0, objects: 0, bounds: ASSISTANT_CUTS[0]! };
  if (jsonBytes(value) <= bytesMax) return { ...nothing, value };
  let best = { items: 0, bounds: ASSISTANT_CUTS[0]! };
  for (const bounds of ASSISTANT_CUTS) {
    const items = itemsThatFit(value, bytesMax, bounds);
    // Texts are not cut for a few rows more.
    if (items >= 2 * best.items) best = { items, bounds };
    if (items >= ASSISTANT_ITEMS_WANTED) break;
  }
  if (best.items === 0) return { ...nothing, value: null };
  return cutTo(value, best.items, best.bounds);
}
