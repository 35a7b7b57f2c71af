import { arrayLiteral, type Param, type Row, type Sql } from "../db/sql.ts";
import type { ColumnName } from "./segment_columns.ts";
import { type Blocks, decodeHead, type SegmentHead, spanOf } from "./segment_head.ts";
import { SegmentReader } from "./segment_reader.ts";
import { FETCH_BYTES_AIM } from "./store_limits.ts";

/** A segment of a project, and what stands where in it. */
export interface StoredHead {
  readonly segmentId: number;
  readonly head: SegmentHead;
}

interface HeadRow extends Row {
  readonly segment_id: number;
  readonly head: string;
}

/** From an instant to before another, in epoch milliseconds. */
export interface MsSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export const ALWAYS: MsSpan = { fromMs: -Infinity, toMs: Infinity };

const HEADS = `
SELECT segment_id, encode(head, 'base64') AS head FROM segments WHERE project_id = $1::int`;

async function readHeads(sql: Sql, text: string, params: readonly Param[]): Promise<StoredHead[]> {
  const rows = await sql.query<HeadRow>(`${HEADS} ${text} ORDER BY from_ms, segment_id`, params);
  return rows.map(({ segment_id, head }) => ({
    segmentId: segment_id,
    head: decodeHead(Uint8Array.fromBase64(head), segment_id),
  }));
}

/** All segments of a project with an event in [fromMs, toMs), in the order of their first event. */
export async function fetchHeads(
  sql: Sql,
  projectId: number,
  { fromMs, toMs }: MsSpan = ALWAYS,
): Promise<StoredHead[]> {
  return await readHeads(sql, "AND to_ms >= $2::text::float8 AND from_ms < $3::text::float8", [
    projectId,
    String(fromMs),
    String(toMs),
  ]);
}

/** These segments of a project, by their ids. */
export async function fetchHeadsById(
  sql: Sql,
  projectId: number,
  segmentIds: Iterable<number>,
): Promise<Map<number, StoredHead>> {
  const ids = arrayLiteral([...segmentIds]);
  const heads = await readHeads(sql, "AND segment_id = ANY ($2::text::int8[])", [projectId, ids]);
  return new Map(heads.map((stored) => [stored.segmentId, stored]));
}

/** Blocks of a segment that are to be read. */
export interface WantedBlocks extends StoredHead {
  readonly blocks: Blocks;
}

interface Span {
  readonly segment: number;
  readonly column: ColumnName;
  readonly from: number;
  readonly bytes: number;
}

/** As many as one statement may fetch, at least one. */
function batchesOf(spans: readonly Span[]): Span[][] {
  const batches: Span[][] = [];
  let left = 0;
  for (const span of spans) {
    if (span.bytes > left) {
      batches.push([]);
      left = Math.max(FETCH_BYTES_AIM, span.bytes);
    }
    left -= span.bytes;
    batches.at(-1)!.push(span);
  }
  return batches;
}

const FETCH = `
SELECT w.number::int AS number, encode(substring(s.body FROM w.start + 1 FOR w.bytes), 'base64') AS bytes
FROM unnest($2::text::int8[], $3::text::int[], $4::text::int[])
  WITH ORDINALITY AS w (segment_id, start, bytes, number)
JOIN segments s ON s.project_id = $1::int AND s.segment_id = w.segment_id`;

interface FetchedSpan extends Row {
  readonly number: number;
  readonly bytes: string;
}

/**
 * Readers of these columns of these blocks, in the same order; they hold the bytes, and read no other
 * column. `sql` must see the moment that the heads were fetched at: throws where a segment is gone.
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
  for (const batch of batchesOf(spans)) {
    const rows = await sql.query<FetchedSpan>(FETCH, [
      projectId,
      arrayLiteral(batch.map(({ segment }) => wanted[segment]!.segmentId)),
      arrayLiteral(batch.map(({ from }) => from)),
      arrayLiteral(batch.map(({ bytes }) => bytes)),
    ]);
    if (rows.length < batch.length) throw new Error("Segments are gone");
    for (const { number, bytes } of rows) {
      const { segment, column } = batch[number - 1]!;
      fetched[segment]!.set(column, Uint8Array.fromBase64(bytes));
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
