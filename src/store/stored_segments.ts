import { numberOf } from "../db/binary_rows.ts";
import { keyedRow } from "../db/keyed_rows.ts";
import { arrayLiteral, isOneOf, type Param, type Sql } from "../db/sql.ts";
import { batchesOf } from "./batches.ts";
import type { ColumnName } from "./segment_columns.ts";
import { type Blocks, decodeHead, type SegmentHead, spanOf } from "./segment_head.ts";
import { SegmentReader } from "./segment_reader.ts";
import { FETCH_BYTES_AIM, SMALL_BYTES_AIM } from "./store_limits.ts";
import { yielding } from "./yielding.ts";

/** A segment of a project with its head. */
export interface StoredHead {
  readonly segmentId: number;
  readonly head: SegmentHead;
}

/** The time from `fromMs` to before `toMs`, in epoch milliseconds. */
export interface MsSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export const ALWAYS: MsSpan = { fromMs: -Infinity, toMs: Infinity };

/** A segment was replaced or deleted since its head was fetched. */
export class SegmentsGone extends Error {
  override name = "SegmentsGone";
}

const HEADS = "SELECT segment_id::int8, head FROM segments WHERE";
const OVERLAPPING =
  "project_id = $1::int AND to_ms >= $2::text::float8 AND from_ms < $3::text::float8";
const OF_IDS = `project_id = (SELECT $1::int) AND ${isOneOf("segment_id", "$2::text::int8[]")}`;

async function readHeads(sql: Sql, text: string, params: readonly Param[]): Promise<StoredHead[]> {
  const rows = await sql.binary(`${HEADS} ${text} ORDER BY from_ms, segment_id`, params);
  return rows.map(([id, head]) => {
    const segmentId = numberOf(id!);
    return { segmentId, head: decodeHead(head!, segmentId) };
  });
}

/** Fetches the heads of all segments with an event in [fromMs, toMs), ordered by their first event. */
export async function fetchHeads(
  sql: Sql,
  projectId: number,
  { fromMs, toMs }: MsSpan = ALWAYS,
): Promise<StoredHead[]> {
  return await readHeads(sql, OVERLAPPING, [
    projectId,
    String(fromMs),
    String(toMs),
  ]);
}

/** Fetches the heads of the segments with these ids, by id. */
export async function fetchHeadsById(
  sql: Sql,
  projectId: number,
  segmentIds: Iterable<number>,
): Promise<Map<number, StoredHead>> {
  const ids = arrayLiteral([...segmentIds]);
  const heads = await readHeads(sql, OF_IDS, [projectId, ids]);
  return new Map(heads.map((stored) => [stored.segmentId, stored]));
}

/** Blocks of a segment to read. */
export interface WantedBlocks extends StoredHead {
  readonly blocks: Blocks;
}

const FETCH = `
SELECT w.number, substring(s.body FROM w.start + 1 FOR w.bytes) AS bytes
FROM unnest($2::text::int8[], $3::text::int[], $4::text::int[])
  WITH ORDINALITY AS w (segment_id, start, bytes, number)
CROSS JOIN ${keyedRow("segments v", "v.segment_id = w.segment_id", "$1::int")} AS s`;

/**
 * Fetches these columns of these blocks, and returns a reader of each entry of `wanted`, in its order.
 * The readers hold the bytes and can read no other column. `sql` must read the snapshot that the heads
 * were fetched from. Throws SegmentsGone.
 */
export async function fetchBlocks(
  sql: Sql,
  projectId: number,
  wanted: readonly WantedBlocks[],
  columns: readonly ColumnName[],
): Promise<SegmentReader[]> {
  const fetched = wanted.map(() => new Map<ColumnName, Uint8Array>());
  const spans = wanted.flatMap(({ head, blocks }, segment) =>
    columns.map((column) => ({ segment, column, ...spanOf(head, column, blocks) }))
      .filter(({ bytes }) => bytes > 0)
  );
  for (const batch of batchesOf(spans, ({ bytes }) => bytes, FETCH_BYTES_AIM)) {
    const rows = await sql.binary(FETCH, [
      projectId,
      arrayLiteral(batch.map(({ segment }) => wanted[segment]!.segmentId)),
      arrayLiteral(batch.map(({ from }) => from)),
      arrayLiteral(batch.map(({ bytes }) => bytes)),
    ]);
    if (rows.length < batch.length) throw new SegmentsGone("Segments were replaced or deleted");
    for (const [number, bytes] of rows) {
      const { segment, column } = batch[numberOf(number!) - 1]!;
      fetched[segment]!.set(column, bytes!);
    }
  }
  return wanted.map(({ segmentId, head, blocks }, segment) =>
    new SegmentReader(head, blocks, (column) => {
      const bytes = fetched[segment]!.get(column);
      if (bytes === undefined) throw new Error(`The column ${column} was not fetched`);
      return bytes;
    }, segmentId)
  );
}

/**
 * Fetches these columns of these blocks, and yields a reader of each entry of `wanted`, in its order. Small
 * ones are fetched together; only a few mebibytes, or one entry, are held at a time. Yields to the event loop
 * between entries. See `fetchBlocks`.
 */
export async function* eachFetched(
  sql: Sql,
  projectId: number,
  wanted: Iterable<WantedBlocks>,
  columns: readonly ColumnName[],
): AsyncGenerator<SegmentReader> {
  const yieldIfDue = yielding();
  const bytesOf = ({ head, blocks }: WantedBlocks) =>
    columns.reduce((sum, name) => sum + spanOf(head, name, blocks).bytes, 0);
  for (const together of batchesOf(wanted, bytesOf, SMALL_BYTES_AIM)) {
    for (const reader of await fetchBlocks(sql, projectId, together, columns)) {
      yield reader;
      await yieldIfDue();
    }
  }
}
