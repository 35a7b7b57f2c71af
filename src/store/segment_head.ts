import { crc32 } from "node:zlib";
import { ByteReader, ByteWriter } from "./byte_stream.ts";
import {
  type ColumnName,
  columnOfNumber,
  numberOfColumn,
  type SlotName,
  SLOTS,
} from "./segment_columns.ts";

/**
 * Incremented with every change that older programs cannot read; a program reads all earlier versions.
 * Version 2 introduced property slots.
 */
export const SEGMENT_VERSION = 2;
const VERSION_WITHOUT_SLOTS = 1;
/** The key of a slot without values; no JSON text is empty. */
export const UNUSED_SLOT = "";
const CHECKSUM_BYTES = 4;
const UTF8 = new TextEncoder();
const FROM_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Thrown if a segment cannot be read: it is of a later version, or damaged. */
export class SegmentUnreadable extends Error {
  override readonly name = "SegmentUnreadable";

  /** @param segmentId null: the segment is not stored, or was read by another thread */
  constructor(message: string, readonly segmentId: number | null = null, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Where the blocks of a column lie in the body. */
export interface ColumnPlace {
  /** Where each block begins, and where the last one ends. */
  readonly starts: Float64Array;
  /** CRC-32 of each block. */
  readonly checksums: Uint32Array;
}

/** The directory of a segment's body, which is read first. */
export interface SegmentHead {
  readonly events: number;
  /** Events per block; the last block may have fewer. */
  readonly blockEvents: number;
  /** The times of the first and the last event, in epoch milliseconds; less than 2^31 apart. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Bytes of the distinct texts of each block, summed up, before compression. */
  readonly textBytes: number;
  /** The identity of the first event of each block, ascending. */
  readonly firstIdentities: Int32Array;
  /** The greatest identity of all. */
  readonly lastIdentity: number;
  /** The property of each slot as JSON, that is with quotes; or `UNUSED_SLOT`. */
  readonly slotKeys: readonly string[];
  /** A column that is not listed is empty for every event. */
  readonly places: ReadonlyMap<ColumnName, ColumnPlace>;
}

/** The encoded blocks of each column; a block without bytes is empty for all of its events. */
type EncodedColumns = ReadonlyMap<ColumnName, readonly Uint8Array[]>;

/** Encodes the directory of a segment with these columns. */
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
    writer.u8(numberOfColumn(name));
    for (const block of blocks) {
      writer.varint(block.length);
      if (block.length > 0) writer.u32(crc32(block));
    }
  }
  writer.varint(head.slotKeys.length);
  for (const key of head.slotKeys) {
    const text = UTF8.encode(key);
    writer.varint(text.length);
    writer.bytes(text);
  }
  const bytes = writer.end();
  writer.u32(crc32(bytes));
  return writer.end();
}

function readPlaces(reader: ByteReader, blocks: number): Map<ColumnName, ColumnPlace> {
  const places = new Map<ColumnName, ColumnPlace>();
  let end = 0;
  for (let left = reader.varint(); left > 0; left--) {
    const name = columnOfNumber(reader.u8());
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

/** Returns the error of a segment; `what` follows its name in the message. */
export function unreadable(
  segmentId: number | null,
  what: string,
  options?: ErrorOptions,
): SegmentUnreadable {
  const title = segmentId === null ? "A segment" : `Segment ${segmentId}`;
  return new SegmentUnreadable(title + what, segmentId, options);
}

/**
 * Decodes the directory that `encodeHead` wrote. Throws SegmentUnreadable.
 * @param segmentId the id for error messages; null: the segment is not stored
 */
export function decodeHead(bytes: Uint8Array, segmentId: number | null = null): SegmentHead {
  const version = bytes[0];
  if (!(version! >= VERSION_WITHOUT_SLOTS && version! <= SEGMENT_VERSION)) {
    throw unreadable(
      segmentId,
      ` is of version ${version}; this version of Footfall reads up to ${SEGMENT_VERSION}`,
    );
  }
  const content = bytes.subarray(0, -CHECKSUM_BYTES);
  if (new ByteReader(bytes.subarray(-CHECKSUM_BYTES)).u32() !== crc32(content)) {
    throw unreadable(segmentId, "'s directory is damaged: its checksum is wrong");
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
  const slots = version === VERSION_WITHOUT_SLOTS ? 0 : reader.varint();
  const slotKeys = Array.from(
    { length: slots },
    () => FROM_UTF8.decode(reader.bytes(reader.varint())),
  );
  const identities = { firstIdentities, lastIdentity };
  return { events, blockEvents, fromMs, toMs, textBytes, ...identities, slotKeys, places };
}

/** Returns the slot that holds every value of a property of a segment; null: it has none. */
export function slotOf({ slotKeys }: Pick<SegmentHead, "slotKeys">, key: string): SlotName | null {
  return SLOTS[slotKeys.indexOf(JSON.stringify(key))] ?? null;
}

/** The blocks of a segment from `first` to before `end`. */
export interface Blocks {
  readonly first: number;
  readonly end: number;
}

export function allBlocks({ firstIdentities }: SegmentHead): Blocks {
  return { first: 0, end: firstIdentities.length };
}

/** Counts the leading places below `length` for which `holds`, by bisection: it must not hold after them. */
export function countWhile(length: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the blocks that hold all events of the identities from `from` to `to`, both included. */
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

/** Returns blocks, whose numbers ascend; adjacent ones become one. */
export function joinedBlocks(numbers: Iterable<number>): Blocks[] {
  const joined: { first: number; end: number }[] = [];
  for (const block of numbers) {
    const last = joined.at(-1);
    if (last?.end === block) last.end++;
    else joined.push({ first: block, end: block + 1 });
  }
  return joined;
}

/** Returns the blocks that may hold events of these identities, which are ascending; adjacent ones are one. */
export function blocksWithAny(
  { firstIdentities, lastIdentity }: SegmentHead,
  identities: Int32Array,
): Blocks[] {
  return joinedBlocks(
    firstIdentities.keys().filter((block) => {
      const next = countWhile(identities.length, (i) => identities[i]! < firstIdentities[block]!);
      return identities[next]! <= (firstIdentities[block + 1] ?? lastIdentity);
    }),
  );
}

/** Returns where a column of these blocks is in the body; an empty range if the column is empty. */
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
