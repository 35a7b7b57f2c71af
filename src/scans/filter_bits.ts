import {
  type Field,
  type Filter,
  isLazyField,
  isSessionField,
  propertyOf,
} from "../query/filters.ts";

/** Bits of one number, and of each word of more: as many as numbers have whose sign says nothing. */
export const WORD_BITS = 31;

/**
 * Whether a filter on the field is told by filter bits: on a title, a referrer, a property, or what the
 * event's session is.
 */
export function isByBits(field: Field): boolean {
  return propertyOf(field) !== null || isLazyField(field) || isSessionField(field);
}

/** The same for filters that ask the same. */
export const filterName = ({ field, op, values }: Filter): string =>
  JSON.stringify([field, op, values]);

/**
 * Which bits say whether an event passes the filters that are told so. Up to `WORD_BITS` of them are
 * its own bits; of more, it holds its place in the words of the part that is scanned.
 */
export class FilterBits {
  /** The filters that have a bit, by `filterName`. */
  readonly filters: ReadonlyMap<string, Filter>;
  readonly #bitOf: ReadonlyMap<string, number>;

  constructor(filters: readonly Filter[]) {
    const told = filters.filter(({ field }) => isByBits(field));
    this.filters = new Map(told.map((filter) => [filterName(filter), filter]));
    this.#bitOf = new Map([...this.filters.keys()].map((name, bit) => [name, bit]));
  }

  get count(): number {
    return this.filters.size;
  }

  get isWide(): boolean {
    return this.count > WORD_BITS;
  }

  /**
   * By word, the bits that an event must have to pass these filters, those that are told so.
   * @throws Error where one of them has no bit
   */
  wanted(filters: readonly Filter[]): Int32Array {
    const wanted = new Int32Array(Math.max(1, Math.ceil(this.count / WORD_BITS)));
    for (const filter of filters.filter(({ field }) => isByBits(field))) {
      const bit = this.#bitOf.get(filterName(filter));
      if (bit === undefined) {
        throw new Error(`Timelines were loaded without bits for ${filterName(filter)}`);
      }
      wanted[Math.floor(bit / WORD_BITS)]! |= 1 << bit % WORD_BITS;
    }
    return wanted;
  }
}
