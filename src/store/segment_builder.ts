import { ByteWriter } from "./byte_stream.ts";
import type { EventSource } from "./event_source.ts";
import { ID_BYTES, idsAt, sortByTime, writeIds } from "./id_codec.ts";
import { writeIntegers } from "./integer_codec.ts";
import { writeNumbers } from "./number_codec.ts";
import type { SlotRules } from "./property_keys.ts";
import { type SplitProperties, splitProperties } from "./property_split.ts";
import {
  type ColumnName,
  type IntegerName,
  keyOf,
  kindOf,
  NAMED_COLUMNS,
  type NumberName,
  type SlotName,
  SLOTS,
  type TextName,
} from "./segment_columns.ts";
import { countWhile, encodeHead, type SegmentHead, UNUSED_SLOT } from "./segment_head.ts";
import { BLOCK_EVENTS_MAX, BLOCK_TEXT_BYTES_AIM } from "./store_limits.ts";
import { type TextColumn, writeTexts } from "./text_codec.ts";
import { TextGatherer } from "./text_gatherer.ts";
import type { Yield } from "./yielding.ts";

/** A segment ready to be stored. */
export interface EncodedSegment
  extends Pick<SegmentHead, "events" | "fromMs" | "toMs" | "textBytes"> {
  /** The properties that have a slot, as JSON. */
  readonly slotKeys: readonly string[];
  readonly head: Uint8Array;
  readonly body: Uint8Array;
}

/** Decides by the identity and time of an event whether it is kept. */
export type Keeps = (identity: number, ms: number) => boolean;

/** The order of the sources' events in the segment, and their runs. */
interface Order {
  /** Places of the events, counted through all sources one after the other. */
  readonly places: Uint32Array;
  readonly identities: readonly number[];
  readonly starts: readonly number[];
  /** Of all events of the sources, by place. */
  readonly moments: Float64Array;
  readonly ids: Uint8Array;
}

/** Copies one column of all sources into `into`, one after the other. */
function joined<A extends Float64Array | Int32Array | Uint8Array>(
  into: A,
  pieces: Iterable<ArrayLike<number>>,
): A {
  let at = 0;
  for (const piece of pieces) {
    into.set(piece, at);
    at += piece.length;
  }
  return into;
}

/** Merges the runs of the sources, without the events that are not kept. */
function orderOf(sources: readonly EventSource[], keeps: Keeps): Order {
  const total = sources.reduce((sum, { events }) => sum + events, 0);
  const sourceMoments = sources.map((source) => source.moments());
  const moments = joined(new Float64Array(total), sourceMoments);
  const ids = joined(
    new Uint8Array(ID_BYTES * total),
    sources.map((source, i) => source.ids(sourceMoments[i]!)),
  );
  let base = 0;
  const readers = sources.map((source) => {
    const reader = { ...source.runs(), run: 0, base };
    base += source.events;
    return reader;
  });
  const places = new Uint32Array(total);
  const identities: number[] = [];
  const starts: number[] = [];
  let length = 0;
  for (;;) {
    let identity = Infinity;
    for (const reader of readers) {
      identity = Math.min(identity, reader.identities[reader.run] ?? Infinity);
    }
    if (identity === Infinity) break;
    const start = length;
    let pieces = 0;
    for (const reader of readers) {
      if (reader.identities[reader.run] !== identity) continue;
      const end = reader.base + reader.starts[reader.run + 1]!;
      for (let at = reader.base + reader.starts[reader.run]!; at < end; at++) {
        if (keeps(identity, moments[at]!)) places[length++] = at;
      }
      reader.run++;
      pieces++;
    }
    if (length === start) continue;
    if (pieces > 1) sortByTime(places.subarray(start, length), moments, ids);
    identities.push(identity);
    starts.push(start);
  }
  return { places: places.subarray(0, length), identities, starts, moments, ids };
}

/** Returns how many events a block has: fewer if their texts are long. */
function blockEventsOf(events: number, textBytes: number): number {
  const byText = Math.floor(events * BLOCK_TEXT_BYTES_AIM / Math.max(1, textBytes));
  return Math.max(1, Math.min(BLOCK_EVENTS_MAX, byText));
}

const EMPTY_BLOCK = new Uint8Array(0);

const isNotZero = (value: number): boolean => value !== 0;

function valuesAt(values: Float64Array, places: Uint32Array): Float64Array {
  const taken = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) taken[i] = values[places[i]!]!;
  return taken;
}

/** Returns the bytes that a codec writes. */
function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter();
  write(writer);
  return writer.end();
}

/** Builds the columns of a segment, block by block, from its sources. */
class SegmentBuilder {
  textBytes = 0;
  readonly fromMs: number;
  readonly toMs: number;
  /** Key columns of texts, in the order of the segment. */
  readonly #keys = new Map<IntegerName, Int32Array>();

  constructor(
    private readonly sources: readonly EventSource[],
    private readonly order: Order,
    private readonly properties: SplitProperties,
    private readonly blockEvents: number,
    private readonly yieldIfDue: Yield,
  ) {
    let fromMs = Infinity;
    let toMs = -Infinity;
    for (const place of order.places) {
      const ms = order.moments[place]!;
      if (ms < fromMs) fromMs = ms;
      if (ms > toMs) toMs = ms;
    }
    this.fromMs = fromMs;
    this.toMs = toMs;
  }

  /** Returns the identity of the first event of each block. */
  async firstIdentities(): Promise<Int32Array> {
    const { identities } = this.order;
    return Int32Array.from(await this.#blocks((from) => identities[this.#runAt(from)]!));
  }

  column(name: ColumnName): Promise<Uint8Array[]> {
    if (name === "identities" || name === "runs") return this.#runs(name);
    if (name === "times") {
      const { places, moments } = this.order;
      const times = new Int32Array(places.length);
      for (let i = 0; i < times.length; i++) times[i] = moments[places[i]!]! - this.fromMs;
      return this.#integers(times);
    }
    const kind = kindOf(name);
    if (kind === "ids") return this.#ids();
    if (kind === "numbers") return this.#numbers(name as NumberName);
    if (kind === "texts") return this.#texts(name as TextName | SlotName);
    return this.#integers(this.#gathered(name as IntegerName));
  }

  /** Calls `make` with the range of places of each block. */
  async #blocks<T>(make: (from: number, to: number) => T): Promise<T[]> {
    const blocks: T[] = [];
    const { length } = this.order.places;
    for (let from = 0; from < length; from += this.blockEvents) {
      await this.yieldIfDue();
      blocks.push(make(from, Math.min(from + this.blockEvents, length)));
    }
    return blocks;
  }

  #runAt(place: number): number {
    const { starts } = this.order;
    return countWhile(starts.length, (run) => starts[run]! <= place) - 1;
  }

  #runs(name: "identities" | "runs"): Promise<Uint8Array[]> {
    const { identities, starts, places } = this.order;
    return this.#blocks((from, to) => {
      const first = this.#runAt(from);
      const last = this.#runAt(to - 1);
      const values = new Int32Array(last - first + 1);
      for (let run = first; run <= last; run++) {
        const begin = Math.max(from, starts[run]!);
        const end = Math.min(to, starts[run + 1] ?? places.length);
        values[run - first] = name === "runs" ? end - begin : identities[run]!;
      }
      return written((writer) => writeIntegers(writer, values));
    });
  }

  /** Returns a column of integers in the order of the segment. */
  #gathered(name: IntegerName): Int32Array {
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const { places, moments } = this.order;
    const pieces = this.sources.map((source) => source.integers(name));
    const unordered = joined(new Int32Array(moments.length), pieces);
    const values = new Int32Array(places.length);
    for (let i = 0; i < places.length; i++) values[i] = unordered[places[i]!]!;
    return values;
  }

  #integers(values: Int32Array): Promise<Uint8Array[]> {
    return this.#blocks((from, to) => {
      const block = values.subarray(from, to);
      return block.some(isNotZero)
        ? written((writer) => writeIntegers(writer, block))
        : EMPTY_BLOCK;
    });
  }

  #numbers(name: NumberName): Promise<Uint8Array[]> {
    const { places, moments } = this.order;
    const pieces = this.sources.map((source) => source.numbers(name));
    const unordered = joined(new Float64Array(moments.length), pieces);
    return this.#blocks((from, to) => {
      const block = valuesAt(unordered, places.subarray(from, to));
      return block.every(Number.isNaN)
        ? EMPTY_BLOCK
        : written((writer) => writeNumbers(writer, block));
    });
  }

  #ids(): Promise<Uint8Array[]> {
    const { places, moments, ids } = this.order;
    return this.#blocks((from, to) => {
      const block = places.subarray(from, to);
      return written((writer) => writeIds(writer, idsAt(ids, block), valuesAt(moments, block)));
    });
  }

  /** Returns a text column of each source. */
  async #columnsOf(name: TextName | SlotName): Promise<readonly TextColumn[]> {
    if (name === "properties") return this.properties.templates;
    const slot = SLOTS.indexOf(name as SlotName);
    return slot < 0
      ? this.sources.map((source) => source.texts(name))
      : await this.properties.valuesOf(slot);
  }

  async #texts(name: TextName | SlotName): Promise<Uint8Array[]> {
    const columns = await this.#columnsOf(name);
    if (columns.every(({ ends }) => ends.length === 0)) return this.#blocks(() => EMPTY_BLOCK);
    const key = keyOf(name);
    if (key !== null && !this.#keys.has(key)) this.#keys.set(key, this.#gathered(key));
    const keys = key === null ? null : this.#keys.get(key)!;
    const gatherer = new TextGatherer(columns);
    return this.#blocks((from, to) => {
      const block = gatherer.gather(this.order.places.subarray(from, to));
      if (block.ends.length === 0) return EMPTY_BLOCK;
      this.textBytes += block.bytes.length;
      return written((writer) =>
        writeTexts(writer, block, keys === null ? null : keys.subarray(from, to))
      );
    });
  }
}

/**
 * Builds one segment from the kept events of several sources; null: none is kept. Works column by column and
 * never assembles a whole event.
 * @param rules which properties get slots
 */
export async function buildSegment(
  sources: readonly EventSource[],
  keeps: Keeps,
  yieldIfDue: Yield,
  rules: SlotRules,
): Promise<EncodedSegment | null> {
  const order = orderOf(sources, keeps);
  const events = order.places.length;
  if (events === 0) return null;
  const textBytes = sources.reduce((sum, source) => sum + source.textBytes, 0);
  const blockEvents = blockEventsOf(events, textBytes);
  const properties = await splitProperties(sources, rules, yieldIfDue);
  const builder = new SegmentBuilder(sources, order, properties, blockEvents, yieldIfDue);
  const columns = new Map<ColumnName, Uint8Array[]>();
  for (const name of [...NAMED_COLUMNS, ...SLOTS.slice(0, properties.keys.length)]) {
    const blocks = await builder.column(name);
    if (blocks.some(({ length }) => length > 0)) columns.set(name, blocks);
  }
  const { fromMs, toMs } = builder;
  const head = {
    events,
    blockEvents,
    fromMs,
    toMs,
    textBytes: builder.textBytes,
    firstIdentities: await builder.firstIdentities(),
    lastIdentity: order.identities.at(-1)!,
    // Drops keys that only removed events had.
    slotKeys: properties.keys.map((key, slot) => columns.has(SLOTS[slot]!) ? key : UNUSED_SLOT),
  };
  const body = new ByteWriter();
  for (const blocks of columns.values()) for (const block of blocks) body.bytes(block);
  const slotKeys = head.slotKeys.filter((key) => key !== UNUSED_SLOT);
  const encoded = { head: encodeHead(head, columns), body: body.end() };
  return { events, fromMs, toMs, textBytes: builder.textBytes, slotKeys, ...encoded };
}
