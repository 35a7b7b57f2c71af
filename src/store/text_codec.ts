import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import { readIntegers, type StoredIntegers, writeIntegers } from "./integer_codec.ts";
import { countWhile } from "./segment_head.ts";
import { readSqueezed, squeeze } from "./squeezed.ts";

/** A text column: a dictionary of values, and the code of each event's value. */
export interface TextColumn {
  /** Per event 0 for no text, else the place of its value plus one. */
  readonly codes: Int32Array;
  /** Where each value ends in `bytes`. */
  readonly ends: Uint32Array;
  /** The values in UTF-8, one after the other. A value may occur twice. */
  readonly bytes: Uint8Array;
}

/** How a text is stored: by code, or by the event's number in a key column. Append only. */
const CODED = 0;
const KEYED = 1;

const byKey = ([a]: readonly [number, number], [b]: readonly [number, number]) => a - b;

/** Maps each key, ascending, to the code of its text; null: a key has two texts. */
function codesOfKeys(codes: Int32Array, keys: Int32Array): Map<number, number> | null {
  const codeOf = new Map<number, number>();
  let [lastKey, lastCode] = [NaN, NaN];
  for (let i = 0; i < codes.length; i++) {
    const key = keys[i]!;
    const code = codes[i]!;
    if (key === lastKey && code === lastCode) continue;
    const known = codeOf.get(key);
    if (known === undefined) codeOf.set(key, code);
    else if (known !== code) return null;
    [lastKey, lastCode] = [key, code];
  }
  return new Map([...codeOf].sort(byKey));
}

/**
 * Writes a text column.
 * @param keys the key column: a number of each event that usually determines its text, as the path's id
 *   determines the path
 */
export function writeTexts(
  writer: ByteWriter,
  { codes, ends, bytes }: TextColumn,
  keys: Int32Array | null,
): void {
  const codeOf = keys === null ? null : codesOfKeys(codes, keys);
  writer.u8(codeOf === null ? CODED : KEYED);
  if (codeOf !== null) writeIntegers(writer, Int32Array.from(codeOf.keys()));
  writeIntegers(writer, codeOf === null ? codes : Int32Array.from(codeOf.values()));
  const lengths = new Int32Array(ends.length);
  for (let i = 0; i < lengths.length; i++) lengths[i] = ends[i]! - (i === 0 ? 0 : ends[i - 1]!);
  writeIntegers(writer, lengths);
  writer.varint(bytes.length);
  squeeze(writer, bytes);
}

/** A list of codes by key may have at most this many unused places. */
const UNUSED_PLACES_MAX = 65_536;

/** Returns a lookup of codes by key: an array if the keys are close together, as they mostly are. */
function codeByKey(keys: Int32Array, codes: Int32Array, min: number, max: number) {
  if (max - min >= keys.length + UNUSED_PLACES_MAX) {
    const codeOf = new Map<number, number>();
    for (let i = 0; i < keys.length; i++) codeOf.set(keys[i]!, codes[i]!);
    return (key: number) => codeOf.get(key)!;
  }
  const codeOf = new Int32Array(max - min + 1);
  for (let i = 0; i < keys.length; i++) codeOf[keys[i]! - min] = codes[i]!;
  return (key: number) => codeOf[key - min]!;
}

/** Returns the code of each event from its key, by the stored keys and their codes. */
function codesByKey(
  storedKeys: StoredIntegers,
  values: StoredIntegers,
  keys: Int32Array,
): Int32Array {
  const codeOf = codeByKey(storedKeys.all(), values.all(), storedKeys.min, storedKeys.max);
  const codes = new Int32Array(keys.length);
  let [lastKey, lastCode] = [NaN, 0];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (key !== lastKey) [lastKey, lastCode] = [key, codeOf(key)];
    codes[i] = lastCode;
  }
  return codes;
}

/** `codesByKey` for few events: each key is searched for. */
function codesOfFew(known: Int32Array, values: StoredIntegers, keys: Int32Array): Int32Array {
  const places = Uint32Array.from(
    keys,
    (key) => countWhile(known.length, (place) => known[place]! < key),
  );
  return values.at(places);
}

/** Returns a column of events that have no text. */
export function emptyTexts(events: number): TextColumn {
  return { codes: new Int32Array(events), ends: new Uint32Array(0), bytes: new Uint8Array(0) };
}

/** Reads where each value ends. */
function readEnds(lengths: StoredIntegers): Uint32Array {
  const ends = new Uint32Array(lengths.length);
  let end = 0;
  for (const [i, length] of lengths.all().entries()) ends[i] = end += length;
  return ends;
}

/**
 * Reads what `writeTexts` wrote.
 * @returns a decoder of the texts of the events at some places (null: of all events), which needs the keys of
 *   these events in the key column that the texts were written with
 */
export function readTexts(reader: ByteReader) {
  const kind = reader.u8();
  if (kind !== CODED && kind !== KEYED) {
    throw new Error(`Unknown encoding of texts: ${kind}`);
  }
  const storedKeys = kind === KEYED ? readIntegers(reader) : null;
  const values = readIntegers(reader);
  const lengths = readIntegers(reader);
  const bytes = readSqueezed(reader, reader.varint());
  const ends = reader.keeping(() => readEnds(lengths));
  const known = storedKeys === null ? null : reader.keeping(() => storedKeys.all());
  const withCodes = (codes: Int32Array): TextColumn =>
    codes.every((code) => code === 0)
      ? { ...emptyTexts(0), codes }
      : { codes, ends: ends(), bytes: bytes.bytes() };
  const codesAt = (places: Uint32Array | null, keys: Int32Array | null): Int32Array => {
    if (known === null) return places === null ? values.all() : values.at(places);
    if (keys === null) throw new Error("Texts are stored by key, and no keys were given");
    return places === null
      ? codesByKey(storedKeys!, values, keys)
      : codesOfFew(known(), values, keys);
  };
  return (places: Uint32Array | null, keys: Int32Array | null) => withCodes(codesAt(places, keys));
}
