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

/** How an event's text is found: by a stored code, or by its number in a key column. Append only. */
const CODED = 0;
const KEYED = 1;

/** Maps each key, ascending, to the code of its text; null where one key goes with two texts. */
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
  return new Map([...codeOf].sort(([a], [b]) => a - b));
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

/** Returns a lookup of codes by key: in a list where the keys lie close together, as they mostly do. */
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

/** Returns the code of each event, given its key, the stored keys and the code of each of these. */
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
function codesOfFew(
  storedKeys: StoredIntegers,
  values: StoredIntegers,
  keys: Int32Array,
): Int32Array {
  const known = storedKeys.all();
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

/**
 * Reads what `writeTexts` wrote.
 * @param keys the same key column as then, of the events whose texts are read
 * @param places the places of these events; null: all events
 */
export function readTexts(
  reader: ByteReader,
  keys: Int32Array | null,
  places: Uint32Array | null = null,
): TextColumn {
  const kind = reader.u8();
  if (kind !== CODED && (kind !== KEYED || keys === null)) {
    throw new Error(`Texts are stored in an unknown way: ${kind}`);
  }
  const storedKeys = kind === KEYED ? readIntegers(reader) : null;
  const values = readIntegers(reader);
  let codes: Int32Array;
  if (storedKeys !== null) {
    codes = (places === null ? codesByKey : codesOfFew)(storedKeys, values, keys!);
  } else codes = places === null ? values.all() : values.at(places);
  if (codes.every((code) => code === 0)) return { ...emptyTexts(0), codes };
  const lengths = readIntegers(reader).all();
  const ends = new Uint32Array(lengths.length);
  let end = 0;
  for (let i = 0; i < ends.length; i++) ends[i] = end += lengths[i]!;
  return { codes, ends, bytes: readSqueezed(reader, reader.varint()).bytes() };
}
