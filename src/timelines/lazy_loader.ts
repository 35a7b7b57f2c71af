import type { Sql } from "../db/sql.ts";
import { idsAt } from "../store/id_codec.ts";
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
import { neededPlaces, pickedIntegers, type SegmentSlice } from "./segment_slice.ts";
import {
  type Column,
  type MemoryScope,
  sharedColumn,
  type SharedMemory,
  type Take,
} from "./shared_memory.ts";
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

/** How a lazy column is read from a segment, and how some events are picked out of it. */
interface Loading {
  readonly stored: (head: SegmentHead) => readonly ColumnName[];
  readonly read: (reader: SegmentReader, properties: PropertyReader) => Promise<object> | object;
  picked(whole: object, picked: Uint32Array): object;
}

const integers = (column: "titles" | "referrers" | "cells"): Loading => ({
  stored: () => [column],
  read: (reader) => reader.integers(column),
  picked: pickedIntegers,
});

const LOADINGS: Readonly<Record<Extract<LazyColumn, string>, Loading>> = {
  title: integers("titles"),
  referrer: integers("referrers"),
  cells: integers("cells"),
  depths: { stored: () => DEPTH_COLUMNS, read: readDepths, picked: pickedDepths },
  ids: { stored: () => ["times", "ids"], read: (reader) => reader.ids(), picked: idsAt },
};

function loadingOf(column: LazyColumn): Loading {
  if (typeof column === "string") return LOADINGS[column];
  return {
    stored: (head) => columnsOfProperty(column.property, head),
    read: (_, properties) => properties.column(column.property),
    picked: (whole: PropertyColumn, picked) => whole.picked(picked),
  };
}

/** Copies a column into shared memory, except a property, which other threads never read. */
function sharedLazy(take: Take, column: object): object {
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
  const loadings = columns.map(loadingOf);
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
      missing[i]!.flatMap((number) => loadings[number]!.stored(stored.head)),
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
      const { read, picked } = loadings[number]!;
      const whole = await read(reader, properties);
      if (own === null) {
        const kept = sharedLazy((bytes) => memory.take(bytes), whole);
        loaded[number]![i] = kept;
        if (!cache.set(keyOf(segmentId, number), kept) && !(kept instanceof PropertyColumn)) {
          scope.own(kept as Column);
        }
      } else {
        const some = own.picked === null ? whole : picked(whole, own.picked);
        loaded[number]![i] = sharedLazy(scope.take, some);
      }
      await turn();
    }
  }
  return loaded as object[][];
}
