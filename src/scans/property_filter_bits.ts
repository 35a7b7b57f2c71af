import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import { TextMap } from "../store/text_map.ts";
import { yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { PROPERTY_BATCH_LENGTH_MAX } from "./scan_limits.ts";
import { filterCondition, isNegative } from "../query/filter_conditions.ts";
import type { Filter } from "../query/filters.ts";
import { SqlParams } from "../query/sql_params.ts";
import { filterName } from "./filter_bits.ts";
import { valueTest } from "./property_conditions.ts";

/** The latest results per column and condition: by code, 1 if the value fulfils the condition. */
const KNOWN = new WeakMap<PropertyColumn, Map<string, Uint8Array>>();
const CONDITIONS_KNOWN_MAX = 8;
/** Values between two checks of the clock. */
const VALUES_UNTIMED = 10_000;

function keep(column: PropertyColumn, name: string, fulfils: Uint8Array): void {
  const known = KNOWN.getOrInsertComputed(column, () => new Map());
  if (known.size >= CONDITIONS_KNOWN_MAX) known.delete(known.keys().next().value!);
  known.set(name, fulfils);
}

/** Returns which of the texts fulfil a filter's condition. */
async function fulfilling(sql: Sql, texts: readonly string[], filter: Filter): Promise<string[]> {
  const params = new SqlParams();
  const rows = await sql.query<{ number: number }>(
    `SELECT t.number::int AS number
    FROM unnest(${params.texts(texts)}) WITH ORDINALITY AS t (text, number)
    WHERE ${filterCondition(params, "t.text", filter)}`,
    params.values,
  );
  return rows.map(({ number }) => texts[number - 1]!);
}

/** Has the database compare texts, each once. Returns whether each fulfils the condition. */
async function comparedBySql(
  sql: Sql,
  texts: Iterable<string>,
  filter: Filter,
): Promise<Pick<TextMap<boolean>, "get">> {
  const compared = new TextMap<boolean>();
  const distinct: string[] = [];
  for (const text of texts) {
    if (compared.get(text) !== undefined) continue;
    compared.set(text, false);
    distinct.push(text);
  }
  for (let from = 0, to = 0; from < distinct.length; from = to) {
    for (let length = 0; to < distinct.length && length < PROPERTY_BATCH_LENGTH_MAX; to++) {
      length += distinct[to]!.length;
    }
    const found = await fulfilling(sql, distinct.slice(from, to), filter);
    for (const text of found) compared.set(text, true);
  }
  return compared;
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
  /** By column and code: the texts that the database must compare. */
  const left: Map<number, string>[] = [];
  const fulfils: Uint8Array[] = [];
  for (const column of columns) {
    const known = KNOWN.get(column)?.get(name);
    const texts = new Map<number, string>();
    const results = known ?? new Uint8Array(column.size);
    for (let code = 0; known === undefined && code < results.length; code++) {
      const passes = test(column, code);
      if (typeof passes === "string") texts.set(code, passes);
      else results[code] = Number(passes);
      if (code % VALUES_UNTIMED === 0) await turn();
    }
    left.push(texts);
    fulfils.push(results);
  }
  const compared = await comparedBySql(sql, left.flatMap((texts) => [...texts.values()]), filter);
  for (const [i, column] of columns.entries()) {
    for (const [code, text] of left[i]!) fulfils[i]![code] = Number(compared.get(text));
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
