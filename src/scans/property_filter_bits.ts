import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import { TextMap } from "../store/text_map.ts";
import { yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { PROPERTY_BATCH_LENGTH_MAX } from "./scan_limits.ts";
import { isNegative, propertyValueCondition } from "../query/filter_conditions.ts";
import type { Filter } from "../query/filters.ts";
import { SqlParams } from "../query/sql_params.ts";
import { filterName } from "./filter_bits.ts";
import { valueTest } from "./property_conditions.ts";

/** The results of the filters that a column was tested for last: by code, 1 where the value fulfils the condition. */
const KNOWN = new WeakMap<PropertyColumn, Map<string, Uint8Array>>();
const CONDITIONS_KNOWN_MAX = 8;
/** Values between two looks at the clock. */
const VALUES_UNTIMED = 10_000;

function keep(column: PropertyColumn, name: string, fulfils: Uint8Array): void {
  let known = KNOWN.get(column);
  if (known === undefined) KNOWN.set(column, known = new Map());
  if (known.size >= CONDITIONS_KNOWN_MAX) known.delete(known.keys().next().value!);
  known.set(name, fulfils);
}

/** Marks the values (JSON) that fulfil a filter's condition. */
async function markFulfilling(
  sql: Sql,
  values: readonly string[],
  filter: Filter,
  found: TextMap<true>,
): Promise<void> {
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
  for (const { number } of rows) found.set(values[number - 1]!, true);
}

/** Has the database compare values of columns (JSON). Returns those that fulfil the condition. */
async function comparedBySql(
  sql: Sql,
  lists: readonly (readonly string[])[],
  filter: Filter,
): Promise<Pick<TextMap<true>, "get">> {
  const known = new TextMap<true>();
  const values: string[] = [];
  for (const value of lists.flat()) {
    if (known.get(value) === true) continue;
    known.set(value, true);
    values.push(value);
  }
  const found = new TextMap<true>();
  for (let from = 0, to = 0; from < values.length; from = to) {
    for (let length = 0; to < values.length && length < PROPERTY_BATCH_LENGTH_MAX; to++) {
      length += values[to]!.length;
    }
    await markFulfilling(sql, values.slice(from, to), filter, found);
  }
  return found;
}

/** Tests the values of columns. @returns by column and code: 1 where the value fulfils the condition */
async function tested(
  sql: Sql,
  columns: readonly PropertyColumn[],
  filter: Filter,
): Promise<Uint8Array[]> {
  const name = filterName(filter);
  const test = valueTest(filter);
  const turn = yielding();
  /** By column: the codes that are left to the database. */
  const left: number[][] = [];
  const fulfils: Uint8Array[] = [];
  for (const column of columns) {
    const known = KNOWN.get(column)?.get(name);
    const codes: number[] = [];
    const results = known ?? new Uint8Array(column.size);
    for (let code = 0; known === undefined && code < results.length; code++) {
      const passes = test(column, code);
      if (passes === null) codes.push(code);
      else results[code] = Number(passes);
      if (code % VALUES_UNTIMED === 0) await turn();
    }
    left.push(codes);
    fulfils.push(results);
  }
  const jsonOf = (column: number) => left[column]!.map((code) => columns[column]!.values[code]!);
  const found = await comparedBySql(sql, columns.map((_, i) => jsonOf(i)), filter);
  for (const [i, column] of columns.entries()) {
    for (const code of left[i]!) {
      fulfils[i]![code] = Number(found.get(column.values[code]!) === true);
    }
    if (KNOWN.get(column)?.get(name) === undefined) keep(column, name, fulfils[i]!);
  }
  return fulfils;
}

/** Where the bit of one filter is written for the events of one segment. */
export interface EventBits {
  readonly bits: IntegerColumn;
  /** The place in `bits` of the segment's first event, and the number of its events. */
  readonly first: number;
  readonly events: number;
  readonly bit: number;
}

/** Sets the bit of a segment's events whose property passes a filter. */
function setBitsOfSegment(
  { bits, first, events, bit }: EventBits,
  negated: boolean,
  { places, codes }: PropertyColumn,
  fulfils: Uint8Array,
): void {
  if (negated) { for (let at = first; at < first + events; at++) bits[at]! |= bit; }
  for (let i = 0; i < places.length; i++) {
    if (fulfils[codes[i]!] === 0) continue;
    if (negated) bits[first + places[i]!]! &= ~bit;
    else bits[first + places[i]!]! |= bit;
  }
}

/**
 * Sets the bit of the events whose property passes a filter.
 * @param columns the property, by segment
 * @param filterBits where bits are written, by segment
 */
export async function setBitsByProperty(
  sql: Sql,
  columns: readonly PropertyColumn[],
  filterBits: readonly EventBits[],
  filter: Filter,
): Promise<void> {
  const fulfils = await tested(sql, columns, filter);
  const turn = yielding();
  for (const [i, column] of columns.entries()) {
    setBitsOfSegment(filterBits[i]!, isNegative(filter), column, fulfils[i]!);
    await turn();
  }
}
