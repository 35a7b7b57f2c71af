import { yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { shared } from "../timelines/shared_memory.ts";
import { type Decimal, decimalOf } from "./decimal_sum.ts";
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

/** Its values as they are summed; null: no number. */
export function decimalsOf({ numbers, wholes, exponents, digits }: NumberColumn) {
  return Array.from(numbers, (number, code): Decimal | null => {
    if (Number.isNaN(number)) return null;
    const whole = wholes[code]!;
    return {
      number,
      whole,
      digits: digits.get(code) ?? String(whole),
      exponent: exponents[code]!,
    };
  });
}

async function numbersOf(
  { places, codes, values }: PropertyColumn,
  take: (bytes: number) => SharedArrayBuffer,
): Promise<NumberColumn> {
  const numbers = new Float64Array(values.length).fill(NaN);
  const wholes = new Float64Array(values.length);
  const exponents = new Int32Array(values.length);
  const digits = new Map<number, string>();
  const turn = yielding();
  for (let code = 0; code < values.length; code++) {
    if (code % VALUES_UNTIMED === 0) await turn();
    const decimal = decimalOf(values[code]!);
    if (decimal === null) continue;
    numbers[code] = decimal.number;
    wholes[code] = decimal.whole;
    exponents[code] = decimal.exponent;
    if (!Number.isSafeInteger(decimal.whole)) digits.set(code, decimal.digits);
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
