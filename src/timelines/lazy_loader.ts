import type { Sql } from "../db/sql.ts";
import type { ColumnName } from "../store/segment_columns.ts";
import { allBlocks } from "../store/segment_head.ts";
import type { SegmentReader } from "../store/segment_reader.ts";
import { fetchBlocks, fetchHeadsById, type WantedBlocks } from "../store/stored_segments.ts";
import { type LazyColumn, lazyName } from "./lazy_columns.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import { Pace } from "./pace.ts";
import { columnsOfProperty, readProperty } from "./property_reader.ts";
import { pickedIds, pickedLazy } from "./segment_slice.ts";
import { WeighedCache } from "./weighed_cache.ts";

/** Lazy columns that were read before, by the segment's id and the column's name. */
export type LazyCache = WeighedCache<string, object>;

export function createLazyCache(bytesMax: number): LazyCache {
  return new WeighedCache(bytesMax, (column) => {
    const { bytes, byteLength } = column as { bytes?: number; byteLength?: number };
    return bytes ?? byteLength ?? 0;
  });
}

function columnsOf(column: LazyColumn): ColumnName[] {
  if ("property" in column) return columnsOfProperty(column.property);
  if ("ids" in column) return ["times", "ids"];
  if ("cells" in column) return ["cells"];
  return [column.field === "title" ? "titles" : "referrers"];
}

async function read(reader: SegmentReader, column: LazyColumn): Promise<object> {
  if ("property" in column) return await readProperty(reader, column.property);
  if ("ids" in column) return reader.ids();
  if ("cells" in column) return reader.integers("cells");
  return reader.integers(column.field === "title" ? "titles" : "referrers");
}

/**
 * A lazy column of each of these segments: of whole ones as it was kept, else fetched now. `sql` must
 * see the moment that they were loaded at. Throws where a segment is gone.
 */
export async function loadLazy(
  sql: Sql,
  cache: LazyCache,
  projectId: number,
  segments: readonly Pick<LoadedSegment, "segmentId" | "slice">[],
  column: LazyColumn,
): Promise<object[]> {
  const keyOf = ({ segmentId }: { readonly segmentId: number }) =>
    `${segmentId} ${lazyName(column)}`;
  const loaded = segments.map((segment) =>
    segment.slice === null ? cache.get(keyOf(segment)) : undefined
  );
  const unknown = segments.filter(({ slice }, i) => slice === null && loaded[i] === undefined);
  const heads = unknown.length === 0
    ? new Map()
    : await fetchHeadsById(sql, projectId, unknown.map(({ segmentId }) => segmentId));
  const pace = new Pace();
  const columns = columnsOf(column);
  for (const [i, segment] of segments.entries()) {
    if (loaded[i] !== undefined) continue;
    const { slice, segmentId } = segment;
    const stored = slice?.stored ?? heads.get(segmentId);
    if (stored === undefined) throw new Error(`Segment ${segmentId} is gone`);
    const wanted: WantedBlocks = { ...stored, blocks: slice?.blocks ?? allBlocks(stored.head) };
    const [reader] = await fetchBlocks(sql, projectId, [wanted], columns);
    const whole = await read(reader!, column);
    if (slice === null) cache.set(keyOf(segment), loaded[i] = whole);
    else if ("ids" in column) loaded[i] = pickedIds(whole as Uint8Array, slice.picked);
    else loaded[i] = pickedLazy(whole, slice.picked);
    if (pace.isOver()) await pace.pause();
  }
  return loaded as object[];
}
