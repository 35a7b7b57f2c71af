import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import {
  inOrderOfPlaces,
  readIntegers,
  type StoredIntegers,
  writeIntegers,
} from "./integer_codec.ts";
import { readSqueezed, squeeze } from "./squeezed.ts";

/** Numbers with up to this many decimal places are stored as scaled integers. */
const DIGITS_MAX = 9;
/** Stands in place of the number of digits where numbers are stored as doubles. */
const DOUBLES = 255;
const DOUBLE_BYTES = 8;

/** Scales numbers by 10^digits to integers; null where one is not exactly representable that way. */
function scaled(values: Float64Array, digits: number): Int32Array | null {
  const scale = 10 ** digits;
  const whole = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // `| 0` limits to 32 bits; Object.is also refuses -0, which integers do not have.
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

function readDoubles(reader: ByteReader, length: number): Float64Array {
  const bytes = new Uint8Array(DOUBLE_BYTES * length);
  for (let p = 0; p < DOUBLE_BYTES; p++) {
    const plane = readSqueezed(reader, length).bytes();
    for (let i = 0; i < length; i++) bytes[DOUBLE_BYTES * i + p] = plane[i]!;
  }
  return new Float64Array(bytes.buffer);
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

function doublesAt(reader: ByteReader, present: StoredIntegers, ranks: Uint32Array): Float64Array {
  const all = readDoubles(reader, countOf(present.bytes()));
  return Float64Array.from(ranks, (rank) => all[rank]!);
}

/** Puts the dense numbers, divided by `scale`, in the places that are marked as present; NaN elsewhere. */
function spread(
  isPresent: Int32Array | Uint8Array,
  dense: ArrayLike<number>,
  scale: number,
): Float64Array {
  const values = new Float64Array(isPresent.length).fill(NaN);
  for (let i = 0, next = 0; i < values.length; i++) {
    if (isPresent[i] === 1) values[i] = dense[next++]! / scale;
  }
  return values;
}

/** Reads the numbers at these places of what `writeNumbers` wrote. */
export function readNumbersAt(reader: ByteReader, places: Uint32Array): Float64Array {
  const present = readIntegers(reader);
  const isPresent = present.at(places);
  const digits = reader.u8();
  const presentPlaces = places.filter((_, i) => isPresent[i] === 1);
  if (presentPlaces.length === 0) return spread(isPresent, [], 1);
  const ranks = ranksAt(present, presentPlaces);
  return digits === DOUBLES
    ? spread(isPresent, doublesAt(reader, present, ranks), 1)
    : spread(isPresent, readIntegers(reader).at(ranks), 10 ** digits);
}

/** Reads all that `writeNumbers` wrote. */
export function readNumbers(reader: ByteReader): Float64Array {
  const present = readIntegers(reader).bytes();
  const digits = reader.u8();
  return digits === DOUBLES
    ? spread(present, readDoubles(reader, countOf(present)), 1)
    : spread(present, readIntegers(reader).all(), 10 ** digits);
}
