import { yielding } from "../store/yielding.ts";
import { placeFrom } from "../timelines/ascending.ts";
import type { KeptColumn } from "../timelines/lazy_loader.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { shared } from "../timelines/shared_memory.ts";
import { type Decimal, decimalOf, decimalOfNumber } from "./decimal_sum.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";

/** About how many bytes the digits take of a number that is no exact double. */
const DIGITS_BYTES = 64;

/** Values between two checks of the clock. */
const VALUES_UNTIMED = 1_000;

/** The numbers of a property at a segment's events, in shared memory. */
export interface NumberColumn extends KeptColumn {
  /** The places of the events that have the property, ascending. */
  readonly places: Uint32Array;
  /** By event: the code of its value. */
  readonly codes: Uint32Array;
  /** By code: the value as a number; NaN: it is not one. */
  readonly numbers: Float64Array;
  /** By code: the value as a whole number times a power of ten. */
  readonly wholes: Float64Array;
  readonly exponents: Int32Array;
  /** The digits of the codes whose whole number is not exact. */
  readonly digits: ReadonlyMap<number, string>;
}

/** Returns the name of the lazy column that holds a property's numbers. */
export function numbersName(key: string): string {
  return `numbers of ${key}`;
}

/** Returns a value as a decimal to sum; null: it is not a number. */
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

/** Returns the number of a property at an event; null: there is none. Its numbers must be prepared: see `prepareNumbers`. */
export function numberAt(segment: LoadedSegment, key: string, at: number): Decimal | null {
  const column = segment.column(numbersName(key)) as NumberColumn;
  const entry = placeFrom(column.places, at);
  return column.places[entry] === at ? decimalAt(column, column.codes[entry]!) : null;
}

async function numbersOf(
  column: PropertyColumn,
  take: (bytes: number) => SharedArrayBuffer,
): Promise<NumberColumn> {
  const { places, texts } = column;
  // A slice's events use few of the segment's values; only those are read.
  const used = column.codes.length < column.size ? [...new Set(column.codes)] : null;
  const placeOf = new Map(used?.map((code, place) => [code, place]));
  const codes = used === null ? column.codes : column.codes.map((code) => placeOf.get(code)!);
  const size = used?.length ?? column.size;
  const numbers = new Float64Array(size).fill(NaN);
  const wholes = new Float64Array(size);
  const exponents = new Int32Array(size);
  const digits = new Map<number, string>();
  const valueAt = (code: number) =>
    code < texts.length ? decimalOf(texts[code]!) : decimalOfNumber(column.numberAt(code));
  const turn = yielding();
  for (let place = 0; place < size; place++) {
    if (place % VALUES_UNTIMED === 0) await turn();
    const decimal = valueAt(used?.[place] ?? place);
    if (decimal === null) continue;
    numbers[place] = decimal.number;
    wholes[place] = decimal.whole;
    exponents[place] = decimal.exponent;
    if (decimal.digits !== null) digits.set(place, decimal.digits);
  }
  const columns = shared(take, { places, codes, numbers, wholes, exponents });
  const bytes = columns.numbers.buffer.byteLength + DIGITS_BYTES * digits.size;
  return { ...columns, digits, bytes, memory: columns.numbers };
}

/**
 * Adds the numbers of a property to each part's segments; the read must have loaded the property. They are
 * cached like other lazy columns, so that later reads do not parse them again.
 */
export function prepareNumbers({ prepare }: FilteredTimelines, key: string): void {
  prepare(async ({ segments, addColumn }) => {
    for (const segment of segments) {
      await addColumn(segment, numbersName(key), (take) => numbersOf(segment.property(key), take));
    }
  });
}
