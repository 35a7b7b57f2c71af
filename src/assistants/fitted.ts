import { ASSISTANT_CUTS, ASSISTANT_ITEMS_WANTED, type CutBounds } from "./assistant_limits.ts";

/** What a value was cut to, so that it fits. */
export interface Fitted {
  /** Null: nothing of it fits. */
  readonly value: unknown;
  /**
   * The lists that were cut, by their place (`rows`, `series.points`): how many items are left, of how
   * many. What lies deeper than three names counts with what holds it: there visitors choose the names.
   */
  readonly lists: ReadonlyMap<string, { readonly kept: number; readonly of: number }>;
  /** How many texts were cut, and how many objects lost members. */
  readonly texts: number;
  readonly objects: number;
  /** To what they were cut. */
  readonly bounds: CutBounds;
}

const PLACE_NAMES_MAX = 3;
const encoder = new TextEncoder();

const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;

/**
 * A value as JSON. Characters that print nothing are written as escapes, so that a person who looks at
 * it sees all that a model does.
 */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /\p{Cf}/gu,
    (sign) => Array.from({ length: sign.length }, (_, i) => escaped(sign.charCodeAt(i))).join(""),
  );
}

/** Bytes of a value as `plainJson` writes it, in UTF-8. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(plainJson(value)).length;
}

/** Cuts lists, texts and objects on the way through a value, and keeps account of it. */
class Cutter {
  readonly lists = new Map<string, { kept: number; of: number }>();
  texts = 0;
  objects = 0;

  /** `items`: of each list, however deep it stands. */
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
      const told = place.join(".");
      const known = this.lists.get(told);
      // Of several lists at one place the longest tells how much there is.
      if (known === undefined || known.of < list.length) {
        this.lists.set(told, { kept: kept.length, of: list.length });
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

/** How many items the longest list has that stands anywhere in a value. */
function longestList(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce((most, one) => Math.max(most, longestList(one)), own);
}

/**
 * The most items of every list with which the value fits; 0: not even one does. It is looked for from
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
 * A value of JSON as it stands where it has at most so many bytes; else with every list cut to the same
 * number of items, the most that fit, and long texts and large objects cut. The beginning of each stays.
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
