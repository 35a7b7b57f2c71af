import { yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { shared } from "../timelines/shared_memory.ts";
import { type Decimal, decimalOf, decimalOfNumber } from "./decimal_sum.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";

/** Values between two looks at the clock. */
const VALUES_UNTIMED = 1_000;

/** A property's numbers at a segment's events, for every thread. */
export interface NumberColumn {
  /** The events that have the property, ascending, and of each which of the values is its. */
  readonly places: Uint32Array;
  readonly codes: Uint32Array;
  /** Of each value the number, NaN where it is none, and its digits times a power of ten. */
  readonly numbers: Float64Array;
  readonly wholes: Float64Array;
  readonly exponents: Int32Array;
  /** The digits of those whose whole number is not exact. */
  readonly digits: ReadonlyMap<number, string>;
}

/** The name of the column of a property's numbers. */
export function numbersName(key: string): string {
  return `numbers of ${key}`;
}

/** A value as it is summed; null: no number. */
export function decimalAt(
  { numbers, wholes, exponents, digits }: NumberColumn,
  code: number,
): Decimal | null {
  const number = numbers[code]!;
  if (Number.isNaN(number)) return null;
  return {
    number,
    whole: wholes[code]!,
    digits: digits.get(code) ?? null,
    exponent: exponents[code]!,
  };
}

async function numbersOf(
  column: PropertyColumn,
  take: (bytes: number) => SharedArrayBuffer,
): Promise<NumberColumn> {
  const { places, codes, texts, size } = column;
  const numbers = new Float64Array(size).fill(NaN);
  const wholes = new Float64Array(size);
  const exponents = new Int32Array(size);
  const digits = new Map<number, string>();
  const set = (code: number, decimal: Decimal | null) => {
    if (decimal === null) return;
    numbers[code] = decimal.number;
    wholes[code] = decimal.whole;
    exponents[code] = decimal.exponent;
    if (decimal.digits !== null) digits.set(code, decimal.digits);
  };
  const turn = yielding();
  for (let code = 0; code < size; code++) {
    if (code % VALUES_UNTIMED === 0) await turn();
    set(
      code,
      code < texts.length ? decimalOf(texts[code]!) : decimalOfNumber(column.numberAt(code)),
    );
  }
  return { ...shared(take, { places, codes, numbers, wholes, exponents }), digits };
}

/** Has the numbers of a property, which the read asked for, stand on the segments. */
export function prepareNumbers({ prepare }: FilteredTimelines, key: string): void {
  prepare(async ({ segments, memory }) => {
    for (const segment of segments) {
      segment.lazies.set(numbersName(key), await numbersOf(segment.property(key), memory.take));
    }
  });
}
