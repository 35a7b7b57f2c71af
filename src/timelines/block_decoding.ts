import type { ColumnName } from "../store/segment_columns.ts";
import type { Blocks } from "../store/segment_head.ts";
import { SegmentReader } from "../store/segment_reader.ts";
import type { WantedBlocks } from "../store/stored_segments.ts";
import { type ColumnsWithBits, EVENT_COLUMNS, roomForBlocks, writeBlocks } from "./hot_columns.ts";
import { MemoryScope, type SharedMemory } from "./shared_memory.ts";

/** Decoded blocks of a segment, in shared memory. */
export interface DecodedBlocks {
  readonly wanted: WantedBlocks;
  /** The place in the segment of their first event. */
  readonly firstPlace: number;
  readonly columns: ColumnsWithBits;
}

/** What all tasks of a decoding share. */
export interface DecodeOrder {
  /** Their heads have the places of decoded columns only, since they are copied to other threads. */
  readonly decoded: readonly DecodedBlocks[];
}

/** Blocks of one of the segments, from `from` to before `to`. */
interface BlockRange {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

type ColumnBytes = Readonly<Partial<Record<ColumnName, Uint8Array>>>;

/** One thread's share of a decoding, which it writes into the columns of the order. */
export class DecodeWork {
  constructor(readonly order: DecodeOrder) {}

  /** Throws SegmentUnreadable. @param bytes those of the blocks, by column */
  run({ segment, from, to }: BlockRange, bytes: unknown): void {
    const { wanted: { segmentId, head }, firstPlace, columns } = this.order.decoded[segment]!;
    const blocks: Blocks = { first: from, end: to };
    const bytesOf = (column: ColumnName) => (bytes as ColumnBytes)[column]!;
    const reader = new SegmentReader(head, blocks, bytesOf, segmentId);
    writeBlocks(reader, columns, reader.firstPlace - firstPlace);
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
  readonly inputsOf: (range: BlockRange, isSent: boolean) => unknown;
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
  try {
    const decoded = readers.map((reader, i): DecodedBlocks => ({
      wanted: wanted[i]!,
      firstPlace: reader.firstPlace,
      columns: roomForBlocks(reader, scope.take),
    }));
    const order: DecodeOrder = {
      decoded: decoded.map((one) => ({ ...one, wanted: withDecodedPlaces(one.wanted) })),
    };
    await perform({
      orderSent: () => order,
      ranges: [...blockRanges(readers)],
      events: readers.reduce((sum, { events }) => sum + events, 0),
      inputsOf: ({ segment, from, to }, isSent): ColumnBytes => {
        const [reader, blocks] = [readers[segment]!, { first: from, end: to }];
        const bytes = isSent
          ? reader.bytesOf(EVENT_COLUMNS, blocks)
          : reader.viewsOf(EVENT_COLUMNS, blocks);
        return Object.fromEntries(bytes);
      },
      open: () => new DecodeWork(order),
      merge: () => null,
    });
    return decoded;
  } catch (error) {
    scope.release();
    throw error;
  }
}
