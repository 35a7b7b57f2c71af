import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import { readIntegers, type StoredIntegers, writeIntegers } from "./integer_codec.ts";
import { readSqueezed, squeeze } from "./squeezed.ts";

/** Digits behind the point that numbers are counted in as whole ones. */
const DIGITS_MAX = 9;
/** In place of digits: as doubles. */
const DOUBLES = 255;
const DOUBLE_BYTES = 8;

/** As whole numbers with so many digits behind the point; null where that is not exactly them. */
function scaled(values: Float64Array, digits: number): Int32Array | null {
  const scale = 10 ** digits;
  const whole = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // Of 32 bits, and without -0, which whole numbers do not have.
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

/** Numbers of any kind, NaN where there is none: mostly few digits, which are stored as whole numbers. */
export function writeNumbers(writer: ByteWriter, values: Float64Array): void {
  const present = new Uint8Array(values.length);
  const all = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    present[i] = 1;
    all[count++] = value;
  }
  writeIntegers(writer, present);
  const dense = all.subarray(0, count);
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

/** Of each of these places how many numbers there are before it. */
function ranksAt(present: StoredIntegers, places: Uint32Array): Uint32Array {
  if (present.min === 1) return places;
  const there = present.whole();
  const ranks = new Uint32Array(places.length);
  const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
  let [before, at] = [0, 0];
  for (const i of order) {
    for (; at < places[i]!; at++) before += there[at]!;
    ranks[i] = before;
  }
  return ranks;
}

function doublesAt(reader: ByteReader, present: StoredIntegers, ranks: Uint32Array): Float64Array {
  const all = readDoubles(reader, present.whole().reduce((sum, one) => sum + one, 0));
  return Float64Array.from(ranks, (rank) => all[rank]!);
}

/** The numbers at these places, of those that `writeNumbers` wrote. */
export function readNumbersAt(reader: ByteReader, places: Uint32Array): Float64Array {
  const present = readIntegers(reader);
  const isThere = present.at(places);
  const digits = reader.u8();
  const values = new Float64Array(places.length).fill(NaN);
  const there = places.filter((_, i) => isThere[i] === 1);
  if (there.length === 0) return values;
  const ranks = ranksAt(present, there);
  const isDouble = digits === DOUBLES;
  const dense = isDouble ? doublesAt(reader, present, ranks) : readIntegers(reader).at(ranks);
  const scale = isDouble ? 1 : 10 ** digits;
  for (let i = 0, next = 0; i < places.length; i++) {
    if (isThere[i] === 1) values[i] = dense[next++]! / scale;
  }
  return values;
}

/** What `writeNumbers` wrote. */
export function readNumbers(reader: ByteReader): Float64Array {
  const present = readIntegers(reader).whole();
  const digits = reader.u8();
  const values = new Float64Array(present.length).fill(NaN);
  let scale = 1;
  let dense: Float64Array | Int32Array;
  if (digits === DOUBLES) {
    let length = 0;
    for (const one of present) length += one;
    dense = readDoubles(reader, length);
  } else {
    dense = readIntegers(reader).whole();
    scale = 10 ** digits;
  }
  for (let i = 0, next = 0; i < present.length; i++) {
    if (present[i] === 1) values[i] = dense[next++]! / scale;
  }
  return values;
}
