import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import { yielding } from "../store/yielding.ts";
import { type LazyColumn, lazyName } from "../timelines/lazy_columns.ts";
import { loadLazies } from "../timelines/lazy_loader.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import type { SegmentCache } from "../timelines/segment_cache.ts";
import { type MemoryScope, zeros } from "../timelines/shared_memory.ts";
import type { TimelinePart } from "../timelines/timelines.ts";
import {
  type Field,
  type Filter,
  isLazyField,
  isSessionField,
  type LazyField,
  propertyOf,
} from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { type FilterBits, WORD_BITS } from "./filter_bits.ts";
import { lazyIdMax } from "./id_bounds.ts";
import { namedIds, passing } from "./named_ids.ts";
import { type EventBits, setBitsByProperty } from "./property_filter_bits.ts";
import { LAZY_COLUMNS_AT_ONCE } from "./scan_limits.ts";
import { emptyIds } from "./value_ids.ts";
import type { SessionBits } from "./session_bits.ts";
import { sessionPasses } from "./session_tests.ts";

/** Where lazy columns are read from, and the filters that need them. */
interface LazySource {
  readonly sql: Sql;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly segments: SegmentCache;
  readonly bits: FilterBits;
}

const columnOf = (field: Field): LazyColumn =>
  isLazyField(field) ? field : { property: propertyOf(field)! };

/** Loads lazy columns of a part: for each column, an array with one entry for each segment. */
export function loadColumns(
  { sql, segments: cache, scope }: LazySource,
  { segments, memory }: TimelinePart,
  columns: readonly LazyColumn[],
): Promise<readonly (readonly object[])[]> {
  return loadLazies(sql, cache, memory, scope.projectId, segments, columns);
}

/** Sets the bit of a filter on titles or referrers at the events whose id passes. */
async function setBitsByIds(
  source: LazySource,
  columns: readonly IntegerColumn[],
  field: LazyField,
  filter: Filter,
  filterBits: readonly EventBits[],
): Promise<void> {
  const { sql, scope } = source;
  const [named] = await namedIds(sql, scope, [[filter]]);
  const passes = passing(named!, 0, await lazyIdMax(sql, scope.projectId, field))!;
  const turn = yielding();
  for (const [i, ids] of columns.entries()) {
    const { bits, first, bit } = filterBits[i]!;
    for (let at = 0; at < ids.length; at++) {
      if (passes[ids[at]!] === 1) bits[first + at]! |= bit;
    }
    await turn();
  }
}

/** The columns that hold the filter bits of a part's events. */
interface BitColumns {
  readonly columns: readonly IntegerColumn[];
  readonly words: readonly Int32Array[];
  /** Returns where the bit of a filter is written, segment by segment; filters are numbered from 0. */
  readonly of: (number: number) => readonly EventBits[];
}

/** Makes the columns for filter bits, all zero. */
export function emptyBits(
  { count, isWide }: FilterBits,
  segments: readonly LoadedSegment[],
  memory: MemoryScope,
): BitColumns {
  if (!isWide) {
    const columns = segments.map(({ times }) =>
      emptyIds(memory.take, 2 ** count - 1, times.length)
    );
    const of = (number: number) =>
      columns.map((bits): EventBits => ({ bits, first: 0, events: bits.length, bit: 1 << number }));
    return { columns, words: [], of };
  }
  let events = 0;
  const places = segments.map(({ times: { length } }) => {
    const ofSegment = zeros(memory.take, Int32Array, length);
    for (let at = 0; at < length; at++) ofSegment[at] = events++;
    return ofSegment;
  });
  const words = Array.from(
    { length: Math.ceil(count / WORD_BITS) },
    () => zeros(memory.take, Int32Array, events),
  );
  const of = (number: number) =>
    places.map((placesOfSegment): EventBits => ({
      bits: words[Math.floor(number / WORD_BITS)]!,
      first: placesOfSegment[0] ?? 0,
      events: placesOfSegment.length,
      bit: 1 << number % WORD_BITS,
    }));
  return { columns: places, words, of };
}

/**
 * Sets the bits of filters on titles, referrers and properties.
 * @returns the filters on sessions' fields, whose bits are still to be set
 */
export async function setBits(
  source: LazySource,
  part: TimelinePart,
  filterBits: BitColumns,
): Promise<SessionBits[]> {
  const { sql, scope } = source;
  const ofSessions: SessionBits[] = [];
  // The filters on one lazy column, each with its number.
  type ColumnFilters = { readonly column: LazyColumn; readonly filters: [number, Filter][] };
  const byColumn = new Map<string, ColumnFilters>();
  for (const [number, filter] of [...source.bits.filters.values()].entries()) {
    if (isSessionField(filter.field)) {
      const test = await sessionPasses(sql, scope, [filter]);
      ofSessions.push({ test, word: Math.floor(number / WORD_BITS), bit: 1 << number % WORD_BITS });
      continue;
    }
    const column = columnOf(filter.field);
    byColumn.getOrInsertComputed(lazyName(column), () => ({ column, filters: [] }))
      .filters.push([number, filter]);
  }
  const columnFilters = [...byColumn.values()];
  for (let from = 0; from < columnFilters.length; from += LAZY_COLUMNS_AT_ONCE) {
    const together = columnFilters.slice(from, from + LAZY_COLUMNS_AT_ONCE);
    const loaded = await loadColumns(source, part, together.map(({ column }) => column));
    for (const [i, { filters }] of together.entries()) {
      for (const [number, filter] of filters) {
        const [columns, bits] = [loaded[i]!, filterBits.of(number)];
        if (isLazyField(filter.field)) {
          await setBitsByIds(source, columns as IntegerColumn[], filter.field, filter, bits);
        } else await setBitsByProperty(sql, columns as PropertyColumn[], bits, filter);
      }
    }
  }
  return ofSessions;
}
