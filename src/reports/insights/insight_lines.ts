import type { Sql } from "../../db/sql.ts";
import { INSIGHT_VALUES_MAX } from "../../limits.ts";
import type { CountedKeys } from "../../scans/key_counts.ts";
import { type CountedIds, mostFrequentOfEach, type TextsOf } from "../../scans/most_frequent.ts";
import { readTexts } from "../../scans/value_texts.ts";
import { yielding } from "../../store/yielding.ts";
import { GrowingList } from "../../store/growing_list.ts";
import type { Dimension } from "./insight_candidates.ts";
import { FIRST_SESSION_ID, type LineTable, WHOLE_ID } from "./line_tally.ts";
import { type NumberedValues, SESSION_IDS } from "../visitors/session_values.ts";

export type ValuesOf = ReadonlyMap<Dimension, NumberedValues>;

/** The chosen values of a dimension and their numbers, in the order in which they are shown. */
export interface ChosenValues {
  readonly dimension: Dimension;
  readonly numbers: readonly number[];
  readonly values: readonly (string | null)[];
}

/** Returns the line of a dimension's value, given by number; -1: it has none. */
type LineOf = (dimension: Dimension, number: number) => number;

/** A line for the total, then one for each value of each dimension. */
export type ValueLines = ReturnType<typeof linesBy>;

/** Keys between two yields to the event loop. */
const KEYS_AT_ONCE = 65_536;

const WHOLE: LineTable = { of: WHOLE_ID, idsFrom: 0, width: 1, linesOf: Int32Array.of(0) };

/** The dimension whose values are paths: a path's number is its id. */
const PATHS: Dimension = "entryPath";
/** Paths have no table: see `PathLines`. */
const TABLE_IDS = SESSION_IDS.filter((id) => id !== "entry_path_id");

/** Makes a table for each kind of id, with the lines of all dimensions that the id determines side by side. */
function tablesOf(values: ValuesOf, dimensions: readonly Dimension[], lineOf: LineOf): LineTable[] {
  const tables = TABLE_IDS.flatMap((id): LineTable[] => {
    const determined = dimensions.filter((dimension) => values.get(dimension)!.of === id);
    const width = determined.length;
    if (width === 0) return [];
    const { idsFrom, numberOf: { length } } = values.get(determined[0]!)!;
    const linesOf = new Int32Array(length * width);
    for (const [i, dimension] of determined.entries()) {
      for (const [id, number] of values.get(dimension)!.numberOf.entries()) {
        linesOf[id * width + i] = lineOf(dimension, number);
      }
    }
    return [{ of: FIRST_SESSION_ID + SESSION_IDS.indexOf(id), idsFrom, width, linesOf }];
  });
  return [WHOLE, ...tables];
}

/**
 * Makes as many lines for each dimension as `sizes` says. `firsts`: the first line of each dimension; those of a
 * dimension follow those of the one before it.
 * @param placeOf the index of a value among its dimension's lines; -1: it has no line
 * @param paths the paths that have a line; null: each has the line of its id
 */
function linesBy(
  values: ValuesOf,
  sizes: readonly (readonly [Dimension, number])[],
  placeOf: LineOf,
  paths: readonly number[] | null,
) {
  let count = 1;
  const firsts = new Map<Dimension, number>();
  for (const [dimension, size] of sizes) {
    firsts.set(dimension, count);
    count += size;
  }
  const lineOf: LineOf = (dimension, number) => {
    const place = placeOf(dimension, number);
    return place < 0 ? -1 : firsts.get(dimension)! + place;
  };
  const first = firsts.get(PATHS);
  const lineOfPath = paths && new Map(paths.map((path) => [path, lineOf(PATHS, path)]));
  return {
    tables: tablesOf(values, [...firsts.keys()], lineOf),
    paths: first === undefined ? null : { lineOf: lineOfPath, first },
    count,
    firsts,
    lineOf,
  };
}

/** Makes a line for each value of these dimensions. */
export function linesOfAll(values: ValuesOf, dimensions: readonly Dimension[]): ValueLines {
  const sizes = dimensions.map((one) => [one, values.get(one)!.idOf.length] as const);
  return linesBy(values, sizes, (_, number) => number, null);
}

/** Makes a line for each chosen value, in their order. */
export function linesOfChosen(values: ValuesOf, chosen: readonly ChosenValues[]): ValueLines {
  const places = new Map(
    chosen.map(({ dimension, numbers }) => [dimension, new Map(numbers.map((n, i) => [n, i]))]),
  );
  const sizes = chosen.map(({ dimension, numbers }) => [dimension, numbers.length] as const);
  const placeOf: LineOf = (dimension, number) => places.get(dimension)!.get(number) ?? -1;
  const paths = chosen.find(({ dimension }) => dimension === PATHS)?.numbers ?? [];
  return linesBy(values, sizes, placeOf, paths);
}

/** How many events each value of a dimension has, by the value's number. */
export interface NumberedEvents extends CountedIds {
  readonly dimension: Dimension;
}

/**
 * Returns the counted events by value; there may be millions of values.
 * @param lines those of all values of the dimensions, by which the events were counted
 */
export async function eventsByNumber(
  { keys, counts }: CountedKeys,
  { firsts }: ValueLines,
): Promise<NumberedEvents[]> {
  const turn = yielding();
  const dimensions = [...firsts];
  const places = dimensions.map(() => new GrowingList(new Int32Array(64)));
  for (let at = 0; at < keys.length; at++) {
    let i = dimensions.length - 1;
    while (i >= 0 && keys[at]! < dimensions[i]![1]) i--;
    places[i]?.add(at);
    if (at % KEYS_AT_ONCE === 0) await turn();
  }
  return dimensions.map(([dimension, first], i): NumberedEvents => {
    const own = places[i]!.taken();
    return {
      dimension,
      counts: own.map((at) => counts[at]!),
      idAt: (place) => keys[own[place]!]! - first,
    };
  });
}

/**
 * Chooses, for each list and each of its dimensions, the values with the most events, in the order in which they
 * are shown; ties by name, a missing value last.
 */
export async function chooseValues(
  sql: Sql,
  projectId: number,
  values: ValuesOf,
  lists: readonly (readonly NumberedEvents[])[],
): Promise<ChosenValues[][]> {
  const chosen = lists.map(() => new Map<Dimension, ChosenValues>());
  for (const [dimension, { idOf }] of values) {
    const textsOf: TextsOf = async (numbers, most) => {
      const numberOf = new Map(numbers.map((number) => [idOf[number]!, number]));
      const ids = [...numberOf.keys()];
      const texts = await readTexts(sql, { projectId, siteHost: null }, dimension, ids, most);
      return new Map([...texts].map(([id, text]) => [numberOf.get(id)!, text]));
    };
    const own = lists.flatMap((list, i) =>
      list.filter((one) => one.dimension === dimension).map((counted) => ({ i, counted }))
    );
    const counted = own.map((one) => one.counted);
    const found = await mostFrequentOfEach(counted, INSIGHT_VALUES_MAX, textsOf);
    for (const [at, { i }] of own.entries()) {
      const numbers = found[at]!.map(({ ids }) => ids[0]!);
      chosen[i]!.set(dimension, { dimension, numbers, values: found[at]!.map(({ text }) => text) });
    }
  }
  return lists.map((list, i) => list.map(({ dimension }) => chosen[i]!.get(dimension)!));
}
