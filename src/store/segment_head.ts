import { crc32 } from "node:zlib";
import { ByteReader, ByteWriter } from "./byte_stream.ts";
import { type ColumnName, COLUMNS } from "./segment_columns.ts";

/** Raised with every change that the program before could not read; each version reads all before it. */
export const SEGMENT_VERSION = 1;
const CHECKSUM_BYTES = 4;

/** A segment cannot be read: it is of a later version, or damaged. */
export class SegmentUnreadable extends Error {
  override readonly name = "SegmentUnreadable";
}

/** Where a column lies in the body, block by block. */
export interface ColumnPlace {
  /** Where each block of it begins, and where the last one ends. */
  readonly starts: Float64Array;
  /** CRC-32 of each block. */
  readonly checksums: Uint32Array;
}

/** What stands where in a segment's body: what is read first of it. */
export interface SegmentHead {
  readonly events: number;
  /** Events of each block but the last, which may have fewer. */
  readonly blockEvents: number;
  /** The first and the last moment, in epoch milliseconds; less than 2^31 apart. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Bytes of the different texts of each block, before they were compressed. */
  readonly textBytes: number;
  /** The identity of the first event of each block, ascending. */
  readonly firstIdentities: Int32Array;
  /** The last identity. */
  readonly lastIdentity: number;
  /** Columns that are not here hold nothing of any event. */
  readonly places: ReadonlyMap<ColumnName, ColumnPlace>;
}

/** One column's blocks, encoded; an empty one holds nothing of its events. */
export type EncodedColumns = ReadonlyMap<ColumnName, readonly Uint8Array[]>;

/** The directory of these columns. */
export function encodeHead(head: Omit<SegmentHead, "places">, columns: EncodedColumns): Uint8Array {
  const writer = new ByteWriter();
  writer.u8(SEGMENT_VERSION);
  writer.varint(head.events);
  writer.varint(head.blockEvents);
  writer.f64(head.fromMs);
  writer.f64(head.toMs);
  writer.varint(head.textBytes);
  for (const identity of head.firstIdentities) writer.i32(identity);
  writer.i32(head.lastIdentity);
  writer.varint(columns.size);
  for (const [name, blocks] of columns) {
    writer.u8(COLUMNS.indexOf(name));
    for (const block of blocks) {
      writer.varint(block.length);
      if (block.length > 0) writer.u32(crc32(block));
    }
  }
  const bytes = writer.end();
  writer.u32(crc32(bytes));
  return writer.end();
}

function readPlaces(reader: ByteReader, blocks: number): Map<ColumnName, ColumnPlace> {
  const places = new Map<ColumnName, ColumnPlace>();
  let end = 0;
  for (let left = reader.varint(); left > 0; left--) {
    const name = COLUMNS[reader.u8()]!;
    const starts = new Float64Array(blocks + 1);
    const checksums = new Uint32Array(blocks);
    starts[0] = end;
    for (let block = 0; block < blocks; block++) {
      const length = reader.varint();
      if (length > 0) checksums[block] = reader.u32();
      starts[block + 1] = end += length;
    }
    places.set(name, { starts, checksums });
  }
  return places;
}

/** What a segment is called where it cannot be read, at the beginning of a sentence. */
export function titleOf(segmentId: number | null): string {
  return segmentId === null ? "A segment" : `Segment ${segmentId}`;
}

/**
 * The directory that `encodeHead` wrote. Throws SegmentUnreadable.
 * @param segmentId which segment it is, where it is stored
 */
export function decodeHead(bytes: Uint8Array, segmentId: number | null = null): SegmentHead {
  const version = bytes[0];
  const title = titleOf(segmentId);
  if (version !== SEGMENT_VERSION) {
    throw new SegmentUnreadable(
      `${title} is of version ${version}; this version of Footfall reads ${SEGMENT_VERSION}`,
    );
  }
  const content = bytes.subarray(0, -CHECKSUM_BYTES);
  if (new ByteReader(bytes.subarray(-CHECKSUM_BYTES)).u32() !== crc32(content)) {
    throw new SegmentUnreadable(`${title}'s directory is damaged: its checksum is wrong`);
  }
  const reader = new ByteReader(content.subarray(1));
  const events = reader.varint();
  const blockEvents = reader.varint();
  const fromMs = reader.f64();
  const toMs = reader.f64();
  const textBytes = reader.varint();
  const blocks = Math.ceil(events / blockEvents);
  const firstIdentities = Int32Array.from({ length: blocks }, () => reader.i32());
  const lastIdentity = reader.i32();
  const places = readPlaces(reader, blocks);
  return { events, blockEvents, fromMs, toMs, textBytes, firstIdentities, lastIdentity, places };
}

/** Blocks of a segment, from `first` to before `end`. */
export interface Blocks {
  readonly first: number;
  readonly end: number;
}

/** All of its blocks. */
export function allBlocks({ firstIdentities }: SegmentHead): Blocks {
  return { first: 0, end: firstIdentities.length };
}

/** How many of the first of so many things a condition holds for, which holds for none behind them. */
export function countWhile(length: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The blocks that hold all events of identities from `from` to `to`; none where there are none. */
export function blocksOf(
  { firstIdentities, lastIdentity }: SegmentHead,
  from: number,
  to: number,
): Blocks {
  const blocks = firstIdentities.length;
  const first = countWhile(blocks, (i) => (firstIdentities[i + 1] ?? lastIdentity) < from);
  const end = Math.max(first, countWhile(blocks, (i) => firstIdentities[i]! <= to));
  return { first, end };
}

/** Where a column's blocks lie in the body; empty where the column holds nothing. */
export function spanOf(
  { places }: SegmentHead,
  column: ColumnName,
  { first, end }: Blocks,
): { readonly from: number; readonly bytes: number } {
  const place = places.get(column);
  if (place === undefined) return { from: 0, bytes: 0 };
  const from = place.starts[first]!;
  return { from, bytes: place.starts[end]! - from };
}
