import type { Sql } from "../db/sql.ts";
import { columnFor, type IntegerColumn } from "../store/integer_codec.ts";
import { TextMap } from "../store/text_map.ts";
import { yielding } from "../store/yielding.ts";
import type { PropertyColumn } from "../timelines/property_columns.ts";
import { PROPERTY_BATCH_LENGTH_MAX } from "./scan_limits.ts";
import { filterCondition, isNegative } from "../query/filter_conditions.ts";
import type { Filter } from "../query/filters.ts";
import { SqlParams } from "../query/sql_params.ts";
import { filterName } from "./filter_bits.ts";
import { valueTest } from "./property_conditions.ts";

/** The latest results per column and list of filters: by code, bit i is set if the value passes filter i. */
const KNOWN = new WeakMap<PropertyColumn, Map<string, IntegerColumn>>();
/** Bytes of a value's results, over all lists. */
const KNOWN_BYTES_MAX = 8;
/** Values between two checks of the clock. */
const VALUES_UNTIMED = 10_000;

function keep(column: PropertyColumn, list: string, passes: IntegerColumn): void {
  const known = KNOWN.getOrInsertComputed(column, () => new Map());
  // Another read may have kept the same list meanwhile.
  known.delete(list);
  const ofLists = () => known.values().reduce((sum, one) => sum + one.BYTES_PER_ELEMENT, 0);
  while (ofLists() + passes.BYTES_PER_ELEMENT > KNOWN_BYTES_MAX) {
    known.delete(known.keys().next().value!);
  }
  known.set(list, passes);
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

/** Sets a bit of the values of columns that pass a filter, by column and code. */
async function setBitOfValues(
  sql: Sql,
  columns: readonly PropertyColumn[],
  passes: readonly IntegerColumn[],
  filter: Filter,
  bit: number,
): Promise<void> {
  const negated = isNegative(filter);
  const test = valueTest(filter);
  const turn = yielding();
  /** By column and code: the texts that the database must compare. */
  const left: Map<number, string>[] = [];
  for (const [i, column] of columns.entries()) {
    const [ofColumn, texts] = [passes[i]!, new Map<number, string>()];
    for (let code = 0; code < ofColumn.length; code++) {
      const fulfils = test(column, code);
      if (typeof fulfils === "string") texts.set(code, fulfils);
      else if (fulfils !== negated) ofColumn[code]! |= bit;
      if (code % VALUES_UNTIMED === 0) await turn();
    }
    left.push(texts);
  }
  const compared = await comparedBySql(sql, left.flatMap((texts) => [...texts.values()]), filter);
  for (const [i, texts] of left.entries()) {
    for (const [code, text] of texts) if (compared.get(text) !== negated) passes[i]![code]! |= bit;
  }
}

/** Tests the values of columns. @returns by column and code: bit i is set if the value passes filter i */
async function tested(
  sql: Sql,
  columns: readonly PropertyColumn[],
  filters: readonly Filter[],
): Promise<IntegerColumn[]> {
  const list = filters.map(filterName).join();
  const known = columns.map((column) => KNOWN.get(column)?.get(list));
  const all = columns.map(({ size }, i) => known[i] ?? columnFor(0, 2 ** filters.length - 1, size));
  const isNew = (_: unknown, i: number) => known[i] === undefined;
  const [unknown, made] = [columns.filter(isNew), all.filter(isNew)];
  for (const [i, filter] of filters.entries()) {
    await setBitOfValues(sql, unknown, made, filter, 1 << i);
  }
  for (const [i, column] of unknown.entries()) keep(column, list, made[i]!);
  return all;
}

/** The words of a segment's events: that of the first one is at the place `first`. */
export interface EventWords {
  readonly bits: IntegerColumn;
  readonly first: number;
}

/**
 * Sets the bits of the events whose property passes filters; events without it must have those of the negative ones.
 * @param columns the property, by segment
 * @param words where bits are written, by segment
 * @param shift the number in the words of the first filter's bit, which those of the others follow
 */
export async function setBitsByProperty(
  sql: Sql,
  columns: readonly PropertyColumn[],
  words: readonly EventWords[],
  filters: readonly Filter[],
  shift: number,
): Promise<void> {
  const passes = await tested(sql, columns, filters);
  const others = ~((2 ** filters.length - 1) << shift);
  const turn = yielding();
  for (const [i, { places, codes }] of columns.entries()) {
    const [{ bits, first }, ofColumn] = [words[i]!, passes[i]!];
    for (let n = 0; n < places.length; n++) {
      const at = first + places[n]!;
      bits[at] = bits[at]! & others | ofColumn[codes[n]!]! << shift;
    }
    await turn();
  }
}
