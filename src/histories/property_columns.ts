import type { Sql } from "../db/sql.ts";
import { parseJson } from "../json_text.ts";
import { loadColumns } from "./column_loader.ts";
import { Pace } from "./pace.ts";
import { ENCODED_TEXTS, segmentTexts, type StoredTexts } from "./stored_segment.ts";
import { WeighedCache } from "./weighed_cache.ts";

/** One property of a segment's events. */
export interface PropertyColumn {
  /** The events that have it, ascending. */
  readonly places: Uint32Array;
  /** Of each of these, which of the values is its. */
  readonly codes: Uint32Array;
  /** As JSON, each text once. */
  readonly values: readonly string[];
  /** Whether some event's properties were too long to be held: then this is not all. */
  readonly isPartial: boolean;
  readonly bytes: number;
}

/** Columns that were read before, by the segment's id and the key. */
export type PropertyCache = WeighedCache<string, PropertyColumn>;

/** What a short text takes in memory beside its characters. */
const TEXT_OVERHEAD_BYTES = 24;
/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 1_000;

export function createPropertyCache(bytesMax: number): PropertyCache {
  return new WeighedCache(bytesMax, ({ bytes }) => bytes);
}

const FETCH = `
SELECT ${ENCODED_TEXTS} FROM history_segments
WHERE project_id = $1::int AND segment_id = $2::int8`;

const UTF8 = new TextDecoder();
/** A character a byte, so that places in the text are places in the bytes. */
const BYTES = new TextDecoder("latin1");

/** Whether some text is empty. */
function lacksTexts(textEnds: Uint32Array): boolean {
  return textEnds.some((end, i) => end === (textEnds[i - 1] ?? 0));
}

/** A value that stands in the text as it is: no list or object, nothing escaped, in ASCII. */
const PLAIN_VALUE = / ?("[^"\\\x80-\xff]*"|-?\d[\d.eE+-]*|true|false|null)/y;

/**
 * Finds a key in the texts of a segment. Most are flat, and tell the value without being parsed: of
 * 800,000 in 1.1 s instead of 1.5 s. PostgreSQL escapes keys as JavaScript does.
 */
class TextSearch {
  readonly #texts: Uint8Array;
  readonly #ends: Uint32Array;
  readonly #text: string;
  readonly #key: string;
  readonly #needle: string;
  /** Not where the quote in front of the key may be one that ends a text before it. */
  readonly #mayBePlain: boolean;
  #backslash = -1;

  constructor(texts: Uint8Array, ends: Uint32Array, key: string) {
    this.#texts = texts;
    this.#ends = ends;
    this.#text = BYTES.decode(texts);
    this.#key = key;
    this.#mayBePlain = !/^[:,\]}]/.test(key);
    this.#needle = BYTES.decode(new TextEncoder().encode(`${JSON.stringify(key)}:`));
  }

  /** Where the key, or what looks like it, stands next; -1: nowhere. */
  next(from: number): number {
    return this.#text.indexOf(this.#needle, from);
  }

  /** The value of the key in the text of an event, in which something like the key stands at `at`. */
  valueIn(event: number, at: number): string | undefined {
    const start = this.#ends[event - 1] ?? 0;
    const end = this.#ends[event]!;
    PLAIN_VALUE.lastIndex = at + this.#needle.length;
    const plain = this.#mayBePlain && this.#isFlat(start, end)
      ? PLAIN_VALUE.exec(this.#text)
      : null;
    if (plain !== null) return plain[1];
    const own = parseJson(UTF8.decode(this.#texts.subarray(start, end))) as Record<string, unknown>;
    return Object.hasOwn(own, this.#key) ? JSON.stringify(own[this.#key]) : undefined;
  }

  /** Whether no object lies in it, and nothing is escaped: what looks like a key is one. */
  #isFlat(start: number, end: number): boolean {
    if (this.#backslash < start) {
      const found = this.#text.indexOf("\\", start);
      this.#backslash = found < 0 ? Infinity : found;
    }
    if (this.#backslash < end) return false;
    const inner = this.#text.indexOf("{", start + 1);
    return inner < 0 || inner >= end;
  }
}

/** A longer piece of a text would keep all of it in memory. */
function copyOf(value: string): string {
  return UTF8.decode(new TextEncoder().encode(value));
}

/** Reads a property from the texts of a segment. Numbers come out as PostgreSQL wrote them. */
async function readColumn(row: StoredTexts, key: string): Promise<PropertyColumn> {
  const { propertied, textEnds, texts } = segmentTexts(row);
  const search = new TextSearch(texts, textEnds, key);
  const places: number[] = [];
  const codes: number[] = [];
  const codeOf = new Map<string, number>();
  const pace = new Pace();
  for (let event = 0, at = search.next(0); at >= 0; at = search.next(textEnds[event]!)) {
    while (textEnds[event]! <= at) event++;
    const value = search.valueIn(event, at);
    if (value !== undefined) {
      let code = codeOf.get(value);
      if (code === undefined) codeOf.set(copyOf(value), code = codeOf.size);
      places.push(propertied[event]!);
      codes.push(code);
    }
    if (event % EVENTS_UNTIMED === 0 && pace.isOver()) await pace.pause();
  }
  const values = [...codeOf.keys()];
  const textBytes = values.reduce((sum, { length }) => sum + TEXT_OVERHEAD_BYTES + length, 0);
  return {
    places: Uint32Array.from(places),
    codes: Uint32Array.from(codes),
    values,
    isPartial: lacksTexts(textEnds),
    bytes: 8 * places.length + textBytes,
  };
}

/**
 * A property of the events of these segments, a column each. `sql` must see the moment that they
 * were loaded at.
 * @returns null where segments do not hold all of it, or it is too large
 */
export async function loadProperty(
  sql: Sql,
  cache: PropertyCache,
  projectId: number,
  segments: readonly { readonly segmentId: number }[],
  key: string,
): Promise<PropertyColumn[] | null> {
  const fetch = async (segmentId: number): Promise<PropertyColumn | null> => {
    const [row] = await sql.query<StoredTexts>(FETCH, [projectId, segmentId]);
    return row === undefined ? null : await readColumn(row, key);
  };
  return await loadColumns(
    cache,
    segments,
    key,
    fetch,
    ({ isPartial, bytes }) => isPartial ? null : bytes,
  );
}
