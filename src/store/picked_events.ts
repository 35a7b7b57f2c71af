import { ID_BYTES, readIds } from "./id_codec.ts";
import { readIntegers } from "./integer_codec.ts";
import { readNumbers } from "./number_codec.ts";
import {
  type IntegerName,
  keyOf,
  type NumberName,
  type SlotName,
  type TextName,
} from "./segment_columns.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { emptyTexts, readTexts, type TextColumn } from "./text_codec.ts";

/**
 * Some events of one block, by their places in it. Decodes only their part of each column: for a hundred
 * events, this takes a quarter of the time of the whole block.
 */
export class PickedEvents {
  readonly events: number;
  readonly #block: SegmentReader;
  readonly #places: Uint32Array;

  /** @param block a reader of a single block */
  constructor(block: SegmentReader, places: Uint32Array) {
    this.#block = block;
    this.#places = places;
    this.events = places.length;
  }

  get slotKeys(): readonly string[] {
    return this.#block.slotKeys;
  }

  /** Throws SegmentUnreadable, as the other methods do. */
  integers(name: IntegerName): Int32Array {
    return this.#block.decodeBlock(name, readIntegers, (stored) => stored.at(this.#places)) ??
      new Int32Array(this.events);
  }

  /** In epoch milliseconds. */
  moments(): Float64Array {
    const { fromMs } = this.#block.head;
    return Float64Array.from(this.integers("times"), (time) => fromMs + time);
  }

  /** NaN: none. */
  numbers(name: NumberName): Float64Array {
    return this.#block.decodeBlock(name, readNumbers, (stored) => stored.at(this.#places)) ??
      new Float64Array(this.events).fill(NaN);
  }

  /** @param keys the key column of this text column, if it was read already */
  texts(name: TextName | SlotName, keys?: Int32Array): TextColumn {
    const key = keyOf(name);
    return this.#block.decodeBlock(name, readTexts, (stored) => {
      const known = key === null ? null : keys ?? this.integers(key);
      return stored.at(this.#places, known);
    }) ?? emptyTexts(this.events);
  }

  /** 16 bytes an event. */
  ids(moments: Float64Array = this.moments()): Uint8Array {
    return this.#block.decodeBlock("ids", readIds, (stored) => stored.at(this.#places, moments)) ??
      new Uint8Array(ID_BYTES * this.events);
  }
}
