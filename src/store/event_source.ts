import type { CodedTexts, EventColumns } from "./event_columns.ts";
import { ID_BYTES } from "./id_codec.ts";
import { instantReader } from "./instant_text.ts";
import type { IntegerColumn } from "./integer_codec.ts";
import { cellOf } from "./heatmap_cell.ts";
import {
  FLAG_CODES,
  FLAG_COLUMNS,
  type FlagName,
  type IntegerName,
  type NumberName,
  type SlotName,
  type TextName,
} from "./segment_columns.ts";
import type { Runs } from "./segment_reader.ts";
import type { TextColumn } from "./text_codec.ts";

/** The columns of events that a segment is built from; each identity's events are ordered by time and id. */
export interface EventSource {
  readonly events: number;
  /** Bytes of the distinct texts. */
  readonly textBytes: number;
  /** The property of each slot: see `SegmentHead`. */
  readonly slotKeys: readonly string[];
  runs(): Runs;
  /** In epoch milliseconds. */
  moments(): Float64Array;
  ids(moments: Float64Array): Uint8Array;
  integers(name: IntegerName): IntegerColumn;
  numbers(name: NumberName): Float64Array;
  texts(name: TextName | SlotName): TextColumn;
}

/** The columns that hold numbers of the project's dictionaries. */
type NumberedColumn = "names" | "paths" | "contexts" | "traffics" | "titles" | "referrers";

/** Events that are not stored in segments yet, in any order. */
export interface EventBatch {
  readonly columns: EventColumns;
  /** The identity of each event. */
  readonly identities: Int32Array;
  readonly moments: Float64Array;
  /** 16 bytes each. */
  readonly ids: Uint8Array;
  readonly numbers: Readonly<Record<NumberedColumn, Int32Array>>;
}

const UTF8 = new TextEncoder();

/** Encodes texts in UTF-8, one after the other. */
function encodedTexts(values: readonly string[]): Pick<TextColumn, "ends" | "bytes"> {
  const bytes = UTF8.encode(values.join(""));
  const ends = new Uint32Array(values.length);
  let end = 0;
  for (const [i, { length }] of values.entries()) ends[i] = end += length;
  if (end === bytes.length) return { ends, bytes };
  // Some text is not ASCII: a character may take more than a byte.
  end = 0;
  for (const [i, value] of values.entries()) ends[i] = end += UTF8.encode(value).length;
  if (end === bytes.length) return { ends, bytes };
  // One text ends with half of a character, and the next one begins with the other half: they stay apart.
  return { ends, bytes: UTF8.encode(values.map((value) => value.toWellFormed()).join("")) };
}

/** Events of a batch, in the order of the segment they become. */
export class NewEvents implements EventSource {
  readonly events: number;
  readonly textBytes: number;
  readonly slotKeys = [];
  readonly #batch: EventBatch;
  readonly #order: Uint32Array;

  /**
   * @param order the places of the events in the batch, in the order of the segment
   * @param textBytes about how many bytes their texts take, each once
   */
  constructor(batch: EventBatch, order: Uint32Array, textBytes: number) {
    this.#batch = batch;
    this.#order = order;
    this.events = order.length;
    this.textBytes = textBytes;
  }

  runs(): Runs {
    const { identities: identityOf } = this.#batch;
    const identities: number[] = [];
    const starts: number[] = [];
    let last = NaN;
    for (const [at, place] of this.#order.entries()) {
      const identity = identityOf[place]!;
      if (identity === last) continue;
      identities.push(last = identity);
      starts.push(at);
    }
    starts.push(this.events);
    return { identities: Int32Array.from(identities), starts: Uint32Array.from(starts) };
  }

  moments(): Float64Array {
    return this.#ordered(this.#batch.moments, new Float64Array(this.events));
  }

  ids(): Uint8Array {
    const { ids: batchIds } = this.#batch;
    const ids = new Uint8Array(ID_BYTES * this.events);
    for (const [at, place] of this.#order.entries()) {
      for (let byte = 0; byte < ID_BYTES; byte++) {
        ids[ID_BYTES * at + byte] = batchIds[ID_BYTES * place + byte]!;
      }
    }
    return ids;
  }

  integers(name: IntegerName): IntegerColumn {
    const { columns, numbers } = this.#batch;
    const column = name === "cells"
      ? this.#cells()
      : (FLAG_COLUMNS as readonly string[]).includes(name)
      ? columns.flags(name as FlagName)
      : numbers[name as keyof EventBatch["numbers"]];
    return this.#ordered(column, new Int32Array(this.events));
  }

  numbers(name: NumberName): Float64Array {
    const { columns } = this.#batch;
    const column = name === "received_at" || name === "sent_at"
      ? this.#delays(name)
      : columns.numbers(name);
    return this.#ordered(column, new Float64Array(this.events));
  }

  texts(name: TextName | SlotName): TextColumn {
    const { codes, values } = this.#batch.columns.texts(name as TextName);
    return { ...encodedTexts(values), codes: this.#ordered(codes, new Int32Array(this.events)) };
  }

  #ordered<A extends Int32Array | Float64Array>(all: A, into: A): A {
    const order = this.#order;
    for (let at = 0; at < order.length; at++) into[at] = all[order[at]!]!;
    return into;
  }

  /** Returns milliseconds from each event to another of its times; NaN where it has no such time. */
  #delays(name: "received_at" | "sent_at"): Float64Array {
    const { columns, moments } = this.#batch;
    const { codes, values }: CodedTexts = columns.texts(name);
    const instants = [NaN, ...values.map(instantReader())];
    const delays = new Float64Array(codes.length);
    for (let i = 0; i < codes.length; i++) delays[i] = instants[codes[i]!]! - moments[i]!;
    return delays;
  }

  #cells(): Int32Array {
    const { columns } = this.#batch;
    const { codes, values } = columns.texts("name");
    const isPlaced = values.map((name) => name === "click" || name === "scroll");
    const numbers = PLACE_NUMBERS.map((name) => columns.numbers(name));
    const flags = PLACE_FLAGS.map((name) => columns.flags(name));
    const orNull = (value: number) => Number.isNaN(value) ? null : value;
    const cells = new Int32Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      if (!isPlaced[codes[i]! - 1]) continue;
      const [x, y, depth, width] = numbers.map((column) => orNull(column[i]!));
      const [fixed, rage, dead] = flags.map((column) => column[i] === FLAG_CODES.yes);
      cells[i] = cellOf({
        name: values[codes[i]! - 1]!,
        ...{ pointer_x: x!, pointer_y: y!, depth_px: depth!, viewport_width: width! },
        ...{ fixed: fixed!, rage: rage!, dead: dead! },
      });
    }
    return cells;
  }
}

const PLACE_NUMBERS = ["pointer_x", "pointer_y", "depth_px", "viewport_width"] as const;
const PLACE_FLAGS = ["fixed", "rage", "dead"] as const;
