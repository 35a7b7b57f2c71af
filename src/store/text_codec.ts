import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import { readIntegers, type StoredIntegers, writeIntegers } from "./integer_codec.ts";
import { countWhile } from "./segment_head.ts";
import { readSqueezed, squeeze } from "./squeezed.ts";

/** Texts of a column: which of a dictionary each event has. */
export interface TextColumn {
  /** Of each event 0: none; else one more than which of the values it is. */
  readonly codes: Int32Array;
  /** Where each value ends in `bytes`. */
  readonly ends: Uint32Array;
  /** The values, in UTF-8. A value may stand here twice. */
  readonly bytes: Uint8Array;
}

/** How an event's text is told: by its code, or by a number that it has anyhow. Append only. */
const CODED = 0;
const TOLD = 1;

/** The numbers that events have, each once, ascending; null where two texts go with one of them. */
function toldBy(codes: Int32Array, keys: Int32Array): Map<number, number> | null {
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
 * Texts, each once, and which of them is whose.
 * @param keys a number of each event that may tell its text, as the path's id tells the path
 */
export function writeTexts(
  writer: ByteWriter,
  { codes, ends, bytes }: TextColumn,
  keys: Int32Array | null,
): void {
  const told = keys === null ? null : toldBy(codes, keys);
  writer.u8(told === null ? CODED : TOLD);
  if (told !== null) writeIntegers(writer, Int32Array.from(told.keys()));
  writeIntegers(writer, told === null ? codes : Int32Array.from(told.values()));
  const lengths = new Int32Array(ends.length);
  for (let i = 0; i < lengths.length; i++) lengths[i] = ends[i]! - (i === 0 ? 0 : ends[i - 1]!);
  writeIntegers(writer, lengths);
  writer.varint(bytes.length);
  squeeze(writer, bytes);
}

/** What a list may take of a number that stands for none of its places, beside those that do. */
const LIST_PLACES_MAX = 65_536;

/** Of a number its code: in a list where the numbers lie close together, as they mostly do. */
function codeByKey(keys: Int32Array, codes: Int32Array, min: number, max: number) {
  if (max - min >= keys.length + LIST_PLACES_MAX) {
    const codeOf = new Map<number, number>();
    for (let i = 0; i < keys.length; i++) codeOf.set(keys[i]!, codes[i]!);
    return (key: number) => codeOf.get(key)!;
  }
  const codeOf = new Int32Array(max - min + 1);
  for (let i = 0; i < keys.length; i++) codeOf[keys[i]! - min] = codes[i]!;
  return (key: number) => codeOf[key - min]!;
}

function codesByKey(
  told: StoredIntegers,
  values: StoredIntegers,
  keys: Int32Array,
): Int32Array {
  const codeOf = codeByKey(told.whole(), values.whole(), told.min, told.max);
  const codes = new Int32Array(keys.length);
  let [lastKey, lastCode] = [NaN, 0];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (key !== lastKey) [lastKey, lastCode] = [key, codeOf(key)];
    codes[i] = lastCode;
  }
  return codes;
}

/** The same of few numbers: each is looked for. */
function codesOfFew(told: StoredIntegers, values: StoredIntegers, keys: Int32Array): Int32Array {
  const known = told.whole();
  const places = Uint32Array.from(
    keys,
    (key) => countWhile(known.length, (place) => known[place]! < key),
  );
  return values.at(places);
}

const NO_TEXTS = { ends: new Uint32Array(0), bytes: new Uint8Array(0) };

/**
 * What `writeTexts` wrote, given the same keys.
 * @param places of the events whose texts are read, as the keys are of these alone; null: of all
 */
export function readTexts(
  reader: ByteReader,
  keys: Int32Array | null,
  places: Uint32Array | null = null,
): TextColumn {
  const kind = reader.u8();
  if (kind !== CODED && (kind !== TOLD || keys === null)) {
    throw new Error(`Texts are stored in an unknown way: ${kind}`);
  }
  const told = kind === TOLD ? readIntegers(reader) : null;
  const values = readIntegers(reader);
  const codesByKeys = places === null ? codesByKey : codesOfFew;
  const ownCodes = () => places === null ? values.whole() : values.at(places);
  const codes = told === null ? ownCodes() : codesByKeys(told, values, keys!);
  if (codes.every((code) => code === 0)) return { codes, ...NO_TEXTS };
  const lengths = readIntegers(reader).whole();
  const ends = new Uint32Array(lengths.length);
  let end = 0;
  for (let i = 0; i < ends.length; i++) ends[i] = end += lengths[i]!;
  return { codes, ends, bytes: readSqueezed(reader, reader.varint()).bytes() };
}
