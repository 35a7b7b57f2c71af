import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../histories/column.ts";
import { Pace } from "../histories/pace.ts";
import type { PropertyColumn } from "../histories/property_columns.ts";
import { PROPERTY_COMPARED_LENGTH_MAX } from "../limits.ts";
import { isNegative, propertyValueCondition } from "../selection/filter_conditions.ts";
import type { Filter } from "../selection/filters.ts";
import { SqlParams } from "../selection/sql_params.ts";

/** The same for filters that ask the same. */
export const filterName = ({ field, op, values }: Filter): string =>
  JSON.stringify([field, op, values]);

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
  const name = filterName(filter);
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

/**
 * Marks, with a bit, the events of segments whose property passes a filter.
 * @param columns of each segment the property
 * @param marks of each segment what is marked
 * @returns whether its values could be compared: else nothing is marked
 */
export async function markByProperty(
  sql: Sql,
  columns: readonly PropertyColumn[],
  marks: readonly IntegerColumn[],
  filter: Filter,
  bit: number,
): Promise<boolean> {
  const fulfils = await tested(sql, columns, filter);
  if (fulfils === null) return false;
  const pace = new Pace();
  for (const [i, column] of columns.entries()) {
    mark(marks[i]!, bit, isNegative(filter), column, fulfils[i]!);
    if (pace.isOver()) await pace.pause();
  }
  return true;
}
