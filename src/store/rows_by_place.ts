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

/** A cache of blocks by segment and number, which never go stale, as segments never change. */
export interface BlockCache {
  get(key: string): KeptBlock | undefined;
  set(key: string, block: KeptBlock): boolean;
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
  cache: BlockCache | null,
): AsyncGenerator<SegmentReader> {
  const keyOf = (block: number) => `${stored.segmentId} ${block}`;
  // Called after use, because the decoded values are most of the memory of a block.
  const keep = (reader: SegmentReader) => {
    const block = reader.blocks.first;
    const bytes = bytesOfBlock(stored.head, block) + reader.keptBytes;
    cache?.set(keyOf(block), { reader, bytes });
  };
  const missing: number[] = [];
  for (const block of blocks) {
    const kept = cache?.get(keyOf(block));
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
 * @param cache keeps the blocks that are read; null: none are kept
 */
export async function rowsAt(
  sql: Sql,
  projectId: number,
  places: readonly EventPlace[],
  cache: BlockCache | null = null,
): Promise<EventRow[]> {
  const rows = new Array<EventRow>(places.length);
  const bySegment = Map.groupBy(places.keys(), (i) => places[i]!.segmentId);
  const heads = await fetchHeadsById(sql, projectId, bySegment.keys());
  if (heads.size < bySegment.size) throw new Error("Segments were replaced or deleted");
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
