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
import { isNegative } from "../query/filter_conditions.ts";
import type { Scope } from "../query/selection.ts";
import { type FilterBits, WORD_BITS } from "./filter_bits.ts";
import { lazyIdMax } from "./id_bounds.ts";
import { namedIds, passing } from "./named_ids.ts";
import { type EventWords, setBitsByProperty } from "./property_filter_bits.ts";
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

/** Sets the bits of filters on titles or referrers at the events whose id passes: see `setBitsByProperty`. */
async function setBitsByIds(
  { sql, scope }: LazySource,
  field: LazyField,
  columns: readonly IntegerColumn[],
  words: readonly EventWords[],
  filters: readonly Filter[],
  shift: number,
): Promise<void> {
  const named = await namedIds(sql, scope, filters.map((filter) => [filter]));
  const idMax = await lazyIdMax(sql, scope.projectId, field);
  const masks = new Int32Array(idMax + 1);
  const turn = yielding();
  for (const [i, ofFilter] of named.entries()) {
    const passes = passing(ofFilter, 0, idMax)!;
    for (let id = 0; id <= idMax; id++) masks[id]! |= passes[id]! << shift + i;
    await turn();
  }
  for (const [i, ids] of columns.entries()) {
    const { bits, first } = words[i]!;
    for (let at = 0; at < ids.length; at++) bits[first + at]! |= masks[ids[at]!]!;
    await turn();
  }
}

/** The columns that hold the filter bits of a part's events. */
interface BitColumns {
  readonly columns: readonly IntegerColumn[];
  readonly words: readonly Int32Array[];
  /** Returns where the bits of a word are written, segment by segment. */
  readonly of: (word: number) => readonly EventWords[];
}

/** Returns, by word, the bits of events without any property: those of negative filters on properties. */
function initialBits({ filters, count }: FilterBits): Int32Array {
  const initial = new Int32Array(Math.max(1, Math.ceil(count / WORD_BITS)));
  for (const [number, filter] of [...filters.values()].entries()) {
    if (propertyOf(filter.field) === null || !isNegative(filter)) continue;
    initial[Math.floor(number / WORD_BITS)]! |= 1 << number % WORD_BITS;
  }
  return initial;
}

/** Makes the columns for filter bits: zeros, except the bits of `initialBits`. */
export function emptyBits(
  filterBits: FilterBits,
  segments: readonly LoadedSegment[],
  memory: MemoryScope,
): BitColumns {
  const initial = initialBits(filterBits);
  const filled = <T extends IntegerColumn>(zeros: T, bits: number): T =>
    bits === 0 ? zeros : zeros.fill(bits) as T;
  if (!filterBits.isWide) {
    const columns = segments.map(({ times }) =>
      filled(emptyIds(memory.take, 2 ** filterBits.count - 1, times.length), initial[0]!)
    );
    return { columns, words: [], of: () => columns.map((bits) => ({ bits, first: 0 })) };
  }
  let events = 0;
  const places = segments.map(({ times: { length } }) => {
    const ofSegment = zeros(memory.take, Int32Array, length);
    for (let at = 0; at < length; at++) ofSegment[at] = events++;
    return ofSegment;
  });
  const words = Array.from(
    initial,
    (bits) => filled(zeros(memory.take, Int32Array, events), bits),
  );
  const of = (word: number) =>
    places.map((ofSegment) => ({ bits: words[word]!, first: ofSegment[0] ?? 0 }));
  return { columns: places, words, of };
}

/** The filters on a lazy column, by word; those of a word have adjacent bits. */
interface ColumnFilters {
  readonly column: LazyColumn;
  readonly byWord: Map<number, { readonly filters: Filter[]; readonly shift: number }>;
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
  const byColumn = new Map<string, ColumnFilters>();
  for (const [number, filter] of [...source.bits.filters.values()].entries()) {
    const [word, shift] = [Math.floor(number / WORD_BITS), number % WORD_BITS];
    if (isSessionField(filter.field)) {
      const test = await sessionPasses(sql, scope, [filter]);
      ofSessions.push({ test, word, bit: 1 << shift });
      continue;
    }
    const column = columnOf(filter.field);
    byColumn.getOrInsertComputed(lazyName(column), () => ({ column, byWord: new Map() }))
      .byWord.getOrInsertComputed(word, () => ({ filters: [], shift })).filters.push(filter);
  }
  const columnFilters = [...byColumn.values()];
  for (let from = 0; from < columnFilters.length; from += LAZY_COLUMNS_AT_ONCE) {
    const together = columnFilters.slice(from, from + LAZY_COLUMNS_AT_ONCE);
    const loaded = await loadColumns(source, part, together.map(({ column }) => column));
    for (const [i, { byWord }] of together.entries()) {
      for (const [word, { filters, shift }] of byWord) {
        const { field } = filters[0]!;
        const words = filterBits.of(word);
        await (isLazyField(field)
          ? setBitsByIds(source, field, loaded[i] as IntegerColumn[], words, filters, shift)
          : setBitsByProperty(sql, loaded[i] as PropertyColumn[], words, filters, shift));
      }
    }
  }
  return ofSessions;
}
