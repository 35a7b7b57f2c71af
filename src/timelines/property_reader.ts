import { parseJson } from "../json_text.ts";
import { isPromoted, PROMOTED } from "../store/promoted_properties.ts";
import { type ColumnName, FLAG_CODES, type FlagName } from "../store/segment_columns.ts";
import type { SegmentReader } from "../store/segment_reader.ts";
import type { TextColumn } from "../store/text_codec.ts";
import { textAt } from "../store/whole_events.ts";
import { yielding } from "../store/yielding.ts";
import { PropertyColumn } from "./property_columns.ts";

const CLICK = 2;
const SCROLL = 3;

/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 1_000;

const UTF8 = new TextDecoder();
/** A character a byte, so that places in the text are places in the bytes. */
const BYTES = new TextDecoder("latin1");

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

  /** `text`: what the bytes say, a character a byte. */
  constructor({ bytes, ends }: TextColumn, text: string, key: string) {
    this.#texts = bytes;
    this.#ends = ends;
    this.#text = text;
    this.#key = key;
    this.#mayBePlain = !/^[:,\]}]/.test(key);
    this.#needle = BYTES.decode(new TextEncoder().encode(`${JSON.stringify(key)}:`));
  }

  /** Where the key, or what looks like it, stands next; -1: nowhere. */
  next(from: number): number {
    return this.#text.indexOf(this.#needle, from);
  }

  /** The value of the key in a text, in which something like the key stands at `at`. */
  valueIn(text: number, at: number): string | undefined {
    const start = this.#ends[text - 1] ?? 0;
    const end = this.#ends[text]!;
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

/** Which value of a key each text of a segment holds: one more than its place among all, each once. */
async function readValues(column: TextColumn, text: string, key: string) {
  const { ends } = column;
  const search = new TextSearch(column, text, key);
  const valueOf = new Uint32Array(ends.length);
  const numbers = new Map<string, number>();
  const turn = yielding();
  for (let own = 0, at = search.next(0); at >= 0; at = search.next(ends[own]!)) {
    while (ends[own]! <= at) own++;
    const value = search.valueIn(own, at);
    if (value !== undefined) {
      let number = numbers.get(value);
      if (number === undefined) numbers.set(copyOf(value), number = numbers.size + 1);
      valueOf[own] = number;
    }
    if (own % EVENTS_UNTIMED === 0) await turn();
  }
  return { valueOf, values: [...numbers.keys()] };
}

/** Values of a property while they are gathered; those of an event may be told once. */
class PropertyBuilder {
  readonly #codes: Int32Array;
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  /** Of each event with a number of its own. */
  readonly #numbered: number[] = [];

  constructor(events: number) {
    this.#codes = new Int32Array(events).fill(-1);
  }

  has(at: number): boolean {
    return this.#codes[at] !== -1;
  }

  /** @returns the code of a further text */
  addText(text: string): number {
    return this.#texts.push(text) - 1;
  }

  set(at: number, code: number): void {
    this.#codes[at] = code;
  }

  setNumber(at: number, number: number): void {
    // No text's code: where numbers begin is known at the end.
    this.#codes[at] = -2;
    this.#numbered.push(at);
    this.#numbers.push(number);
  }

  end(): PropertyColumn {
    const all = this.#codes;
    let count = 0;
    for (let i = 0; i < this.#numbered.length; i++) {
      all[this.#numbered[i]!] = this.#texts.length + i;
    }
    for (let at = 0; at < all.length; at++) if (all[at] !== -1) count++;
    const places = new Uint32Array(count);
    const codes = new Uint32Array(count);
    for (let at = 0, i = 0; i < count; at++) {
      if (all[at] === -1) continue;
      places[i] = at;
      codes[i++] = all[at]!;
    }
    return new PropertyColumn(places, codes, this.#texts, Float64Array.from(this.#numbers));
  }
}

function flags(reader: SegmentReader, name: FlagName) {
  const texts: string[] = [];
  texts[FLAG_CODES.no - 1] = "false";
  texts[FLAG_CODES.yes - 1] = "true";
  return { codes: reader.integers(name), texts };
}

function selectors(reader: SegmentReader) {
  const column = reader.texts("selector");
  const texts = Array.from(column.ends, (_, value) => JSON.stringify(textAt(column, value)));
  return { codes: column.codes, texts };
}

/** Adds what the column of a promoted property holds, where the properties themselves do not. */
function addPromoted(
  builder: PropertyBuilder,
  reader: SegmentReader,
  column: (typeof PROMOTED)[keyof typeof PROMOTED],
): void {
  const names = reader.integers("names");
  const isTold = (at: number) => (names[at] === CLICK || names[at] === SCROLL) && !builder.has(at);
  const isFlag = column === "fixed" || column === "rage" || column === "dead";
  if (!isFlag && column !== "selector") {
    const numbers = reader.numbers(column);
    for (let at = 0; at < numbers.length; at++) {
      if (!Number.isNaN(numbers[at]) && isTold(at)) builder.setNumber(at, numbers[at]!);
    }
    return;
  }
  const { codes, texts } = isFlag ? flags(reader, column) : selectors(reader);
  const codeOf = texts.map((text) => builder.addText(text));
  for (let at = 0; at < codes.length; at++) {
    if (codes[at] !== 0 && isTold(at)) builder.set(at, codeOf[codes[at]! - 1]!);
  }
}

/** The columns of segments that tell a property. */
export function columnsOfProperty(key: string): ColumnName[] {
  return isPromoted(key) ? ["properties", "names", PROMOTED[key]] : ["properties"];
}

/** The properties of the events of some blocks: their texts are read once, however many are asked for. */
export class PropertyReader {
  readonly #reader: SegmentReader;
  #read: { readonly column: TextColumn; readonly text: string } | null = null;

  constructor(reader: SegmentReader) {
    this.#reader = reader;
  }

  /** One of them. Numbers come out as they stand there. */
  async column(key: string): Promise<PropertyColumn> {
    const { column, text } = this.#texts();
    const { valueOf, values } = await readValues(column, text, key);
    const builder = new PropertyBuilder(this.#reader.events);
    for (const value of values) builder.addText(value);
    const { codes } = column;
    for (let at = 0; at < codes.length; at++) {
      const value = valueOf[codes[at]! - 1] ?? 0;
      if (value !== 0) builder.set(at, value - 1);
    }
    if (isPromoted(key)) addPromoted(builder, this.#reader, PROMOTED[key]);
    return builder.end();
  }

  #texts() {
    if (this.#read === null) {
      const column = this.#reader.texts("properties");
      this.#read = { column, text: BYTES.decode(column.bytes) };
    }
    return this.#read;
  }
}
