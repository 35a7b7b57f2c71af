import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import {
  inOrderOfPlaces,
  readIntegers,
  type StoredIntegers,
  writeIntegers,
} from "./integer_codec.ts";
import { bytesAt, readSqueezed, squeeze, type Squeezed } from "./squeezed.ts";

/** Numbers with up to this many decimal places are stored as scaled integers. */
const DIGITS_MAX = 9;
/** Written instead of the number of digits if numbers are stored as doubles. */
const DOUBLES = 255;
const DOUBLE_BYTES = 8;

/** Scales numbers by 10^digits to integers; null: one is not exactly representable that way. */
function scaled(values: Float64Array, digits: number): Int32Array | null {
  const scale = 10 ** digits;
  const whole = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // `| 0` cuts to 32 bits; Object.is also rejects -0, which integers do not have.
    const rounded = Math.round(value * scale) | 0;
    if (!Object.is(rounded / scale, value)) return null;
    whole[i] = rounded;
  }
  return whole;
}

function writeDoubles(writer: ByteWriter, values: Float64Array): void {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const plane = new Uint8Array(values.length);
  for (let p = 0; p < DOUBLE_BYTES; p++) {
    for (let i = 0; i < values.length; i++) plane[i] = bytes[DOUBLE_BYTES * i + p]!;
    squeeze(writer, plane);
  }
}

/** Writes numbers, NaN for none. Most have few decimal places and are stored as scaled integers. */
export function writeNumbers(writer: ByteWriter, values: Float64Array): void {
  const present = new Uint8Array(values.length);
  const presentValues = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    present[i] = 1;
    presentValues[count++] = value;
  }
  writeIntegers(writer, present);
  const dense = presentValues.subarray(0, count);
  for (let digits = 0; digits <= DIGITS_MAX; digits++) {
    const whole = scaled(dense, digits);
    if (whole === null) continue;
    writer.u8(digits);
    writeIntegers(writer, whole);
    return;
  }
  writer.u8(DOUBLES);
  writeDoubles(writer, dense);
}

/** Returns for each of these places how many numbers are present before it. */
function ranksAt(present: StoredIntegers, places: Uint32Array): Uint32Array {
  if (present.min === 1) return places;
  const isPresent = present.bytes();
  const ranks = new Uint32Array(places.length);
  let [before, at] = [0, 0];
  for (const i of inOrderOfPlaces(places)) {
    for (; at < places[i]!; at++) before += isPresent[at]!;
    ranks[i] = before;
  }
  return ranks;
}

const countOf = (isPresent: Uint8Array): number => isPresent.reduce((sum, one) => sum + one, 0);

/** The present numbers, without gaps, decoded on demand. */
interface DenseNumbers {
  /**
   * Returns the numbers with these ranks among the present ones; null: all, in memory that is overwritten when
   * further ones are decoded.
   */
  readonly at: (ranks: Uint32Array | null) => ArrayLike<number>;
  /** The divisor of each. */
  readonly scale: number;
}

function readDoubles(reader: ByteReader, countOfPresent: () => number): DenseNumbers {
  const planesOf = (count: number) =>
    Array.from({ length: DOUBLE_BYTES }, () => readSqueezed(reader, count));
  let planes: readonly Squeezed[] | null = null;
  const at = (ranks: Uint32Array | null): Float64Array => {
    planes ??= planesOf(countOfPresent());
    const count = ranks?.length ?? countOfPresent();
    const bytes = new Uint8Array(DOUBLE_BYTES * count);
    for (const [p, squeezed] of planes.entries()) {
      const plane = bytesAt(squeezed, ranks);
      for (let i = 0; i < count; i++) bytes[DOUBLE_BYTES * i + p] = plane[i]!;
    }
    return new Float64Array(bytes.buffer);
  };
  return { at, scale: 1 };
}

function readScaled(reader: ByteReader, digits: number): DenseNumbers {
  const whole = readIntegers(reader);
  return {
    at: (ranks) => ranks === null ? whole.decodedInScratch() : whole.at(ranks),
    scale: 10 ** digits,
  };
}

/** Puts the dense numbers, divided by `scale`, into the places marked as present; NaN elsewhere. */
function spread(
  isPresent: Int32Array | Uint8Array,
  dense: ArrayLike<number>,
  scale: number,
  into: Float64Array,
): void {
  for (let i = 0, next = 0; i < into.length; i++) {
    into[i] = isPresent[i] === 1 ? dense[next++]! / scale : NaN;
  }
}

/**
 * Reads what `writeNumbers` wrote.
 * @returns a function that writes the numbers of the events at some places, NaN for none; null: of all events
 */
export function readNumbers(reader: ByteReader) {
  const present = readIntegers(reader);
  const digits = reader.u8();
  const dense = digits === DOUBLES
    ? readDoubles(reader, () => countOf(present.bytes()))
    : readScaled(reader, digits);
  return (places: Uint32Array | null, into: Float64Array): void => {
    if (places === null) return spread(present.bytes(), dense.at(null), dense.scale, into);
    const isPresent = present.at(places);
    const presentPlaces = places.filter((_, i) => isPresent[i] === 1);
    const numbers = presentPlaces.length === 0 ? [] : dense.at(ranksAt(present, presentPlaces));
    spread(isPresent, numbers, dense.scale, into);
  };
}
