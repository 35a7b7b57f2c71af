import type { Sql } from "../db/sql.ts";
import { batchesOf } from "./batches.ts";
import type { EventRow } from "./event_row.ts";
import { ROW_COLUMNS } from "./segment_columns.ts";
import { joinedBlocks, type SegmentHead } from "./segment_head.ts";
import type { SegmentReader } from "./segment_reader.ts";
import { FETCH_BYTES_AIM } from "./store_limits.ts";
import { fetchBlocks, fetchHeadsById, type StoredHead } from "./stored_segments.ts";
import { readRows } from "./whole_events.ts";
import { yielding } from "./yielding.ts";

/** Where an event lies: its segment, and its place in it. */
export interface EventPlace {
  readonly segmentId: number;
  readonly place: number;
}

/** A cached block with all of its columns, and the memory it takes. */
export interface KeptBlock {
  readonly reader: SegmentReader;
  readonly bytes: number;
}

interface Cache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): boolean;
}

/** What rows are read from. Nothing here goes stale, as segments never change. */
export interface RowCache {
  /** By segment and number. */
  readonly blocks: Cache<string, KeptBlock>;
  /** By segment. */
  readonly heads: Cache<number, StoredHead>;
}

/** Returns the heads of segments: cached ones, or fetched. Throws if one that is not cached is gone. */
async function headsOf(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
  cache: RowCache | null,
): Promise<Map<number, StoredHead>> {
  const heads = new Map<number, StoredHead>();
  for (const segmentId of segmentIds) {
    const kept = cache?.heads.get(segmentId);
    if (kept !== undefined) heads.set(segmentId, kept);
  }
  const missing = segmentIds.filter((id) => !heads.has(id));
  const fetched = missing.length === 0 ? [] : await fetchHeadsById(sql, projectId, missing);
  for (const [id, stored] of fetched) {
    heads.set(id, stored);
    cache?.heads.set(id, stored);
  }
  if (heads.size < segmentIds.length) throw new Error("Segments were replaced or deleted");
  return heads;
}

/** Returns the stored bytes of all columns of a block. */
function bytesOfBlock({ places }: SegmentHead, block: number): number {
  return places.values().reduce((sum, { starts }) => sum + starts[block + 1]! - starts[block]!, 0);
}

/** Yields readers of these blocks of a segment: first those in the cache, then the others, fetched. */
async function* blocksOfRows(
  sql: Sql,
  projectId: number,
  stored: StoredHead,
  blocks: readonly number[],
  cache: RowCache | null,
): AsyncGenerator<SegmentReader> {
  const keyOf = (block: number) => `${stored.segmentId} ${block}`;
  // Called after use, because the decoded values are most of the memory of a block.
  const keep = (reader: SegmentReader) => {
    const block = reader.blocks.first;
    const bytes = bytesOfBlock(stored.head, block) + reader.keptBytes;
    cache?.blocks.set(keyOf(block), { reader, bytes });
  };
  const missing: number[] = [];
  for (const block of blocks) {
    const kept = cache?.blocks.get(keyOf(block));
    if (kept === undefined) {
      missing.push(block);
      continue;
    }
    yield kept.reader;
    keep(kept.reader);
  }
  const ordered = missing.sort((a, b) => a - b);
  const bytesOf = (block: number) => bytesOfBlock(stored.head, block);
  for (const together of batchesOf(ordered, bytesOf, FETCH_BYTES_AIM)) {
    const wanted = joinedBlocks(together).map((blocks) => ({ ...stored, blocks }));
    for (const fetched of await fetchBlocks(sql, projectId, wanted, ROW_COLUMNS)) {
      for (const reader of fetched.eachBlock(ROW_COLUMNS)) {
        yield reader;
        keep(reader);
      }
    }
  }
}

/**
 * Reads the events at these places, in the same order. `sql` must read the snapshot that the places come
 * from.
 * @param cache keeps the heads and blocks that are read; null: none are kept
 */
export async function rowsAt(
  sql: Sql,
  projectId: number,
  places: readonly EventPlace[],
  cache: RowCache | null = null,
): Promise<EventRow[]> {
  const rows = new Array<EventRow>(places.length);
  const bySegment = Map.groupBy(places.keys(), (i) => places[i]!.segmentId);
  const heads = await headsOf(sql, projectId, [...bySegment.keys()], cache);
  const yieldIfDue = yielding();
  for (const [segmentId, wanted] of bySegment) {
    const stored = heads.get(segmentId)!;
    const blockOf = (i: number) => Math.floor(places[i]!.place / stored.head.blockEvents);
    const byBlock = Map.groupBy(wanted, blockOf);
    for await (const block of blocksOfRows(sql, projectId, stored, [...byBlock.keys()], cache)) {
      const numbers = byBlock.get(block.blocks.first)!;
      const inBlock = Uint32Array.from(numbers, (i) => places[i]!.place - block.firstPlace);
      const rowAt = await readRows(block.pick(inBlock), projectId, yieldIfDue);
      for (const [at, i] of numbers.entries()) rows[i] = rowAt(at);
      await yieldIfDue();
    }
  }
  return rows;
}
