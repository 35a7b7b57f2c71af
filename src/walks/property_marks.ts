import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../histories/column.ts";
import { type Histories, loadHistories } from "../histories/histories.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { Pace } from "../histories/pace.ts";
import { loadProperty, type PropertyColumn } from "../histories/property_columns.ts";
import { loadSeldomColumn } from "../histories/seldom_columns.ts";
import type { SegmentCache } from "../histories/segment_cache.ts";
import { PROPERTY_COMPARED_LENGTH_MAX, PROPERTY_MARKS_MAX } from "../limits.ts";
import { isLifted } from "../selection/field_values.ts";
import { isNegative, propertyValueCondition } from "../selection/filter_conditions.ts";
import {
  type Field,
  type Filter,
  isSeldomField,
  propertyOf,
  type SeldomField,
} from "../selection/filters.ts";
import type { Scope, Span } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { namedIds, passing } from "./named_ids.ts";
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

const nameOf = ({ field, op, values }: Filter): string => JSON.stringify([field, op, values]);

/**
 * The bits that an event must have to pass these filters, those that are told by marks.
 * Throws where the histories are not marked by one of them.
 */
export function wantedMarks(bits: MarkBits, filters: readonly Filter[]): number {
  let wanted = 0;
  for (const filter of filters.filter(({ field }) => isMarked(field))) {
    const bit = bits.get(nameOf(filter));
    if (bit === undefined) throw new Error(`Histories are not marked by ${nameOf(filter)}`);
    wanted |= bit;
  }
  return wanted;
}

/** What was found of columns' values, for the filters asked last: 1 where a value fulfils the condition. */
const KNOWN = new WeakMap<PropertyColumn, Map<string, Uint8Array>>();
const CONDITIONS_KNOWN_MAX = 8;

function keep(column: PropertyColumn, name: string, fulfils: Uint8Array): void {
  let known = KNOWN.get(column);
  if (known === undefined) KNOWN.set(column, known = new Map());
  if (known.size >= CONDITIONS_KNOWN_MAX) known.delete(known.keys().next().value!);
  known.set(name, fulfils);
}

/** Those of the values (JSON) that fulfil a filter's condition: the database compares all values. */
async function fulfilling(
  sql: Sql,
  values: readonly string[],
  filter: Filter,
): Promise<ReadonlySet<string>> {
  const params = new SqlParams();
  const texts = params.texts(values);
  const rows = await sql.query<{ number: number }>(
    `SELECT v.number::int AS number
    FROM (
      SELECT value::jsonb AS json, number
      FROM unnest(${texts}) WITH ORDINALITY AS t (value, number) OFFSET 0
    ) AS v
    WHERE ${propertyValueCondition(params, "v.json", filter)}`,
    params.values,
  );
  return new Set(rows.map(({ number }) => values[number - 1]!));
}

/** By column: 1 where a value fulfils the filter's condition. Null where they are too many to compare. */
async function tested(
  sql: Sql,
  columns: readonly PropertyColumn[],
  filter: Filter,
): Promise<Uint8Array[] | null> {
  const name = nameOf(filter);
  const known = columns.map((column) => KNOWN.get(column)?.get(name));
  const values = new Set<string>();
  let length = 0;
  for (const [i, column] of columns.entries()) {
    if (known[i] !== undefined) continue;
    for (const value of column.values) {
      if (values.has(value)) continue;
      values.add(value);
      if ((length += value.length) > PROPERTY_COMPARED_LENGTH_MAX) return null;
    }
  }
  const found = values.size === 0 ? values : await fulfilling(sql, [...values], filter);
  return columns.map((column, i) => {
    if (known[i] !== undefined) return known[i];
    const fulfils = Uint8Array.from(column.values, (value) => Number(found.has(value)));
    keep(column, name, fulfils);
    return fulfils;
  });
}

/** A column for so many bits an event. */
function marksOf(bits: number, events: number): IntegerColumn {
  if (bits <= 8) return new Uint8Array(events);
  return bits <= 16 ? new Uint16Array(events) : new Int32Array(events);
}

/** Marks the events of a segment whose property fulfils a filter, or does not, if it is a negative one. */
function mark(
  marks: IntegerColumn,
  bit: number,
  negated: boolean,
  { places, codes }: PropertyColumn,
  fulfils: Uint8Array,
): void {
  if (negated) { for (let at = 0; at < marks.length; at++) marks[at]! |= bit; }
  for (let i = 0; i < places.length; i++) {
    if (fulfils[codes[i]!] === 0) continue;
    if (negated) marks[places[i]!]! &= ~bit;
    else marks[places[i]!]! |= bit;
  }
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

const loadKey = ({ sql, cache, scope, segments }: Omit<Marking, "marks">, key: string) =>
  loadProperty(sql, cache.properties, scope.projectId, segments, key);

/** Marks by the values of a property. @returns whether that could be */
async function markByProperty(
  marking: Marking,
  key: string,
  filter: Filter,
  bit: number,
): Promise<boolean> {
  const columns = await loadKey(marking, key);
  const fulfils = columns === null ? null : await tested(marking.sql, columns, filter);
  if (columns === null || fulfils === null) return false;
  const pace = new Pace();
  for (const [i, column] of columns.entries()) {
    mark(marking.marks[i]!, bit, isNegative(filter), column, fulfils[i]!);
    if (pace.isOver()) await pace.pause();
  }
  return true;
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
    filters.filter(({ field }) => isMarked(field)).map((filter) => [nameOf(filter), filter]),
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
    const isDone = isSeldomField(field)
      ? await markByIds(marking, field, filter, bits.get(name)!)
      : await markByProperty(marking, propertyOf(field)!, filter, bits.get(name)!);
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
