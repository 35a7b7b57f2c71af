import type { EventRow } from "./event_row.ts";
import { ID_BYTES, idsAt, uuidsAt } from "./id_codec.ts";
import type { BlockValue } from "./journal_block.ts";
import { type BlockColumns, momentsOf, valueAt } from "./journal_events.ts";
import { FLAG_CODES, FLAG_COLUMNS, TEXT_COLUMNS } from "./segment_columns.ts";
import { countWhile } from "./segment_head.ts";
import { TextCount } from "./text_count.ts";
import { TextMap } from "./text_map.ts";

/** The members of a row that hold values of one type. */
type Members<T> = { [N in keyof EventRow]: EventRow[N] extends T ? N : never }[keyof EventRow];
export type TextMember = Exclude<Members<string | null>, "event_id">;
export type FlagMember = Members<boolean | null>;
type NumberMember = Exclude<Members<number | null>, "project_id">;

/** A column of texts with each distinct text once. */
export interface CodedTexts {
  /** Per event 0 for no text, else the place of its value plus one. */
  readonly codes: Int32Array;
  readonly values: readonly string[];
}

/** Events grouped by their values in some columns. */
interface Tuples {
  /** Per event, the number of its tuple. */
  readonly codes: Int32Array;
  /** Per tuple, the first event that has it. */
  readonly firsts: readonly number[];
}

const FLAG_SIZE = 3;

/** Events of one journal block. */
interface Piece {
  readonly block: BlockColumns;
  /** Their places in the block. */
  readonly places: Int32Array;
  /** The place of the first of them among all events. */
  readonly at: number;
}

/** Numbers the distinct texts of a column in the order of their first occurrence. */
class Numbering {
  readonly values: string[] = [];
  readonly #codes = new TextMap<number>();
  #last: BlockValue = null;
  #lastCode = 0;

  codeFor(value: BlockValue): number {
    // Most events have the same value as the one before.
    if (value === this.#last) return this.#lastCode;
    this.#last = value;
    return this.#lastCode = value === null
      ? 0
      : this.#codes.getOrInsertComputed(value as string, (text) => this.values.push(text));
  }
}

/** Numbers the distinct keys in the order of their first occurrence. */
function renumbered(keys: Float64Array): Tuples {
  const codes = new Int32Array(keys.length);
  const codeOf = new Map<number, number>();
  const firsts: number[] = [];
  let [last, code] = [NaN, 0];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (key !== last) {
      const known = codeOf.get(key);
      code = known ?? firsts.push(i) - 1;
      if (known === undefined) codeOf.set(key, code);
      last = key;
    }
    codes[i] = code;
  }
  return { codes, firsts };
}

/** Makes numbers of the values of a column. */
type Converter = (value: BlockValue) => number;

const numberOrNaN: Converter = (value) => value === null ? NaN : value as number;

const flagCode: Converter = (value) => {
  if (value === null) return FLAG_CODES.none;
  return value === true ? FLAG_CODES.yes : FLAG_CODES.no;
};

/**
 * Events of a project by column, as in journal blocks, so that each distinct value is handled once. For
 * 20,000 typical events this takes a third of the time and a tenth of the memory of rows.
 */
export class EventColumns {
  readonly #pieces: Piece[] = [];
  readonly #texts = new Map<TextMember, CodedTexts>();
  #length = 0;

  constructor(readonly projectId: number) {}

  get length(): number {
    return this.#length;
  }

  add(block: BlockColumns, places: Int32Array): void {
    this.#pieces.push({ block, places, at: this.#length });
    this.#length += places.length;
  }

  /** Returns a text column; only values that occur in one of the events are in it. */
  texts(name: TextMember): CodedTexts {
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const codes = new Int32Array(this.#length);
    const numbering = new Numbering();
    for (const { block, places, at } of this.#pieces) {
      const column = block.coded[name];
      if (column === undefined) {
        const same = block.same[name];
        if (same !== undefined && places.length > 0) {
          codes.fill(numbering.codeFor(same), at, at + places.length);
        }
        continue;
      }
      const { values, which } = column;
      if (which === null) {
        for (let i = 0; i < places.length; i++) {
          codes[at + i] = numbering.codeFor(values[places[i]!]!);
        }
        continue;
      }
      // Only values that occur in one of the events are numbered.
      const codeOf = new Int32Array(values.length).fill(-1);
      for (let i = 0; i < places.length; i++) {
        const value = which[places[i]!]!;
        if (codeOf[value] === -1) codeOf[value] = numbering.codeFor(values[value]!);
        codes[at + i] = codeOf[value]!;
      }
    }
    const texts = { codes, values: numbering.values };
    this.#texts.set(name, texts);
    return texts;
  }

  membersAt<N extends TextMember | FlagMember>(names: readonly N[], i: number): Pick<EventRow, N> {
    const pieces = this.#pieces;
    const after = countWhile(pieces.length, (piece) => pieces[piece]!.at <= i);
    const { block, places, at } = pieces[after - 1]!;
    const members = names.map((name) => [name, valueAt(block, name, places[i - at]!)] as const);
    return Object.fromEntries(members) as Pick<EventRow, N>;
  }

  /** The times of the events, in epoch milliseconds. */
  moments(): Float64Array {
    const moments = new Float64Array(this.#length);
    for (const { block, places, at } of this.#pieces) moments.set(momentsOf(block, places), at);
    return moments;
  }

  eventIds(): string[] {
    return this.#pieces.flatMap(({ block: { ids }, places }) => uuidsAt(ids, places));
  }

  /** 16 bytes an event. */
  ids(): Uint8Array {
    const eventIds = new Uint8Array(ID_BYTES * this.#length);
    for (const { block, places, at } of this.#pieces) idsAt(block.ids, places, eventIds, at);
    return eventIds;
  }

  /** NaN: none. */
  numbers(name: NumberMember): Float64Array {
    return this.#converted(name, numberOrNaN);
  }

  /** See `FLAG_CODES`. */
  flags(name: FlagMember): Int32Array {
    return new Int32Array(this.#converted(name, flagCode));
  }

  /** Groups the events by their values in all of these columns. */
  tuples(names: readonly (TextMember | FlagMember)[]): Tuples {
    let keys = new Float64Array(this.#length);
    let size = 1;
    for (const name of names) {
      const isFlag = FLAGS.has(name);
      const { codes, values } = isFlag
        ? { codes: this.flags(name as FlagMember), values: [] }
        : this.texts(name as TextMember);
      const columnSize = isFlag ? FLAG_SIZE : values.length + 1;
      if (columnSize === 1) continue;
      if (size * columnSize > Number.MAX_SAFE_INTEGER) {
        const { codes, firsts } = renumbered(keys);
        keys = Float64Array.from(codes);
        size = firsts.length;
      }
      for (let i = 0; i < keys.length; i++) keys[i] = keys[i]! * columnSize + codes[i]!;
      size *= columnSize;
    }
    return renumbered(keys);
  }

  /** Counts the text of its events that segments hold. */
  textCount(): TextCount {
    const columns = TEXT_COLUMNS.map((name) => {
      const { codes, values } = this.texts(name);
      return { values: [null, ...values], which: codes };
    });
    return new TextCount(columns.filter(({ values }) => values.length > 1));
  }

  /** Returns the numbers of the values of a column: always as doubles, see `writeIntegers`. */
  #converted(
    name: NumberMember | FlagMember,
    numberOf: Converter,
  ): Float64Array {
    const numbers = new Float64Array(this.#length);
    for (const { block, places, at } of this.#pieces) {
      const column = block.coded[name];
      if (column === undefined) {
        numbers.fill(numberOf(block.same[name] ?? null), at, at + places.length);
        continue;
      }
      const { values, which } = column;
      let [last, number] = [-1, NaN];
      for (let i = 0; i < places.length; i++) {
        const place = which === null ? places[i]! : which[places[i]!]!;
        if (place !== last) number = numberOf(values[last = place]!);
        numbers[at + i] = number;
      }
    }
    return numbers;
  }
}

const FLAGS: ReadonlySet<string> = new Set(FLAG_COLUMNS);
