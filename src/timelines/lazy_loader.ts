import type { Sql } from "../db/sql.ts";
import type { ColumnName } from "../store/segment_columns.ts";
import { allBlocks, type SegmentHead } from "../store/segment_head.ts";
import type { SegmentReader } from "../store/segment_reader.ts";
import { fetchBlocks, fetchHeadsById, type WantedBlocks } from "../store/stored_segments.ts";
import { type LazyColumn, lazyName } from "./lazy_columns.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import { yielding } from "../store/yielding.ts";
import { oneAhead } from "./one_ahead.ts";
import { PropertyColumn } from "./property_columns.ts";
import { columnsOfProperty, PropertyReader } from "./property_reader.ts";
import { DEPTH_COLUMNS, pickedDepths, readDepths } from "./scroll_depths.ts";
import { neededPlaces, pickedIds, pickedLazy, type SegmentSlice } from "./segment_slice.ts";
import { type Column, type MemoryScope, sharedColumn, type SharedMemory } from "./shared_memory.ts";
import { type CacheBudget, WeighedCache } from "./weighed_cache.ts";

/** A column that is made from others and cached like them: see `FilteredPart`. */
export interface KeptColumn {
  readonly bytes: number;
  /** An array of it; all are in the same buffer. */
  readonly memory: Column;
}

/** A cache of lazy columns, by the segment's id and the column's name. */
export type LazyCache = WeighedCache<string, object>;

/** Returns the key of a segment's column in the cache. */
export function lazyKey(segmentId: number, name: string): string {
  return `${segmentId} ${name}`;
}

export function createLazyCache(
  bytesMax: number,
  memory: SharedMemory,
  budget?: CacheBudget,
): LazyCache {
  return new WeighedCache(
    bytesMax,
    (column) => {
      const { bytes, byteLength } = column as { bytes?: number; byteLength?: number };
      return bytes ?? byteLength ?? 0;
    },
    (column) => {
      if (column instanceof PropertyColumn) return;
      memory.retire("memory" in column ? (column as KeptColumn).memory : column as Column);
    },
    budget,
  );
}

function columnsOf(column: LazyColumn, head: SegmentHead): ColumnName[] {
  if ("property" in column) return columnsOfProperty(column.property, head);
  if ("ids" in column) return ["times", "ids"];
  if ("cells" in column) return ["cells"];
  if ("depths" in column) return [...DEPTH_COLUMNS];
  return [column.field === "title" ? "titles" : "referrers"];
}

async function read(
  reader: SegmentReader,
  properties: PropertyReader,
  column: LazyColumn,
): Promise<object> {
  if ("property" in column) return await properties.column(column.property);
  if ("ids" in column) return reader.ids();
  if ("cells" in column) return reader.integers("cells");
  if ("depths" in column) return readDepths(reader);
  return reader.integers(column.field === "title" ? "titles" : "referrers");
}

/** Returns the picked events' part of a column; null: all events are picked. */
function pickedOf(whole: object, column: LazyColumn, picked: Uint32Array | null): object {
  if (picked === null) return whole;
  if ("ids" in column) return pickedIds(whole as Uint8Array, picked);
  if ("depths" in column) return pickedDepths(whole as Float64Array, picked);
  return pickedLazy(whole, picked);
}

/** Copies a column into shared memory, except a property, which other threads never read. */
function sharedLazy(take: (bytes: number) => SharedArrayBuffer, column: object): object {
  if (column instanceof PropertyColumn) return column;
  return sharedColumn(take, column as Column);
}

/**
 * Loads lazy columns of segments. Those of whole segments are cached; the missing ones of a segment are fetched
 * together. `sql` must read the snapshot that the segments were loaded from. Throws if a segment is gone.
 * @returns for each column, an array with one entry for each segment
 */
export async function loadLazies(
  sql: Sql,
  { lazies: cache, memory }: { readonly lazies: LazyCache; readonly memory: SharedMemory },
  scope: MemoryScope,
  projectId: number,
  segments: readonly Pick<LoadedSegment, "segmentId" | "slice">[],
  columns: readonly LazyColumn[],
): Promise<object[][]> {
  const names = columns.map(lazyName);
  const keyOf = (segmentId: number, number: number) => lazyKey(segmentId, names[number]!);
  const loaded: (object | undefined)[][] = names.map((_, number) =>
    segments.map(({ segmentId, slice }) =>
      slice === null ? cache.get(keyOf(segmentId, number)) : undefined
    )
  );
  const missing = segments.map((_, i) =>
    [...columns.keys()].filter((number) => loaded[number]![i] === undefined)
  );
  const unknown = segments.filter(({ slice }, i) => slice === null && missing[i]!.length > 0);
  const heads = unknown.length === 0
    ? new Map()
    : await fetchHeadsById(sql, projectId, unknown.map(({ segmentId }) => segmentId));
  const turn = yielding();
  const sliceOf = (i: number) => segments[i]!.slice as SegmentSlice | null;
  const fetch = async (i: number): Promise<SegmentReader> => {
    const { segmentId } = segments[i]!;
    const slice = sliceOf(i);
    const stored = slice?.stored ?? heads.get(segmentId);
    if (stored === undefined) throw new Error(`Segment ${segmentId} is gone`);
    const wanted: WantedBlocks = { ...stored, blocks: slice?.blocks ?? allBlocks(stored.head) };
    const fetched = new Set(
      missing[i]!.flatMap((number) => columnsOf(columns[number]!, stored.head)),
    );
    const [reader] = await fetchBlocks(sql, projectId, [wanted], [...fetched]);
    return reader!;
  };
  const unread = segments.keys().filter((i) => missing[i]!.length > 0);
  for await (const [i, reader] of oneAhead(unread, fetch)) {
    const { segmentId } = segments[i]!;
    const own = sliceOf(i);
    const properties = new PropertyReader(reader, own === null ? null : neededPlaces(own));
    for (const number of missing[i]!) {
      const column = columns[number]!;
      const whole = await read(reader, properties, column);
      if (own === null) {
        const kept = sharedLazy((bytes) => memory.take(bytes), whole);
        loaded[number]![i] = kept;
        if (!cache.set(keyOf(segmentId, number), kept) && !(kept instanceof PropertyColumn)) {
          scope.own(kept as Column);
        }
      } else {
        loaded[number]![i] = sharedLazy(scope.take, pickedOf(whole, column, own.picked));
      }
      await turn();
    }
  }
  return loaded as object[][];
}
