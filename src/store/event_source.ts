import { compareIds, ID_BYTES } from "./id_codec.ts";
import type { IntegerColumn } from "./integer_codec.ts";
import { cellOf } from "./heatmap_cell.ts";
import {
  FLAG_CODES,
  FLAG_COLUMNS,
  type IntegerName,
  NUMBER_COLUMNS,
  type NumberName,
  TEXT_COLUMNS,
  type TextName,
} from "./segment_columns.ts";
import type { SegmentEvent } from "./segment_event.ts";
import type { Runs } from "./segment_reader.ts";
import type { TextColumn } from "./text_codec.ts";

/** Events that a segment is made of, as columns; those of each identity in the order of time and id. */
export interface EventSource {
  readonly events: number;
  /** Bytes of its different texts. */
  readonly textBytes: number;
  runs(): Runs;
  /** In epoch milliseconds. */
  moments(): Float64Array;
  ids(moments: Float64Array): Uint8Array;
  integers(name: IntegerName): IntegerColumn;
  numbers(name: NumberName): Float64Array;
  texts(name: TextName): TextColumn;
}

/** The order of a segment. */
export function compareEvents(a: SegmentEvent, b: SegmentEvent): number {
  return a.identity - b.identity || a.ms - b.ms || compareIds(a.id, 0, b.id, 0);
}

const UTF8 = new TextEncoder();

/** Texts of a column while they are gathered, each once. */
class TextBuilder {
  readonly #codes: Int32Array;
  readonly #codeOf = new Map<string, number>();
  #last: string | null = null;
  #lastCode = 0;

  constructor(events: number) {
    this.#codes = new Int32Array(events);
  }

  /** Null: none. */
  set(at: number, text: string | null): void {
    if (text === null) return;
    // Most are the same as of the event before.
    if (text !== this.#last) {
      const known = this.#codeOf.get(text);
      this.#lastCode = known ?? this.#codeOf.size + 1;
      if (known === undefined) this.#codeOf.set(text, this.#lastCode);
      this.#last = text;
    }
    this.#codes[at] = this.#lastCode;
  }

  end(): TextColumn {
    const values = Array.from(this.#codeOf.keys(), (text) => UTF8.encode(text));
    const ends = new Uint32Array(values.length);
    const bytes = new Uint8Array(values.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const [i, value] of values.entries()) {
      bytes.set(value, end);
      ends[i] = end += value.length;
    }
    return { codes: this.#codes, ends, bytes };
  }
}

/** What stands for a yes, a no, or nothing. */
const flagCode = (flag: boolean | null): number =>
  flag === null ? FLAG_CODES.none : flag ? FLAG_CODES.yes : FLAG_CODES.no;

/** Columns that are told by events one by one. */
const INTEGER_OF: readonly (readonly [IntegerName, (event: SegmentEvent) => number])[] = [
  ["names", (event) => event.name],
  ["paths", (event) => event.path],
  ["contexts", (event) => event.context],
  ["traffics", (event) => event.traffic],
  ["cells", (event) => cellOf(event.row)],
  ["titles", (event) => event.title],
  ["referrers", (event) => event.referrer],
];

/** Events whose columns are filled together: their rows stay near the processor meanwhile. */
const EVENTS_TOGETHER = 256;

function numberOf({ ms, row }: SegmentEvent, name: NumberName): number {
  return name === "received_at" ? Date.parse(row.received_at) - ms : row[name] ?? NaN;
}

/** Whole events, which are in the order of a segment already. */
export class NewEvents implements EventSource {
  readonly events: number;
  readonly textBytes: number;
  readonly #runs: Runs;
  readonly #moments: Float64Array;
  readonly #ids: Uint8Array;
  readonly #integers = new Map<IntegerName, Int32Array>();
  readonly #numbers = new Map<NumberName, Float64Array>();
  readonly #texts: ReadonlyMap<TextName, TextColumn>;

  constructor(events: readonly SegmentEvent[]) {
    const { length } = events;
    this.events = length;
    this.#moments = new Float64Array(length);
    this.#ids = new Uint8Array(ID_BYTES * length);
    const identities: number[] = [];
    const starts: number[] = [];
    for (let at = 0; at < length; at++) {
      const { identity, ms, id } = events[at]!;
      this.#moments[at] = ms;
      this.#ids.set(id, ID_BYTES * at);
      if (identity === identities.at(-1)) continue;
      identities.push(identity);
      starts.push(at);
    }
    starts.push(length);
    this.#runs = { identities: Int32Array.from(identities), starts: Uint32Array.from(starts) };
    for (const [name] of INTEGER_OF) this.#integers.set(name, new Int32Array(length));
    for (const name of FLAG_COLUMNS) this.#integers.set(name, new Int32Array(length));
    for (const name of NUMBER_COLUMNS) this.#numbers.set(name, new Float64Array(length));
    const texts = TEXT_COLUMNS.map((name) => [name, new TextBuilder(length)] as const);
    for (let from = 0; from < length; from += EVENTS_TOGETHER) {
      this.#fill(events, from, Math.min(from + EVENTS_TOGETHER, length), texts);
    }
    this.#texts = new Map(texts.map(([name, builder]) => [name, builder.end()]));
    this.textBytes = this.#texts.values().reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  #fill(
    events: readonly SegmentEvent[],
    from: number,
    to: number,
    texts: readonly (readonly [TextName, TextBuilder])[],
  ): void {
    for (const [name, builder] of texts) {
      for (let at = from; at < to; at++) builder.set(at, events[at]!.row[name]);
    }
    for (const [name, numbers] of this.#numbers) {
      for (let at = from; at < to; at++) numbers[at] = numberOf(events[at]!, name);
    }
    for (const name of FLAG_COLUMNS) {
      const codes = this.#integers.get(name)!;
      for (let at = from; at < to; at++) codes[at] = flagCode(events[at]!.row[name]);
    }
    for (const [name, of] of INTEGER_OF) {
      const integers = this.#integers.get(name)!;
      for (let at = from; at < to; at++) integers[at] = of(events[at]!);
    }
  }

  runs(): Runs {
    return this.#runs;
  }

  moments(): Float64Array {
    return this.#moments;
  }

  ids(): Uint8Array {
    return this.#ids;
  }

  integers(name: IntegerName): IntegerColumn {
    return this.#integers.get(name)!;
  }

  numbers(name: NumberName): Float64Array {
    return this.#numbers.get(name)!;
  }

  texts(name: TextName): TextColumn {
    return this.#texts.get(name)!;
  }
}
