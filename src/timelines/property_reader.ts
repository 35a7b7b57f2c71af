import { parseJson } from "../json_text.ts";
import { isPromoted, PROMOTED } from "../store/promoted_properties.ts";
import {
  type ColumnName,
  FLAG_CODES,
  type FlagName,
  type SlotName,
} from "../store/segment_columns.ts";
import { type SegmentHead, slotOf } from "../store/segment_head.ts";
import type { SegmentReader } from "../store/segment_reader.ts";
import type { TextColumn } from "../store/text_codec.ts";
import { HOLE, textAt } from "../store/whole_properties.ts";
import { TextMap } from "../store/text_map.ts";
import { yielding } from "../store/yielding.ts";
import { CLICK, SCROLL } from "../reserved_terms.ts";
import { plainNumber } from "./plain_number.ts";
import { PropertyBuilder } from "./property_builder.ts";
import type { PropertyColumn } from "./property_columns.ts";

/** Texts between two checks of the clock. */
const TEXTS_UNTIMED = 1_000;

const UTF8 = new TextDecoder();
/** One character per byte, so that places in the text are places in the bytes. */
const LATIN1 = new TextDecoder("latin1");

/** A value that needs no parsing: not a list or an object, without escapes, only ASCII. */
const PLAIN_VALUE = / ?("[^"\\\x80-\xff]*"|-?\d[\d.eE+-]*|true|false|null)/y;

/**
 * Finds a key in the JSON texts of a segment. Most texts are flat, so the value is read without parsing: for
 * 800,000 texts in 1.1 s instead of 1.5 s. PostgreSQL escapes keys as JavaScript does.
 */
class TextSearch {
  readonly #needle: string;
  /** False where the key's opening quote could be the closing quote of a string before it. */
  readonly #mayBePlain: boolean;
  #backslash = -1;

  /** @param text the bytes of the column as a text with one character per byte */
  constructor(
    private readonly column: TextColumn,
    private readonly text: string,
    private readonly key: string,
  ) {
    this.#mayBePlain = !/^[:,\]}]/.test(key);
    this.#needle = LATIN1.decode(new TextEncoder().encode(`${JSON.stringify(key)}:`));
  }

  /** Yields each text in which the key, or what looks like it, occurs, and its first place in all texts. */
  *all(): Generator<readonly [text: number, at: number]> {
    const { ends } = this.column;
    for (let which = 0, from = 0;; from = ends[which]!) {
      const at = this.text.indexOf(this.#needle, from);
      if (at < 0) return;
      while (ends[which]! <= at) which++;
      yield [which, at];
    }
  }

  /** Yields the same for only some texts. */
  *in(texts: Iterable<number>): Generator<readonly [text: number, at: number]> {
    const { ends } = this.column;
    for (const which of texts) {
      const from = ends[which - 1] ?? 0;
      const at = this.text.slice(from, ends[which]).indexOf(this.#needle);
      if (at >= 0) yield [which, from + at];
    }
  }

  /** Returns the JSON value of the key in the text numbered `which`, where the needle was found at `at`. */
  valueIn(which: number, at: number): string | undefined {
    const { bytes, ends } = this.column;
    const [start, end] = [ends[which - 1] ?? 0, ends[which]!];
    PLAIN_VALUE.lastIndex = at + this.#needle.length;
    const plain = this.#mayBePlain && this.#isFlat(start, end) ? PLAIN_VALUE.exec(this.text) : null;
    if (plain !== null) return plain[1];
    // Holes are values in slots, which are of other keys.
    const json = UTF8.decode(bytes.subarray(start, end)).replaceAll(HOLE, "null");
    const properties = parseJson(json) as Record<string, unknown>;
    return Object.hasOwn(properties, this.key) ? JSON.stringify(properties[this.key]) : undefined;
  }

  /** Whether the text has no inner object and no escapes, so that what looks like a key is one. */
  #isFlat(start: number, end: number): boolean {
    if (this.#backslash < start) {
      const next = this.text.indexOf("\\", start);
      this.#backslash = next < 0 ? Infinity : next;
    }
    if (this.#backslash < end) return false;
    const inner = this.text.indexOf("{", start + 1);
    return inner < 0 || inner >= end;
  }
}

/** Copies a value, since a slice of a text keeps all of that text in memory. */
function copyOf(value: string): string {
  return UTF8.decode(new TextEncoder().encode(value));
}

/** Returns the distinct values of a key, and by text the place of its value plus one; 0: none. */
async function readValues(
  column: TextColumn,
  text: string,
  key: string,
  picked: Uint32Array | null,
) {
  const { ends } = column;
  const search = new TextSearch(column, text, key);
  const valueOf = new Uint32Array(ends.length);
  const numbers = new TextMap<number>();
  const values: string[] = [];
  const yieldIfDue = yielding();
  for (const [which, at] of picked === null ? search.all() : search.in(textsOf(column, picked))) {
    const value = search.valueIn(which, at);
    if (value !== undefined) {
      let number = numbers.get(value);
      if (number === undefined) {
        const copy = copyOf(value);
        numbers.set(copy, number = values.push(copy));
      }
      valueOf[which] = number;
    }
    if (which % TEXTS_UNTIMED === 0) await yieldIfDue();
  }
  return { valueOf, values };
}

/** Returns the numbers of the texts of some events, ascending. */
function textsOf({ codes }: TextColumn, picked: Uint32Array): Uint32Array {
  const texts = new Set<number>();
  for (const at of picked) if (codes[at]! !== 0) texts.add(codes[at]! - 1);
  return Uint32Array.from(texts).sort();
}

/** Returns a flag's codes, and by code minus one their JSON. */
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

/** Stands for the code of an event that does not have the property. */
const NO_VALUE = 2 ** 31 - 1;

/** Returns a lookup of the code of an event's value in the column of a promoted property. */
function promotedCodes(
  builder: PropertyBuilder,
  reader: SegmentReader,
  column: (typeof PROMOTED)[keyof typeof PROMOTED],
): (at: number) => number {
  const isFlag = column === "fixed" || column === "rage" || column === "dead";
  if (!isFlag && column !== "selector") {
    const numbers = reader.numbers(column);
    return (at) => Number.isNaN(numbers[at]) ? NO_VALUE : builder.addNumber(numbers[at]!);
  }
  const { codes, texts } = isFlag ? flags(reader, column) : selectors(reader);
  const codeOf = [NO_VALUE, ...texts.map((text) => builder.addText(text))];
  return (at) => codeOf[codes[at]!]!;
}

/** Gives events their values: those in the properties and, where a click or scroll has none there, promoted ones. */
function appendWithPromoted(
  builder: PropertyBuilder,
  reader: SegmentReader,
  column: (typeof PROMOTED)[keyof typeof PROMOTED],
  own: Int32Array,
): void {
  const names = reader.integers("names");
  const promotedAt = promotedCodes(builder, reader, column);
  for (let at = 0; at < own.length; at++) {
    const isPlaced = names[at] === CLICK || names[at] === SCROLL;
    const code = own[at] === NO_VALUE && isPlaced ? promotedAt(at) : own[at]!;
    if (code !== NO_VALUE) builder.append(at, code);
  }
}

/** Called with each event that has a value, in their order, and the value's code in the builder. */
type VisitValue = (at: number, code: number) => void;

/** Returns a JSON value as JavaScript writes it: PostgreSQL puts spaces into lists and objects. */
function asWritten(json: string): string {
  return /^[[{]|\\/.test(json) ? JSON.stringify(parseJson(json)) : json;
}

/** Visits the values of a slot: numbers as such, the others as texts, each once. */
async function visitSlot(
  reader: SegmentReader,
  slot: SlotName,
  picked: Uint32Array | null,
  builder: PropertyBuilder,
  visit: VisitValue,
): Promise<void> {
  const known = new TextMap<number>();
  const codeIn = ({ bytes, ends }: TextColumn, value: number): number => {
    const [from, to] = [ends[value - 1] ?? 0, ends[value]!];
    const number = plainNumber(bytes, from, to);
    if (!Number.isNaN(number)) return builder.addNumber(number);
    const text = asWritten(UTF8.decode(bytes.subarray(from, to)));
    return known.getOrInsertComputed(text, (added) => builder.addText(added));
  };
  const yieldIfDue = yielding();
  for (const { at, places, column } of reader.textBlocks(slot, picked)) {
    const { codes, ends } = column;
    const codeOf = new Int32Array(ends.length + 1).fill(NO_VALUE);
    for (let i = 0; i < codes.length; i++) {
      const value = codes[i]!;
      if (value === 0) continue;
      if (codeOf[value] === NO_VALUE) codeOf[value] = codeIn(column, value - 1);
      visit(at + (places === null ? i : places[i]!), codeOf[value]!);
    }
    await yieldIfDue();
  }
}

/** Returns the columns of a segment that a property is read from. */
export function columnsOfProperty(key: string, head: SegmentHead): ColumnName[] {
  const column = slotOf(head, key) ?? "properties";
  return isPromoted(key) ? [column, "names", PROMOTED[key]] : [column];
}

/** Reads properties of the events of some blocks. Their texts are decoded once for all properties. */
export class PropertyReader {
  #read: { readonly column: TextColumn; readonly text: string } | null = null;

  /** @param picked the only events whose values are wanted, ascending; null: all are */
  constructor(
    private readonly reader: SegmentReader,
    private readonly picked: Uint32Array | null,
  ) {}

  /**
   * Reads one property. Its values are as JavaScript writes them if the text has lists, objects or escapes, else
   * as they are stored.
   */
  async column(key: string): Promise<PropertyColumn> {
    const { events } = this.reader;
    const builder = new PropertyBuilder(events);
    if (isPromoted(key)) {
      const own = new Int32Array(events).fill(NO_VALUE);
      await this.#visit(key, builder, (at, code) => {
        own[at] = code;
      });
      appendWithPromoted(builder, this.reader, PROMOTED[key], own);
    } else await this.#visit(key, builder, (at, code) => builder.append(at, code));
    return builder.end();
  }

  /** Visits the values in the properties, in a slot or in the texts. */
  async #visit(key: string, builder: PropertyBuilder, visit: VisitValue): Promise<void> {
    const slot = slotOf(this.reader.head, key);
    if (slot !== null) return await visitSlot(this.reader, slot, this.picked, builder, visit);
    const { column, text } = this.#texts();
    const { valueOf, values } = await readValues(column, text, key, this.picked);
    for (const value of values) builder.addText(value);
    const { codes } = column;
    for (let at = 0; at < codes.length; at++) {
      const value = valueOf[codes[at]! - 1] ?? 0;
      if (value !== 0) visit(at, value - 1);
    }
  }

  #texts() {
    if (this.#read === null) {
      const column = this.reader.texts("properties");
      this.#read = { column, text: LATIN1.decode(column.bytes) };
    }
    return this.#read;
  }
}
