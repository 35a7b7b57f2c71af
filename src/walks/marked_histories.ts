import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../histories/column.ts";
import { type Histories, loadHistories } from "../histories/histories.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { Pace } from "../histories/pace.ts";
import { loadProperty, type PropertyColumn } from "../histories/property_columns.ts";
import { loadSeldomColumn } from "../histories/seldom_columns.ts";
import type { SegmentCache } from "../histories/segment_cache.ts";
import { PROPERTY_MARKS_MAX } from "../limits.ts";
import { isLifted } from "../selection/field_values.ts";
import {
  type Field,
  type Filter,
  isSeldomField,
  propertyOf,
  type SeldomField,
} from "../selection/filters.ts";
import type { Scope, Span } from "../selection/selection.ts";
import { namedIds, passing } from "./named_ids.ts";
import { filterName, markByProperty } from "./property_marks.ts";
import { SELDOM_COLUMN_OF, seldomIdMax } from "./seldom_fields.ts";

/** Which bit of an event's mark says whether it passes a filter on a property, a title or a referrer. */
export type MarkBits = ReadonlyMap<string, number>;

/** Histories whose events are marked by what filters ask of their properties, titles and referrers. */
export interface MarkedHistories extends Histories {
  readonly bits: MarkBits;
  /** A property of the segments' events; null where they do not hold it. */
  readonly property: (key: string) => Promise<PropertyOfSegments | null>;
  /** The ids of the events' titles or referrers; null where they are too large. */
  readonly seldom: (field: SeldomField) => Promise<IdsOfSegments | null>;
}

export type PropertyOfSegments = ReadonlyMap<LoadedSegment, PropertyColumn>;
export type IdsOfSegments = ReadonlyMap<LoadedSegment, IntegerColumn>;

/**
 * Whether a filter on the field is told by marks: on a title, a referrer, or a property that stands in
 * no column of its own.
 */
export function isMarked(field: Field): boolean {
  const key = propertyOf(field);
  return key === null ? isSeldomField(field) : !isLifted(key);
}

/**
 * The bits that an event must have to pass these filters, those that are told by marks.
 * Throws where the histories are not marked by one of them.
 */
export function wantedMarks(bits: MarkBits, filters: readonly Filter[]): number {
  let wanted = 0;
  for (const filter of filters.filter(({ field }) => isMarked(field))) {
    const bit = bits.get(filterName(filter));
    if (bit === undefined) throw new Error(`Histories are not marked by ${filterName(filter)}`);
    wanted |= bit;
  }
  return wanted;
}

/** A column for so many bits an event. */
function marksOf(bits: number, events: number): IntegerColumn {
  if (bits <= 8) return new Uint8Array(events);
  return bits <= 16 ? new Uint16Array(events) : new Int32Array(events);
}

/** What histories are marked with. */
interface Marking {
  readonly sql: Sql;
  readonly cache: SegmentCache;
  readonly scope: Pick<Scope, "projectId" | "siteHost">;
  readonly segments: readonly LoadedSegment[];
  /** Of each segment the marks of its events. */
  readonly marks: readonly IntegerColumn[];
}

const loadKey = ({ sql, cache, scope, segments }: Omit<Marking, "marks">, key: string) =>
  loadProperty(sql, cache.properties, scope.projectId, segments, key);

const loadSeldom = ({ sql, cache, scope, segments }: Omit<Marking, "marks">, field: SeldomField) =>
  loadSeldomColumn(sql, cache.seldom, scope.projectId, segments, SELDOM_COLUMN_OF[field]);

/** Marks by the ids of titles or referrers. @returns whether that could be */
async function markByIds(
  marking: Marking,
  field: SeldomField,
  filter: Filter,
  bit: number,
): Promise<boolean> {
  const { sql, scope, marks } = marking;
  const columns = await loadSeldom(marking, field);
  if (columns === null) return false;
  const [named] = await namedIds(sql, scope, [[filter]]);
  const passes = passing(named!, 0, await seldomIdMax(sql, scope.projectId, field))!;
  const bits = Int32Array.from(passes, (one) => one * bit);
  const pace = new Pace();
  for (const [i, ids] of columns.entries()) {
    const own = marks[i]!;
    for (let at = 0; at < ids.length; at++) own[at]! |= bits[ids[at]!]!;
    if (pace.isOver()) await pace.pause();
  }
  return true;
}

/** Marks by the values of a property. @returns whether that could be */
async function markByKey(
  marking: Marking,
  key: string,
  filter: Filter,
  bit: number,
): Promise<boolean> {
  const columns = await loadKey(marking, key);
  return columns !== null &&
    await markByProperty(marking.sql, columns, marking.marks, filter, bit);
}

/** The same histories, marked by all of these filters that marks tell; null where that cannot be. */
async function marked(
  sql: Sql,
  cache: SegmentCache,
  scope: Pick<Scope, "projectId" | "siteHost">,
  histories: Histories,
  filters: readonly Filter[],
): Promise<MarkedHistories | null> {
  const byName = new Map(
    filters.filter(({ field }) => isMarked(field)).map((filter) => [filterName(filter), filter]),
  );
  const bits = new Map([...byName.keys()].map((name, i) => [name, 1 << i]));
  if (bits.size > PROPERTY_MARKS_MAX) return null;
  const { segments } = histories;
  const source = { sql, cache, scope, segments };
  const marks = bits.size === 0
    ? segments.map((segment) => segment.marks)
    : segments.map(({ times }) => marksOf(bits.size, times.length));
  for (const [name, filter] of byName) {
    const { field } = filter;
    const marking = { ...source, marks };
    const bit = bits.get(name)!;
    const isDone = isSeldomField(field)
      ? await markByIds(marking, field, filter, bit)
      : await markByKey(marking, propertyOf(field)!, filter, bit);
    if (!isDone) return null;
  }
  const own = bits.size === 0
    ? segments
    : segments.map((segment, i): LoadedSegment => ({ ...segment, marks: marks[i]! }));
  const besideSegments = <T>(columns: readonly T[] | null) =>
    columns === null ? null : new Map(own.map((segment, i) => [segment, columns[i]!]));
  return {
    ...histories,
    segments: own,
    bits,
    property: async (key) => isLifted(key) ? null : besideSegments(await loadKey(source, key)),
    seldom: async (field) => besideSegments(await loadSeldom(source, field)),
  };
}

/**
 * `loadHistories`, its events marked by what these filters ask of properties, titles and referrers:
 * all that the read is going to test. Null where histories cannot answer.
 */
export async function loadMarkedHistories(
  sql: Sql,
  cache: SegmentCache,
  scope: Pick<Scope, "projectId" | "siteHost">,
  span: Span,
  filters: readonly Filter[],
): Promise<MarkedHistories | null> {
  const histories = await loadHistories(sql, cache, scope.projectId, span);
  return histories === null ? null : await marked(sql, cache, scope, histories, filters);
}
