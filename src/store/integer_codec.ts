import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import { readSqueezed, squeeze, type Squeezed } from "./squeezed.ts";

/** A column of whole numbers, one per event, in the narrowest type that holds them all. */
export type IntegerColumn = Uint8Array | Uint16Array | Int8Array | Int16Array | Int32Array;

/** How numbers are stored: as differences from the minimum, or from the number before. Append only. */
const FRAME = 0;
const DELTA = 1;
/** Deltas are used only if they need at most this share of the bits, as runs compress well without them. */
const DELTA_SHARE_MAX = 0.75;

/** Creates the narrowest column for `length` numbers from `min` to `max`. */
export function columnFor(min: number, max: number, length: number): IntegerColumn {
  if (min >= 0 && max <= 0xff) return new Uint8Array(length);
  if (min >= 0 && max <= 0xffff) return new Uint16Array(length);
  if (min >= -0x80 && max <= 0x7f) return new Int8Array(length);
  if (min >= -0x8000 && max <= 0x7fff) return new Int16Array(length);
  return new Int32Array(length);
}

const zigzag = (step: number): number => ((step << 1) ^ (step >> 31)) >>> 0;
const bitsOf = (value: number): number => 32 - Math.clz32(value);

/** Writes integers of 32 bits as byte planes: first the lowest byte of each, then the second, and so on. */
export function writeIntegers(writer: ByteWriter, numbers: IntegerColumn): void {
  const { length } = numbers;
  // V8 runs the loops several times as fast if they only ever see one array type.
  const values = numbers instanceof Int32Array ? numbers : new Int32Array(numbers);
  let min = length === 0 ? 0 : Infinity;
  let max = length === 0 ? 0 : -Infinity;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  let frameBits = 0;
  let deltaBits = 0;
  for (let i = 1; i < length; i++) {
    frameBits += bitsOf(values[i]! - min);
    deltaBits += bitsOf(zigzag((values[i]! - values[i - 1]!) | 0));
  }
  const isDelta = deltaBits < DELTA_SHARE_MAX * frameBits;
  const first = isDelta ? values[0]! : min;
  const rest = new Uint32Array(length);
  let widest = 0;
  for (let i = 0, before = first; i < length; i++) {
    const value = values[i]!;
    const above = isDelta ? zigzag((value - before) | 0) : value - min;
    before = value;
    rest[i] = above;
    widest |= above;
  }
  const planes = Math.ceil(bitsOf(widest) / 8);
  writer.u8(isDelta ? DELTA : FRAME);
  writer.varint(length);
  writer.i32(min);
  writer.i32(max);
  if (isDelta) writer.i32(first);
  writer.u8(planes);
  const plane = new Uint8Array(length);
  for (let p = 0; p < planes; p++) {
    for (let i = 0; i < length; i++) plane[i] = rest[i]! >>> (8 * p);
    squeeze(writer, plane);
  }
}

/** Stored integers, decoded on demand. */
export interface StoredIntegers {
  readonly length: number;
  readonly min: number;
  readonly max: number;
  all(): Int32Array;
  /** Returns all of them in memory that is overwritten when further integers of any column are decoded. */
  decodedInScratch(): Int32Array;
  /** Writes all of them to `column`, from the place `at` on. */
  writeTo(column: IntegerColumn | Uint32Array, at: number): void;
  /** Returns all of them, which must be from 0 to 255. */
  bytes(): Uint8Array;
  /**
   * Returns the integers at these places. Decodes only these; if deltas are stored, also those before them.
   */
  at(places: Uint32Array): Int32Array;
}

/** Returns `length` zeros as if they were stored. */
export function zerosStored(length: number): StoredIntegers {
  const all = () => new Int32Array(length);
  const writeTo = (column: IntegerColumn | Uint32Array, at: number) => {
    column.fill(0, at, at + length);
  };
  const bytes = () => new Uint8Array(length);
  const at = (places: Uint32Array) => new Int32Array(places.length);
  return { length, min: 0, max: 0, all, decodedInScratch: all, writeTo, bytes, at };
}

/** A shared buffer for decoded numbers, which are copied to their column at once; saves garbage. */
let scratch = new Int32Array(0);
/** Zeros for planes that numbers lack; never written. */
let zeros = new Uint8Array(0);

/** Separates what all numbers share (`base` plus the planes with a single value) from the other planes. */
function summedUp(planes: readonly Squeezed[], base: number) {
  const same = planes.reduce((sum, plane, p) => sum + ((plane.same ?? 0) << 8 * p), base) | 0;
  const varying = planes.flatMap((plane, p) => plane.same === null ? [p] : []);
  return { same, varying };
}

type FourPlanes = readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/** Returns the bytes of these planes, and zeros for the others of four. */
function fourPlanes(
  planes: readonly Squeezed[],
  varying: readonly number[],
  length: number,
): FourPlanes {
  if (zeros.length < length) zeros = new Uint8Array(length);
  const bytesOf = (p: number) => varying.includes(p) ? planes[p]!.bytesAtOnce(p) : zeros;
  return [bytesOf(0), bytesOf(1), bytesOf(2), bytesOf(3)];
}

/** Sets each number of `into` to `base` plus its bytes in the planes. */
function addPlanes(planes: readonly Squeezed[], base: number, into: Int32Array): void {
  const { length } = into;
  const { same, varying } = summedUp(planes, base);
  if (varying.length === 0) {
    into.fill(same);
    return;
  }
  if (varying.length === 1) {
    const bytes = planes[varying[0]!]!.bytesAtOnce(0);
    const shift = 8 * varying[0]!;
    for (let i = 0; i < length; i++) into[i] = same + (bytes[i]! << shift);
    return;
  }
  const [a, b, c, d] = fourPlanes(planes, varying, length);
  for (let i = 0; i < length; i++) {
    into[i] = same + (a[i]! | b[i]! << 8 | c[i]! << 16 | d[i]! << 24);
  }
}

/** Decodes a step: even codes go up, odd ones down. */
const unzigzag = (step: number): number => (step >>> 1) ^ -(step & 1);

/**
 * Sets each number of `into` to the one before plus the step in the planes; `first` is before the first. Adds up
 * while the bytes are put together: a second pass over the numbers would take a third longer.
 */
function addSteps(planes: readonly Squeezed[], first: number, into: Int32Array): void {
  const { length } = into;
  const { same, varying } = summedUp(planes, 0);
  let value = first;
  if (varying.length === 1) {
    const bytes = planes[varying[0]!]!.bytesAtOnce(0);
    const shift = 8 * varying[0]!;
    for (let i = 0; i < length; i++) {
      into[i] = value = (value + unzigzag(same + (bytes[i]! << shift))) | 0;
    }
    return;
  }
  const [a, b, c, d] = fourPlanes(planes, varying, length);
  if (c === zeros && d === zeros) {
    for (let i = 0; i < length; i++) {
      into[i] = value = (value + unzigzag(same + (a[i]! | b[i]! << 8))) | 0;
    }
    return;
  }
  for (let i = 0; i < length; i++) {
    const step = same + (a[i]! | b[i]! << 8 | c[i]! << 16 | d[i]! << 24);
    into[i] = value = (value + unzigzag(step)) | 0;
  }
}

/**
 * Writes `base` plus the bytes of a plane; undefined: all bytes are 0. Half of all columns take this path.
 */
function writeBytes(plane: Squeezed | undefined, base: number, into: Uint8Array): void {
  const same = plane === undefined ? 0 : plane.same;
  if (same !== null) {
    into.fill(base + same);
    return;
  }
  const bytes = plane!.bytesAtOnce(0);
  for (let i = 0; i < into.length; i++) into[i] = base + bytes[i]!;
}

/** Returns `base` plus the bytes in the planes, for the numbers at these places. */
function sumsAt(planes: readonly Squeezed[], base: number, places: Uint32Array): Int32Array {
  const sums = new Int32Array(places.length).fill(base);
  for (const [p, { same, bytes }] of planes.entries()) {
    const plane = same === null ? bytes() : null;
    for (let i = 0; i < sums.length; i++) sums[i]! += (plane?.[places[i]!] ?? same!) << 8 * p;
  }
  return sums;
}

/** Returns the order that sorts these places. They usually ascend already, and nothing is sorted. */
export function inOrderOfPlaces(places: Uint32Array): Uint32Array {
  const numbers = places.map((_, i) => i);
  const ascend = places.every((place, i) => i === 0 || places[i - 1]! <= place);
  return ascend ? numbers : numbers.sort((i, j) => places[i]! - places[j]!);
}

/** Sums up the steps at places of a range. */
type SumOf = (from: number, end: number) => number;

/** For steps that differ in one byte, as most do; a quarter of the time of `sumOfFour`. */
function sumOfOne(bytes: Uint8Array, shift: number, same: number): SumOf {
  return (from, end) => {
    let sum = 0;
    for (let at = from; at < end; at++) sum = (sum + unzigzag(same + (bytes[at]! << shift))) | 0;
    return sum;
  };
}

/** For steps that differ in their two lowest bytes; half the time of `sumOfFour`. */
function sumOfTwo(low: Uint8Array, high: Uint8Array, same: number): SumOf {
  return (from, end) => {
    let sum = 0;
    for (let at = from; at < end; at++) {
      sum = (sum + unzigzag(same + (low[at]! | high[at]! << 8))) | 0;
    }
    return sum;
  };
}

function sumOfFour([a, b, c, d]: FourPlanes, same: number): SumOf {
  return (from, end) => {
    let sum = 0;
    for (let at = from; at < end; at++) {
      const step = same + (a[at]! | b[at]! << 8 | c[at]! << 16 | d[at]! << 24);
      sum = (sum + unzigzag(step)) | 0;
    }
    return sum;
  };
}

function sumOfSteps(planes: readonly Squeezed[], length: number): SumOf {
  const { same, varying } = summedUp(planes, 0);
  const bytes = varying.map((p) => planes[p]!.bytes());
  if (bytes.length === 1) return sumOfOne(bytes[0]!, 8 * varying[0]!, same);
  if (bytes.length === 2 && varying[1] === 1) return sumOfTwo(bytes[0]!, bytes[1]!, same);
  return sumOfFour(fourPlanes(planes, varying, length), same);
}

/** How many steps lie between two marks. */
const MARK_STEPS = 512;

/**
 * Returns the numbers at these places; the planes hold the step from each number to the next.
 * @param marks the number before every `MARK_STEPS` steps, as far as places have been asked for, so that those of a
 * block that is kept are summed up once: a list picks a few events of each block
 */
function deltasAt(
  planes: readonly Squeezed[],
  length: number,
  places: Uint32Array,
  marks: number[],
): Int32Array {
  const sumOf = sumOfSteps(planes, length);
  const order = inOrderOfPlaces(places);
  const numbers = new Int32Array(places.length);
  let [at, value] = [0, marks[0]!];
  for (let n = 0; n < order.length; n++) {
    const i = order[n]!;
    const end = places[i]! + 1;
    const mark = Math.floor(end / MARK_STEPS);
    if (mark * MARK_STEPS > at) {
      for (let known = marks.length; known <= mark; known++) {
        const sum = sumOf((known - 1) * MARK_STEPS, known * MARK_STEPS);
        marks.push((marks[known - 1]! + sum) | 0);
      }
      [at, value] = [mark * MARK_STEPS, marks[mark]!];
    }
    value = (value + sumOf(at, end)) | 0;
    at = Math.max(at, end);
    numbers[i] = value;
  }
  return numbers;
}

/** Reads the fields before stored integers. */
function readPreamble(reader: ByteReader) {
  const codec = reader.u8();
  if (codec !== FRAME && codec !== DELTA) {
    throw new Error(`Unknown encoding of numbers: ${codec}`);
  }
  return { codec, length: reader.varint(), min: reader.i32(), max: reader.i32() };
}

/** The minimum and maximum of some integers. */
export type IntegerRange = Pick<StoredIntegers, "min" | "max">;

/** Reads the range of what `writeIntegers` wrote, without decoding it. */
export function readRange(reader: ByteReader): IntegerRange {
  return readPreamble(reader);
}

/** Returns the smallest range that includes these ranges and 0. */
export function joinedRange(ranges: readonly IntegerRange[]): IntegerRange {
  return ranges.reduce(
    (all, { min, max }) => ({ min: Math.min(all.min, min), max: Math.max(all.max, max) }),
    { min: 0, max: 0 },
  );
}

/** Reads what `writeIntegers` wrote; the numbers are decoded on demand. */
export function readIntegers(reader: ByteReader): StoredIntegers {
  const { codec, length, min, max } = readPreamble(reader);
  const first = codec === DELTA ? reader.i32() : min;
  const count = reader.u8();
  const planes = Array.from({ length: count }, () => readSqueezed(reader, length));
  const decode = (into: Int32Array): Int32Array => {
    if (codec === FRAME) addPlanes(planes, min, into);
    else addSteps(planes, first, into);
    return into;
  };
  const all = () => decode(new Int32Array(length));
  const decodedInScratch = () => {
    if (scratch.length < length) scratch = new Int32Array(length);
    return decode(scratch.subarray(0, length));
  };
  const writeTo = (column: IntegerColumn | Uint32Array, at: number) => {
    if (codec === FRAME && planes.length <= 1 && column instanceof Uint8Array) {
      writeBytes(planes[0], min, column.subarray(at, at + length));
    } else if (column.BYTES_PER_ELEMENT === Int32Array.BYTES_PER_ELEMENT) {
      decode(
        new Int32Array(column.buffer, column.byteOffset + column.BYTES_PER_ELEMENT * at, length),
      );
    } else column.set(decodedInScratch(), at);
  };
  const bytes = (): Uint8Array => {
    if (codec === FRAME && planes.length === 1 && min === 0) return planes[0]!.bytes();
    const column = new Uint8Array(length);
    writeTo(column, 0);
    return column;
  };
  const marks = [first];
  const at = (places: Uint32Array): Int32Array =>
    codec === FRAME ? sumsAt(planes, min, places) : deltasAt(planes, length, places, marks);
  return { length, min, max, all, decodedInScratch, writeTo, bytes, at };
}

/** Joins pieces into one column, as narrow as their least and greatest number allow. */
export function joinIntegers(pieces: readonly StoredIntegers[]): IntegerColumn {
  const { min, max } = joinedRange(pieces);
  const column = columnFor(min, max, pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    piece.writeTo(column, at);
    at += piece.length;
  }
  return column;
}
