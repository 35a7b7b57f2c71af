import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import { readIntegers, writeIntegers } from "./integer_codec.ts";
import { bytesAt, readSqueezed, squeeze } from "./squeezed.ts";

export const ID_BYTES = 16;
/** The leading bytes of a time-ordered id (version 7), which hold its milliseconds. */
const TIME_BYTES = 6;
/** How ids are stored: whole, or with their time as a lag behind the event's. Append only. */
const WHOLE = 0;
const TIMED = 1;

/** Where each byte of a UUID begins in its text. */
const BYTE_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const DIGIT_OF = new Uint8Array(128);
for (const digits of ["0123456789abcdef", "0123456789ABCDEF"]) {
  for (const [value, digit] of [...digits].entries()) DIGIT_OF[digit.charCodeAt(0)] = value;
}

/** Parses UUIDs into 16 bytes each, in half the time that removing the hyphens first would take. */
export function uuidBytes(texts: readonly string[]): Uint8Array {
  const ids = new Uint8Array(ID_BYTES * texts.length);
  let at = 0;
  for (const text of texts) {
    for (const place of BYTE_PLACES) {
      const high = DIGIT_OF[text.charCodeAt(place)]!;
      ids[at++] = high << 4 | DIGIT_OF[text.charCodeAt(place + 1)]!;
    }
  }
  return ids;
}

/** Formats the 32 hexadecimal digits at `at` as a UUID. */
function uuidIn(hex: string, at: number): string {
  const tail = `${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`;
  return `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${
    hex.slice(at + 12, at + 16)
  }-${tail}`;
}

/** Formats the 16 bytes at `at` as a UUID. */
export function uuidOf(ids: Uint8Array, at = 0): string {
  return uuidIn(ids.subarray(at, at + ID_BYTES).toHex(), 0);
}

/** Formats the ids at these places, most of all, as UUIDs. */
export function uuidsAt(ids: Uint8Array, places: Int32Array): string[] {
  const hex = ids.toHex();
  const texts = new Array<string>(places.length);
  for (let i = 0; i < places.length; i++) texts[i] = uuidIn(hex, 2 * ID_BYTES * places[i]!);
  return texts;
}

/** Compares two ids by their bytes, as PostgreSQL orders uuids. */
export function compareIds(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < ID_BYTES; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Compares two events by their places: by time, then by id. */
export function compareTimes(moments: Float64Array, ids: Uint8Array, a: number, b: number): number {
  return moments[a]! - moments[b]! || compareIds(ids, ID_BYTES * a, ids, ID_BYTES * b);
}

/** The most events that are sorted by insertion: a function for `sort` would be compiled anew for each batch. */
const INSERTED_EVENTS_MAX = 32;

/** Sorts the places of events in place, by `compareTimes`. */
export function sortByTime(places: Uint32Array, moments: Float64Array, ids: Uint8Array): void {
  if (places.length > INSERTED_EVENTS_MAX) {
    places.sort((a, b) => compareTimes(moments, ids, a, b));
    return;
  }
  for (let i = 1; i < places.length; i++) {
    const place = places[i]!;
    let to = i;
    for (; to > 0 && compareTimes(moments, ids, places[to - 1]!, place) > 0; to--) {
      places[to] = places[to - 1]!;
    }
    places[to] = place;
  }
}

/** Copies the ids at these places into `into`, one after the other; its place `first` gets the first of them. */
export function idsAt(
  ids: Uint8Array,
  places: Int32Array | Uint32Array,
  into = new Uint8Array(ID_BYTES * places.length),
  first = 0,
): Uint8Array<ArrayBuffer> {
  let to = ID_BYTES * first;
  for (let i = 0; i < places.length; i++) {
    const from = ID_BYTES * places[i]!;
    for (let byte = 0; byte < ID_BYTES; byte++) into[to++] = ids[from + byte]!;
  }
  return into;
}

function msOf(ids: Uint8Array, at: number): number {
  let ms = 0;
  for (let i = 0; i < TIME_BYTES; i++) ms = ms * 256 + ids[at + i]!;
  return ms;
}

/** Returns by how many milliseconds each id's time lags behind its event's; null: a lag exceeds 32 bits. */
function lagsOf(ids: Uint8Array, ms: Float64Array): Int32Array | null {
  const lags = new Int32Array(ms.length);
  for (let i = 0; i < ms.length; i++) {
    const lag = msOf(ids, i * ID_BYTES) - ms[i]!;
    if (lag !== (lag | 0)) return null;
    lags[i] = lag;
  }
  return lags;
}

/**
 * Writes ids of events, 16 bytes each. Time-ordered ids take some 10 bytes: their time is close to the
 * event's, and only their random bytes are stored in full.
 */
export function writeIds(writer: ByteWriter, ids: Uint8Array, ms: Float64Array): void {
  const lags = lagsOf(ids, ms);
  writer.u8(lags === null ? WHOLE : TIMED);
  if (lags !== null) writeIntegers(writer, lags);
  const plane = new Uint8Array(ms.length);
  for (let p = lags === null ? 0 : TIME_BYTES; p < ID_BYTES; p++) {
    for (let i = 0; i < plane.length; i++) plane[i] = ids[ID_BYTES * i + p]!;
    squeeze(writer, plane);
  }
}

/** Writes the leading bytes of ids: the time of each event plus its lag. */
function putTimes(ids: Uint8Array, ms: Float64Array, lags: Int32Array): void {
  for (let i = 0; i < ms.length; i++) {
    let rest = ms[i]! + lags[i]!;
    for (let p = TIME_BYTES - 1; p >= 0; p--) {
      ids[ID_BYTES * i + p] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }
}

/** Writes one byte of each id: that at `place`. */
function putPlane(ids: Uint8Array, place: number, plane: ArrayLike<number>): void {
  for (let i = 0, to = place; to < ids.length; i++, to += ID_BYTES) ids[to] = plane[i]!;
}

/**
 * Reads what `writeIds` wrote.
 * @param length how many ids
 * @returns a decoder of the ids of the events at some places, 16 bytes each (null: of all events), which needs
 *   the times of these events
 */
export function readIds(reader: ByteReader, length: number) {
  const kind = reader.u8();
  if (kind !== WHOLE && kind !== TIMED) {
    throw new Error(`Unknown encoding of ids: ${kind}`);
  }
  const lags = kind === TIMED ? readIntegers(reader) : null;
  const first = kind === TIMED ? TIME_BYTES : 0;
  const planes = Array.from({ length: ID_BYTES - first }, () => readSqueezed(reader, length));
  return (places: Uint32Array | null, ms: Float64Array): Uint8Array<ArrayBuffer> => {
    const ids = new Uint8Array(ID_BYTES * ms.length);
    if (lags !== null) putTimes(ids, ms, places === null ? lags.all() : lags.at(places));
    for (const [p, squeezed] of planes.entries()) {
      putPlane(ids, first + p, bytesAt(squeezed, places));
    }
    return ids;
  };
}
