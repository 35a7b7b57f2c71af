import { crc32 } from "node:zlib";
import { ByteReader, type KeptMemory } from "./byte_stream.ts";
import { ID_BYTES, readIds } from "./id_codec.ts";
import {
  type IntegerColumn,
  type IntegerRange,
  joinedRange,
  joinIntegers,
  readIntegers,
  readRange,
  type StoredIntegers,
  zerosStored,
} from "./integer_codec.ts";
import { readNumbers } from "./number_codec.ts";
import {
  type ColumnName,
  type IntegerName,
  keyOf,
  type NumberName,
  type SlotName,
  type TextName,
} from "./segment_columns.ts";
import {
  type Blocks,
  countWhile,
  type SegmentHead,
  type SegmentUnreadable,
  spanOf,
  unreadable,
} from "./segment_head.ts";
import { emptyTexts, readTexts, type TextColumn } from "./text_codec.ts";

/** Runs: the events of `identities[i]` lie from `starts[i]` to before `starts[i + 1]`. */
export interface Runs {
  /** Each once, ascending. */
  readonly identities: Int32Array;
  readonly starts: Uint32Array;
}

function joinTexts(pieces: readonly TextColumn[]): TextColumn {
  if (pieces.length === 1) return pieces[0]!;
  const sum = (lengthOf: (piece: TextColumn) => number) =>
    pieces.reduce((total, piece) => total + lengthOf(piece), 0);
  const values = sum(({ ends }) => ends.length);
  const codes = new Int32Array(sum((piece) => piece.codes.length));
  const ends = new Uint32Array(values);
  const bytes = new Uint8Array(sum((piece) => piece.bytes.length));
  let [at, value, byte] = [0, 0, 0];
  for (const piece of pieces) {
    for (let i = 0; i < piece.codes.length; i++) {
      const code = piece.codes[i]!;
      codes[at++] = code === 0 ? 0 : code + value;
    }
    bytes.set(piece.bytes, byte);
    for (let i = 0; i < piece.ends.length; i++) ends[value + i] = piece.ends[i]! + byte;
    value += piece.ends.length;
    byte += piece.bytes.length;
  }
  return { codes, ends, bytes };
}

/** The texts of events in one block; `at` is the place of its first event. */
interface TextBlock {
  readonly at: number;
  /** The events' places in the block; null: all of its events. */
  readonly places: Uint32Array | null;
  readonly column: TextColumn;
}

/** Returns the ascending places from `from` to before `to`, relative to `from`. */
function placesWithin(places: Uint32Array, from: number, to: number): Uint32Array {
  const first = countWhile(places.length, (i) => places[i]! < from);
  const end = countWhile(places.length, (i) => places[i]! < to);
  return places.slice(first, end).map((place) => place - from);
}

/** The bytes of a block of a column; `at` is the place of its first event. */
interface ColumnPiece {
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

/** A block of a column as its codec reads it; null: it is empty. */
interface StoredPiece<Stored> extends Omit<ColumnPiece, "bytes"> {
  readonly stored: Stored | null;
}

/** The columns read of a single block, each as its codec returns it, and their memory. */
interface KeptColumns extends KeptMemory {
  readonly stored: Map<ColumnName, unknown>;
}

/** Some events of a segment, or all of them. */
export type SegmentEvents = Pick<
  SegmentReader,
  "events" | "slotKeys" | "integers" | "moments" | "numbers" | "texts" | "ids"
>;

/**
 * Reads columns of some blocks of a segment. Columns are decoded on demand; only the readers of `eachBlock`
 * keep what they have read of them.
 */
export class SegmentReader {
  /** The place in the segment of the first event, and the number of events. */
  readonly firstPlace: number;
  readonly events: number;
  readonly textBytes: number;
  readonly #bytesOf: (column: ColumnName) => Uint8Array;
  /** The places of the only events that are read; null: all are. */
  readonly #picked: Uint32Array | null;

  /**
   * @param bytesOf returns the bytes of the body at `spanOf` this column and these blocks
   * @param segmentId the id for error messages; null: the segment is not stored
   * @param kept where a reader of a single block keeps what it decodes; null: nowhere
   */
  constructor(
    readonly head: SegmentHead,
    readonly blocks: Blocks,
    bytesOf: (column: ColumnName) => Uint8Array,
    private readonly segmentId: number | null = null,
    private readonly kept: KeptColumns | null = null,
    picked: Uint32Array | null = null,
  ) {
    this.#picked = picked;
    this.firstPlace = Math.min(blocks.first * head.blockEvents, head.events);
    this.events = picked?.length ??
      Math.min(blocks.end * head.blockEvents, head.events) - this.firstPlace;
    this.textBytes = head.textBytes;
    this.#bytesOf = bytesOf;
  }

  get slotKeys(): readonly string[] {
    return this.head.slotKeys;
  }

  /**
   * Returns the events at these places of the reader's single block. Only their part of each column is
   * decoded: for a hundred events, this takes a quarter of the time of the whole block.
   */
  pick(places: Uint32Array): SegmentEvents {
    const { first, end } = this.blocks;
    if (end - first !== 1) throw new Error("The reader has more than one block");
    return new SegmentReader(
      this.head,
      this.blocks,
      this.#bytesOf,
      this.segmentId,
      this.kept,
      places,
    );
  }

  /** Throws SegmentUnreadable. */
  integers(name: IntegerName): IntegerColumn {
    const pieces = this.#integers(name);
    return this.#picked === null ? joinIntegers(pieces) : pieces[0]!.at(this.#picked);
  }

  /** Writes the integers of a column from the place `at` on. Throws SegmentUnreadable. */
  writeIntegers(name: IntegerName, column: IntegerColumn | Uint32Array, at: number): void {
    for (const piece of this.#integers(name)) {
      piece.writeTo(column, at);
      at += piece.length;
    }
  }

  /** Reads the range of a column's integers, which is stored beside them. Throws SegmentUnreadable. */
  rangeOf(name: IntegerName): IntegerRange {
    const stored = this.#cut(name).filter(({ bytes }) => bytes.length > 0);
    return joinedRange(
      stored.map(({ bytes }) => this.#decoded(name, () => readRange(new ByteReader(bytes)))),
    );
  }

  /** Milliseconds since the segment's first event. Throws SegmentUnreadable. */
  times(): Uint32Array {
    if (this.#picked !== null) return new Uint32Array(this.integers("times"));
    const times = new Uint32Array(this.events);
    this.writeIntegers("times", times, 0);
    return times;
  }

  /** In epoch milliseconds. Throws SegmentUnreadable. */
  moments(): Float64Array {
    const times = this.times();
    const moments = new Float64Array(times.length);
    for (let at = 0; at < times.length; at++) moments[at] = this.head.fromMs + times[at]!;
    return moments;
  }

  /** Throws SegmentUnreadable. */
  runs(): Runs {
    const counts = this.integers("runs");
    const stored = this.integers("identities");
    const identities = new Int32Array(stored.length);
    const starts = new Uint32Array(stored.length + 1);
    let [count, start] = [0, 0];
    for (let run = 0; run < stored.length; run++) {
      // A run that crosses into the next block is stored as two.
      if (count === 0 || stored[run] !== identities[count - 1]) {
        identities[count] = stored[run]!;
        starts[count++] = start;
      }
      start += counts[run]!;
    }
    starts[count] = start;
    return { identities: identities.subarray(0, count), starts: starts.subarray(0, count + 1) };
  }

  /** NaN: none. Throws SegmentUnreadable. @param values what is written and returned, one for each event */
  numbers(name: NumberName, values: Float64Array = new Float64Array(this.events)): Float64Array {
    for (const { at, length, stored } of this.#stored(name, readNumbers)) {
      const piece = values.subarray(at, at + length);
      if (stored === null) piece.fill(NaN);
      else this.#decoded(name, () => stored(this.#picked, piece));
    }
    return values;
  }

  /** @param keys the key column of this text column, if it was read already. Throws SegmentUnreadable */
  texts(name: TextName | SlotName, keys?: Int32Array): TextColumn {
    const isEmpty = !this.head.places.has(name);
    const key = isEmpty ? null : keyOf(name);
    const known = key === null ? null : keys ?? new Int32Array(this.integers(key));
    return joinTexts(
      this.#stored(name, readTexts).map(({ at, length, stored }) => {
        if (stored === null) return emptyTexts(length);
        const blockKeys = known === null ? null : known.subarray(at, at + length);
        return this.#decoded(name, () => stored(this.#picked, blockKeys));
      }),
    );
  }

  /**
   * Yields the texts of a slot block by block; skips blocks without any. Throws SegmentUnreadable.
   * @param picked the places of the only events that are read, ascending; null: all
   */
  *textBlocks(slot: SlotName, picked: Uint32Array | null): Generator<TextBlock> {
    for (const { at, length, bytes } of this.#pieces(slot)) {
      if (bytes.length === 0) continue;
      const places = picked === null ? null : placesWithin(picked, at, at + length);
      if (places?.length === 0) continue;
      const read = () => readTexts(new ByteReader(bytes))(places, null);
      yield { at, places, column: this.#decoded(slot, read) };
    }
  }

  /** 16 bytes an event. Throws SegmentUnreadable. */
  ids(moments: Float64Array = this.moments()): Uint8Array {
    const ids = new Uint8Array(ID_BYTES * this.events);
    for (const { at, length, stored } of this.#stored("ids", readIds)) {
      const blockMoments = moments.subarray(at, at + length);
      const read = () => stored!(this.#picked, blockMoments);
      ids.set(this.#decoded("ids", read), ID_BYTES * at);
    }
    return ids;
  }

  /** The memory of what this reader keeps decoded, in bytes. */
  get keptBytes(): number {
    return this.kept?.bytes ?? 0;
  }

  /** Returns the bytes of these columns in some of the reader's blocks, as views of its own. */
  viewsOf(columns: readonly ColumnName[], blocks: Blocks): Map<ColumnName, Uint8Array> {
    const stored = columns.filter((column) => this.head.places.has(column));
    return new Map(stored.map((column) => {
      const before = spanOf(this.head, column, this.blocks).from;
      const { from, bytes } = spanOf(this.head, column, blocks);
      const columnBytes = bytes === 0 ? new Uint8Array(0) : this.#bytesOf(column);
      return [column, columnBytes.subarray(from - before, from - before + bytes)];
    }));
  }

  /** Copies the bytes of these columns in some of the reader's blocks. */
  bytesOf(columns: readonly ColumnName[], blocks: Blocks): Map<ColumnName, Uint8Array> {
    return new Map(
      this.viewsOf(columns, blocks).entries().map(([name, view]) => [name, view.slice()]),
    );
  }

  /** Yields a reader of each block, of the same bytes. */
  *inBlocks(): Generator<SegmentReader> {
    const { head, segmentId, blocks: { first: start, end: stop } } = this;
    for (let first = start; first < stop; first++) {
      const blocks = { first, end: first + 1 };
      const bytesOf = (name: ColumnName) => this.viewsOf([name], blocks).get(name)!;
      yield new SegmentReader(head, blocks, bytesOf, segmentId);
    }
  }

  /** Yields a reader of each block, which has its own copy of the bytes and keeps what it decodes. */
  *eachBlock(columns: readonly ColumnName[]): Generator<SegmentReader> {
    const { head, blocks: { first: start, end: stop } } = this;
    for (let first = start; first < stop; first++) {
      const blocks = { first, end: first + 1 };
      const copies = this.bytesOf(columns, blocks);
      yield new SegmentReader(
        head,
        blocks,
        (name) => copies.get(name)!,
        this.segmentId,
        { stored: new Map(), bytes: 0 },
      );
    }
  }

  #integers(name: IntegerName): StoredIntegers[] {
    return this.#stored(name, readIntegers)
      .map(({ length, stored }) => stored ?? zerosStored(length));
  }

  /** @param read the codec's read function, always the same for a column */
  #stored<Stored>(
    name: ColumnName,
    read: (reader: ByteReader, length: number) => Stored,
  ): readonly StoredPiece<Stored>[] {
    let pieces = this.kept?.stored.get(name) as readonly StoredPiece<Stored>[] | undefined;
    if (pieces === undefined) {
      pieces = this.#pieces(name).map(({ at, length, bytes }) => {
        const reader = () => new ByteReader(bytes, this.kept);
        const decode = () => read(reader(), length);
        return { at, length, stored: bytes.length === 0 ? null : this.#decoded(name, decode) };
      });
      this.kept?.stored.set(name, pieces);
    }
    // Events may be picked more than once.
    const length = this.#picked?.length;
    return length === undefined ? pieces : pieces.map((piece) => ({ ...piece, length }));
  }

  /** Returns the bytes of a column block by block, with the place of its first event. Checks the checksums. */
  #pieces(name: ColumnName): readonly ColumnPiece[] {
    const pieces = this.#cut(name);
    const checksums = this.head.places.get(name)?.checksums;
    for (const [i, { bytes }] of pieces.entries()) {
      const block = this.blocks.first + i;
      if (bytes.length > 0 && crc32(bytes) !== checksums![block]) {
        throw this.#damaged(`block ${block} of its ${name} has a wrong checksum`);
      }
    }
    return pieces;
  }

  /** Cuts a column's bytes into blocks. Checks only that no bytes are missing. */
  #cut(name: ColumnName): readonly ColumnPiece[] {
    const { head, blocks: { first, end } } = this;
    const place = head.places.get(name);
    const { from, bytes: size } = spanOf(head, name, this.blocks);
    const columnBytes = size === 0 ? new Uint8Array(0) : this.#bytesOf(name);
    const pieces = [];
    for (let block = first; block < end; block++) {
      const at = (block - first) * head.blockEvents;
      const length = Math.min(head.blockEvents, head.events - this.firstPlace - at);
      const [start, stop] = place === undefined
        ? [0, 0]
        : [place.starts[block]! - from, place.starts[block + 1]! - from];
      const bytes = columnBytes.subarray(start, stop);
      if (bytes.length < stop! - start!) {
        throw this.#damaged(`block ${block} of its ${name} is cut short`);
      }
      pieces.push({ at, length, bytes });
    }
    return pieces;
  }

  #decoded<T>(name: ColumnName, decode: () => T): T {
    try {
      return decode();
    } catch (cause) {
      throw unreadable(this.segmentId, `'s ${name} cannot be read`, { cause });
    }
  }

  #damaged(what: string): SegmentUnreadable {
    return unreadable(this.segmentId, ` is damaged: ${what}`);
  }
}
