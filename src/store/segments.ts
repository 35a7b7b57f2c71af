import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { EventRow } from "./event_row.ts";
import { type EventBatch, NewEvents } from "./event_source.ts";
import { compareIds } from "./id_codec.ts";
import { buildSegment, type EncodedSegment, type Keeps } from "./segment_builder.ts";
import { COLUMNS, ROW_COLUMNS } from "./segment_columns.ts";
import type { SegmentEvent } from "./segment_event.ts";
import {
  allBlocks,
  type Blocks,
  blocksWithAny,
  decodeHead,
  SEGMENT_VERSION,
  type SegmentHead,
  spanOf,
} from "./segment_head.ts";
import { PickedEvents } from "./picked_events.ts";
import { SegmentReader } from "./segment_reader.ts";
import { mergeable, partsOf, type SizedSegment } from "./segment_tiers.ts";
import {
  ALWAYS,
  fetchBlocks,
  fetchHeads,
  fetchHeadsById,
  type MsSpan,
  type StoredHead,
  type WantedBlocks,
} from "./stored_segments.ts";
import { FETCH_BYTES_AIM } from "./store_limits.ts";
import { readEvents, readRows } from "./whole_events.ts";
import { type Yield, yielding } from "./yielding.ts";

const INSERT = `
INSERT INTO segments (project_id, from_ms, to_ms, events, text_bytes, version, head, body, origin_id)
VALUES ($1::int, $2::int8, $3::int8, $4::int, $5::int8, $6::int, decode($7::text, 'base64'),
  decode($8::text, 'base64'), $9::int8)`;

/** @param originId the segment that it replaces a part of; null: none */
async function insertSegment(
  tx: Sql,
  projectId: number,
  segment: EncodedSegment | null,
  originId: number | null = null,
): Promise<void> {
  if (segment === null) return;
  const { fromMs, toMs, events, textBytes, head, body } = segment;
  await tx.query(INSERT, [
    ...[projectId, fromMs, toMs, events, textBytes, SEGMENT_VERSION],
    head.toBase64(),
    body.toBase64(),
    originId,
  ]);
}

const WITH_IDS = "project_id = $1::int AND segment_id = ANY ($2::text::int8[])";
const READ = `SELECT head, body FROM segments WHERE ${WITH_IDS}`;
const DELETE = `DELETE FROM segments WHERE ${WITH_IDS}`;

/** Reads whole segments with their bodies. */
async function wholeSegments(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
): Promise<SegmentReader[]> {
  const rows = await sql.binary(READ, [projectId, arrayLiteral(segmentIds)]);
  return rows.map(([headBytes, body]) => {
    const head = decodeHead(headBytes!);
    const blocks = allBlocks(head);
    return new SegmentReader(head, blocks, (column) => {
      const { from, bytes } = spanOf(head, column, blocks);
      return body!.subarray(from, from + bytes);
    });
  });
}

/** Rewrites a segment with only the events that are kept. @returns how many events were removed */
async function rewrite(
  tx: Sql,
  projectId: number,
  segmentId: number,
  keeps: Keeps,
): Promise<number> {
  const [stored] = await tx.query<{ origin_id: number }>(
    `SELECT coalesce(origin_id, segment_id) AS origin_id FROM segments
    WHERE project_id = $1::int AND segment_id = $2::int8`,
    [projectId, segmentId],
  );
  const taken = await wholeSegments(tx, projectId, [segmentId]);
  await tx.query(DELETE, [projectId, arrayLiteral([segmentId])]);
  const kept = await buildSegment(taken, keeps, yielding());
  await insertSegment(tx, projectId, kept, stored?.origin_id ?? null);
  return taken.reduce((sum, { events }) => sum + events, 0) - (kept?.events ?? 0);
}

/** Segments to merge into one. */
interface Merge {
  readonly segmentIds: readonly number[];
  /** How many segments the project has. */
  readonly stored: number;
}

/**
 * Returns what to merge next; null: nothing. Merging keeps fewer than eight segments of about one size:
 * a project of n events has some eight times log8(n) segments, and each event is written at most log8(n)
 * times. Then segments of earlier versions are written anew, one by one.
 * @param tried those that were returned before: one that cannot be read is not tried again. The returned one
 *   is added
 */
export async function nextMerge(
  sql: Sql,
  projectId: number,
  tried: Set<number>,
): Promise<Merge | null> {
  const stored = await sql.query<SizedSegment & { readonly version: number }>(
    `SELECT segment_id, from_ms, events, text_bytes, version FROM segments
    WHERE project_id = $1::int ORDER BY segment_id`,
    [projectId],
  );
  const merged = mergeable(stored);
  if (merged !== null) return { segmentIds: merged, stored: stored.length };
  const earlier = stored.find(({ segment_id, version }) =>
    version < SEGMENT_VERSION && !tried.has(segment_id)
  );
  if (earlier === undefined) return null;
  tried.add(earlier.segment_id);
  return { segmentIds: [earlier.segment_id], stored: stored.length };
}

/** Merges segments; null where one of them has been deleted meanwhile. Throws SegmentUnreadable. */
export async function mergedSegment(
  sql: Sql,
  projectId: number,
  segmentIds: readonly number[],
  yieldIfDue: Yield,
): Promise<EncodedSegment | null> {
  const sources = await wholeSegments(sql, projectId, segmentIds);
  if (sources.length < segmentIds.length) return null;
  return await buildSegment(sources, () => true, yieldIfDue);
}

/**
 * Replaces segments by the one they were merged into, in a transaction that has locked the project. Where
 * one of them has been deleted meanwhile, the others stay.
 */
export async function replaceSegments(
  tx: Sql,
  projectId: number,
  segmentIds: readonly number[],
  merged: EncodedSegment,
): Promise<void> {
  const params = [projectId, arrayLiteral(segmentIds)];
  const present = await tx.query(`SELECT FROM segments WHERE ${WITH_IDS}`, params);
  if (present.length < segmentIds.length) return;
  await tx.query(DELETE, params);
  await insertSegment(tx, projectId, merged);
}

/** Adds events to the segments of a project. The caller has locked the project. */
export async function addEvents(
  tx: Sql,
  projectId: number,
  batch: EventBatch,
): Promise<void> {
  for (const { order, textBytes } of partsOf(batch)) {
    const source = new NewEvents(batch, order, textBytes);
    const segment = await buildSegment([source], () => true, yielding());
    await insertSegment(tx, projectId, segment);
  }
}

/**
 * Deletes all events before an instant from the segments of a project. The caller has locked the project.
 * @returns how many events were deleted
 */
export async function deleteFromSegmentsBefore(
  tx: Sql,
  projectId: number,
  beforeMs: number,
): Promise<number> {
  const whole = await tx.query<{ events: number }>(
    "DELETE FROM segments WHERE project_id = $1::int AND to_ms < $2::int8 RETURNING events",
    [projectId, beforeMs],
  );
  const crossing = await tx.query<{ segment_id: number }>(
    "SELECT segment_id FROM segments WHERE project_id = $1::int AND from_ms < $2::int8",
    [projectId, beforeMs],
  );
  let deleted = whole.reduce((sum, { events }) => sum + events, 0);
  for (const { segment_id } of crossing) {
    deleted += await rewrite(tx, projectId, segment_id, (_identity, ms) => ms >= beforeMs);
  }
  return deleted;
}

/** Finds the blocks of all segments that hold events of these identities. */
async function blocksOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  span?: MsSpan,
): Promise<WantedBlocks[]> {
  const sorted = Int32Array.from(identities).sort();
  const candidates = (await fetchHeads(sql, projectId, span)).flatMap((stored) =>
    blocksWithAny(stored.head, sorted).map((blocks) => ({ ...stored, blocks }))
  );
  const readers = await fetchBlocks(sql, projectId, candidates, ["identities"]);
  return candidates.filter((_, i) =>
    readers[i]!.integers("identities").some((identity: number) => identities.has(identity))
  );
}

/**
 * Erases all events of these identities from the segments of a project. The caller has locked the project.
 * @returns how many events were erased
 */
export async function eraseFromSegments(
  tx: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<number> {
  const touched = new Set(
    (await blocksOfIdentities(tx, projectId, identities)).map(({ segmentId }) => segmentId),
  );
  let erased = 0;
  for (const segmentId of touched) {
    erased += await rewrite(tx, projectId, segmentId, (identity) => !identities.has(identity));
  }
  return erased;
}

/**
 * Returns all events of these identities in [fromMs, toMs), ordered by time and id. `sql` must read one
 * snapshot.
 */
export async function eventsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
  span: MsSpan = ALWAYS,
): Promise<SegmentEvent[]> {
  const events: SegmentEvent[] = [];
  for (const wanted of await blocksOfIdentities(sql, projectId, identities, span)) {
    const [reader] = await fetchBlocks(sql, projectId, [wanted], COLUMNS);
    for (const event of readEvents(reader!, projectId, identities)) {
      if (event.ms >= span.fromMs && event.ms < span.toMs) events.push(event);
    }
  }
  return events.sort((a, b) => a.ms - b.ms || compareIds(a.id, 0, b.id, 0));
}

/** Finds the times of the first and last event of these identities; null: none. `sql` must read one snapshot. */
export async function momentsOfIdentities(
  sql: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<{ readonly firstMs: number; readonly lastMs: number } | null> {
  let [firstMs, lastMs] = [Infinity, -Infinity];
  for (const wanted of await blocksOfIdentities(sql, projectId, identities)) {
    const columns = ["identities", "runs", "times"] as const;
    const [reader] = await fetchBlocks(sql, projectId, [wanted], columns);
    const runs = reader!.runs();
    const moments = reader!.moments();
    for (const [run, identity] of runs.identities.entries()) {
      if (!identities.has(identity)) continue;
      firstMs = Math.min(firstMs, moments[runs.starts[run]!]!);
      lastMs = Math.max(lastMs, moments[runs.starts[run + 1]! - 1]!);
    }
  }
  return firstMs === Infinity ? null : { firstMs, lastMs };
}

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

/** A cache of blocks by segment and number. They never go stale: segments never change. */
export interface BlockCache {
  get(key: string): KeptBlock | undefined;
  set(key: string, block: KeptBlock): boolean;
}

/** Returns the stored bytes of all columns of a block. */
function bytesOfBlock({ places }: SegmentHead, block: number): number {
  return places.values().reduce((sum, { starts }) => sum + starts[block + 1]! - starts[block]!, 0);
}

/** Groups blocks into batches that are fetched together; adjacent blocks become one range. */
function* fetchesOf(head: SegmentHead, blocks: readonly number[]): Generator<Blocks[]> {
  let ranges: { first: number; end: number }[] = [];
  let bytes = 0;
  for (const block of blocks.toSorted((a, b) => a - b)) {
    bytes += bytesOfBlock(head, block);
    if (bytes > FETCH_BYTES_AIM && ranges.length > 0) {
      yield ranges;
      ranges = [];
      bytes = bytesOfBlock(head, block);
    }
    const last = ranges.at(-1);
    if (last?.end === block) last.end++;
    else ranges.push({ first: block, end: block + 1 });
  }
  if (ranges.length > 0) yield ranges;
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
  // Called after use: the decompressed pieces are most of what a block takes.
  const keep = (reader: SegmentReader) => {
    const block = reader.blocks.first;
    const bytes = bytesOfBlock(stored.head, block) + reader.decompressedBytes;
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
  for (const ranges of fetchesOf(stored.head, missing)) {
    const wanted = ranges.map((blocks) => ({ ...stored, blocks }));
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
  if (heads.size < bySegment.size) throw new Error("Segments are gone");
  const yieldIfDue = yielding();
  for (const [segmentId, wanted] of bySegment) {
    const stored = heads.get(segmentId)!;
    const blockOf = (i: number) => Math.floor(places[i]!.place / stored.head.blockEvents);
    const byBlock = Map.groupBy(wanted, blockOf);
    for await (const block of blocksOfRows(sql, projectId, stored, [...byBlock.keys()], cache)) {
      const numbers = byBlock.get(block.blocks.first)!;
      const inBlock = Uint32Array.from(numbers, (i) => places[i]!.place - block.firstPlace);
      const rowAt = readRows(new PickedEvents(block, inBlock), projectId);
      for (const [at, i] of numbers.entries()) rows[i] = rowAt(at);
      await yieldIfDue();
    }
  }
  return rows;
}
