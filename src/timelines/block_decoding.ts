import type { ColumnName } from "../store/segment_columns.ts";
import type { Blocks } from "../store/segment_head.ts";
import { SegmentReader } from "../store/segment_reader.ts";
import type { WantedBlocks } from "../store/stored_segments.ts";
import { type ColumnsWithBits, EVENT_COLUMNS, roomForBlocks, writeBlocks } from "./hot_columns.ts";
import { MemoryScope, type SharedMemory, type Take } from "./shared_memory.ts";

/** Decoded blocks of a segment, in shared memory. */
export interface DecodedBlocks {
  readonly wanted: WantedBlocks;
  /** The place in the segment of their first event. */
  readonly firstPlace: number;
  readonly columns: ColumnsWithBits;
}

/** The stored bytes of blocks, by column. */
type StoredBytes = ReadonlyMap<ColumnName, Uint8Array>;

/** What all tasks of a decoding share. */
export interface DecodeOrder {
  /** Their heads have the places of decoded columns only, since they are copied to other threads. */
  readonly decoded: readonly DecodedBlocks[];
  /** What each of them is decoded from. */
  readonly stored: readonly StoredBytes[];
}

/** Blocks of one of the segments, from `from` to before `to`. */
interface BlockRange {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

/** One thread's share of a decoding, which it writes into the columns of the order. */
export class DecodeWork {
  readonly #readers: SegmentReader[] = [];

  constructor(readonly order: DecodeOrder) {}

  /** Throws SegmentUnreadable. */
  run({ segment, from, to }: BlockRange): void {
    const { wanted: { segmentId, head }, firstPlace, columns } = this.order.decoded[segment]!;
    const blocks: Blocks = { first: from, end: to };
    const bytes = this.#readerOf(segment).viewsOf(EVENT_COLUMNS, blocks);
    const reader = new SegmentReader(head, blocks, (column) => bytes.get(column)!, segmentId);
    writeBlocks(reader, columns, reader.firstPlace - firstPlace);
  }

  /** Returns a reader of all wanted blocks of a segment. */
  #readerOf(segment: number): SegmentReader {
    const { decoded, stored } = this.order;
    const { head, blocks, segmentId } = decoded[segment]!.wanted;
    return this.#readers[segment] ??= new SegmentReader(
      head,
      blocks,
      (column) => stored[segment]!.get(column)!,
      segmentId,
    );
  }

  result(): null {
    return null;
  }
}

/** A decoding that a pool can perform: see `PoolJob`. */
interface DecodeJob {
  readonly orderSent: () => DecodeOrder;
  /** Each is one block. */
  readonly ranges: readonly BlockRange[];
  /** About how many events are decoded. */
  readonly events: number;
  readonly open: () => DecodeWork;
  readonly merge: () => null;
}

/** Performs a decoding, on any threads. */
export type PerformDecoding = (job: DecodeJob) => Promise<unknown>;

function withDecodedPlaces(wanted: WantedBlocks): WantedBlocks {
  const { places, ...head } = wanted.head;
  const decoded = EVENT_COLUMNS.flatMap((name) => {
    const place = places.get(name);
    return place === undefined ? [] : [[name, place] as const];
  });
  return { ...wanted, head: { ...head, places: new Map(decoded) } };
}

function* blockRanges(readers: readonly SegmentReader[]): Generator<BlockRange> {
  for (const [segment, { blocks: { first, end } }] of readers.entries()) {
    for (let from = first; from < end; from++) yield { segment, from, to: from + 1 };
  }
}

/**
 * Copies bytes into one shared buffer, so that a task is no more than the number of a block: with buffers of its own for
 * each, a read in parts takes 7.8 % of its processor time for what threads send each other, and 6.8 % without.
 */
function sharedBytes(stored: readonly StoredBytes[], take: Take): StoredBytes[] {
  const all = stored.flatMap((one) => [...one.values()]);
  const into = new Uint8Array(take(all.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  const copy = (bytes: Uint8Array): Uint8Array => {
    into.set(bytes, at);
    return into.subarray(at, at += bytes.length);
  };
  return stored.map((one) => new Map(one.entries().map(([name, bytes]) => [name, copy(bytes)])));
}

/**
 * Decodes the columns that every read needs of fetched blocks. Those of each reader are in one buffer from
 * `memory`, which the caller then owns. Throws SegmentUnreadable.
 */
export async function decodeBlocks(
  wanted: readonly WantedBlocks[],
  readers: readonly SegmentReader[],
  memory: SharedMemory,
  perform: PerformDecoding,
): Promise<DecodedBlocks[]> {
  const scope = new MemoryScope(memory);
  const sent = new MemoryScope(memory);
  try {
    const decoded = readers.map((reader, i): DecodedBlocks => ({
      wanted: wanted[i]!,
      firstPlace: reader.firstPlace,
      columns: roomForBlocks(reader, scope.take),
    }));
    const stored = readers.map((reader) => reader.viewsOf(EVENT_COLUMNS, reader.blocks));
    await perform({
      orderSent: () => ({
        decoded: decoded.map((one) => ({ ...one, wanted: withDecodedPlaces(one.wanted) })),
        stored: sharedBytes(stored, sent.take),
      }),
      ranges: [...blockRanges(readers)],
      events: readers.reduce((sum, { events }) => sum + events, 0),
      open: () => new DecodeWork({ decoded, stored }),
      merge: () => null,
    });
    return decoded;
  } catch (error) {
    scope.release();
    throw error;
  } finally {
    sent.release();
  }
}
