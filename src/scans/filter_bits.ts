import {
  type Field,
  type Filter,
  isLazyField,
  isSessionField,
  propertyOf,
} from "../query/filters.ts";

/** Filter bits of one word: an Int32 without its sign bit. */
export const WORD_BITS = 31;

/**
 * Whether a filter on the field needs a filter bit: fields of the event's session, titles, referrers
 * and properties do.
 */
export function isByBits(field: Field): boolean {
  return propertyOf(field) !== null || isLazyField(field) || isSessionField(field);
}

/** A text that is equal for filters with the same condition. */
export const filterName = ({ field, op, values }: Filter): string =>
  JSON.stringify([field, op, values]);

/**
 * Numbers the filters that need a bit of each event. Up to `WORD_BITS` bits are in the event's number
 * of the column `filterBits`; where there are more, that number is the event's place in the words of
 * the scanned part.
 */
export class FilterBits {
  /** The filters that have a bit, by `filterName`; those of a field have adjacent ones. */
  readonly filters: ReadonlyMap<string, Filter>;
  readonly #bitOf: ReadonlyMap<string, number>;

  constructor(filters: readonly Filter[]) {
    const byField = Map.groupBy(
      filters.filter((filter) => isByBits(filter.field)),
      ({ field }) => field,
    );
    this.filters = new Map(
      [...byField.values()].flat().map((filter) => [filterName(filter), filter]),
    );
    this.#bitOf = new Map([...this.filters.keys()].map((name, bit) => [name, bit]));
  }

  get count(): number {
    return this.filters.size;
  }

  /** Whether the bits are in words. */
  get isWide(): boolean {
    return this.count > WORD_BITS;
  }

  /**
   * Returns, by word, the bits that an event must have to pass those of the filters that need one.
   * @throws Error where such a filter has no bit
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
