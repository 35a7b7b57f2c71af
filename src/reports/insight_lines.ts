import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Row, Sql } from "../db/sql.ts";
import { INSIGHT_VALUES_MAX } from "../limits.ts";
import { sessionValue } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { type Dimension, DIMENSIONS, numberOf } from "./insight_candidates.ts";
import {
  CONTEXT_ID,
  ENTRY_PATH_ID,
  type Lines,
  type LineTable,
  TRAFFIC_ID,
  WHOLE_ID,
} from "./insight_walk.ts";

/** The values of a dimension, numbered from 0. */
export interface NumberedValues {
  /** Which ids tell them. */
  readonly of: number;
  readonly idsFrom: number;
  /** The number of what id i stands for, at `i - idsFrom`. */
  readonly numberOf: Int32Array;
  /** Of each number one id that stands for it. */
  readonly idOf: Int32Array;
}

export type ValuesOf = ReadonlyMap<Dimension, NumberedValues>;

/** Paths have ids of their own, 0 being none. */
function numberedPaths(termMax: number): NumberedValues {
  const numbers = Int32Array.from({ length: termMax + 1 }, (_, id) => id);
  return { of: ENTRY_PATH_ID, idsFrom: 0, numberOf: numbers, idOf: numbers };
}

/** Numbers of what is alike, by the least id that stands for it. */
function numbered(of: number, ids: Int32Array, leastOf: (place: number) => number): NumberedValues {
  const idsFrom = ids.reduce((min, id) => Math.min(min, id), 0);
  const idsTo = ids.reduce((max, id) => Math.max(max, id), 0);
  const numberOf = new Int32Array(idsTo - idsFrom + 1);
  const idOf: number[] = [];
  for (const [place, id] of ids.entries()) {
    if (leastOf(place) === id) numberOf[id - idsFrom] = idOf.push(id) - 1;
  }
  for (const [place, id] of ids.entries()) {
    numberOf[id - idsFrom] = numberOf[leastOf(place) - idsFrom]!;
  }
  return { of, idsFrom, numberOf, idOf: Int32Array.from(idOf) };
}

/** Numbers the values of dimensions that are all told by the ids of one table. */
async function readNumbers(
  sql: Sql,
  projectId: number,
  table: "traffic" | "contexts",
  dimensions: readonly Dimension[],
): Promise<[Dimension, NumberedValues][]> {
  if (dimensions.length === 0) return [];
  const params = new SqlParams();
  const project = params.int(projectId);
  const number = numberOf(dimensions[0]!);
  const { joins } = sessionValue(dimensions[0]!);
  const least = dimensions.map((dimension) => {
    const { value } = sessionValue(dimension);
    return `min(s.${number}) OVER (PARTITION BY (${value}) COLLATE "C")`;
  });
  const names = least.map((_, i) => `least_${i}`);
  // Id 0 stands for what is in no session: all that it would say is missing.
  const [row] = await sql.query<{ ids: string }>(
    `SELECT ${packInts(["number", ...names])} AS ids
    FROM (
      SELECT s.${number} AS number, ${least.map((min, i) => `${min} AS ${names[i]}`).join(", ")}
      FROM (
        SELECT project_id, ${number} FROM ${table} WHERE project_id = ${project} AND ${number} <> 0
        UNION ALL SELECT ${project}, 0
      ) AS s ${joins}
    ) AS listed`,
    params.values,
  );
  const told = unpackInts(row!.ids);
  const columns = dimensions.length + 1;
  const at = (place: number, column: number) => told[columns * place + column]!;
  const ids = Int32Array.from({ length: told.length / columns }, (_, place) => at(place, 0));
  const of = table === "traffic" ? TRAFFIC_ID : CONTEXT_ID;
  return dimensions.map((dimension, i) => [
    dimension,
    numbered(of, ids, (place) => at(place, i + 1)),
  ]);
}

/** Numbers the values of dimensions. `termMax`: the largest id of a path. */
export async function numberValues(
  sql: Sql,
  projectId: number,
  dimensions: readonly Dimension[],
  termMax: number,
): Promise<ValuesOf> {
  const known = (number: ReturnType<typeof numberOf>) =>
    dimensions.filter((dimension) => numberOf(dimension) === number);
  const paths = known("entry_path_id")
    .map((dimension): [Dimension, NumberedValues] => [dimension, numberedPaths(termMax)]);
  return new Map([
    ...await readNumbers(sql, projectId, "traffic", known("traffic_id")),
    ...paths,
    ...await readNumbers(sql, projectId, "contexts", known("context_id")),
  ]);
}

/** Values of a dimension, in the order in which they are told. */
export interface ChosenValues {
  readonly dimension: Dimension;
  readonly numbers: readonly number[];
  readonly values: readonly (string | null)[];
}

/** Lines, of which the first is everything, and those of each dimension's values follow. */
export interface ValueLines extends Lines {
  /** The line of each dimension's number 0, if all have one, else of the first that was chosen. */
  readonly bases: ReadonlyMap<Dimension, number>;
}

const WHOLE: LineTable = { of: WHOLE_ID, idsFrom: 0, width: 1, linesOf: Int32Array.of(0) };

/** Puts the lines of all dimensions that the same id tells side by side. `lineOf`: of a value by its number. */
function tablesOf(
  values: ValuesOf,
  dimensions: readonly Dimension[],
  lineOf: (dimension: Dimension, number: number) => number,
): LineTable[] {
  const tables = [TRAFFIC_ID, ENTRY_PATH_ID, CONTEXT_ID].flatMap((of): LineTable[] => {
    const told = dimensions.filter((dimension) => values.get(dimension)!.of === of);
    const width = told.length;
    if (width === 0) return [];
    const { idsFrom, numberOf: { length } } = values.get(told[0]!)!;
    const linesOf = new Int32Array(length * width);
    for (const [i, dimension] of told.entries()) {
      for (const [id, number] of values.get(dimension)!.numberOf.entries()) {
        linesOf[id * width + i] = lineOf(dimension, number);
      }
    }
    return [{ of, idsFrom, width, linesOf }];
  });
  return [WHOLE, ...tables];
}

/** A line for each of all values of these dimensions. */
export function linesOfAll(values: ValuesOf, dimensions: readonly Dimension[]): ValueLines {
  const bases = new Map<Dimension, number>();
  let count = 1;
  for (const dimension of dimensions) {
    bases.set(dimension, count);
    count += values.get(dimension)!.idOf.length;
  }
  const lineOf = (dimension: Dimension, number: number) => bases.get(dimension)! + number;
  return { tables: tablesOf(values, dimensions, lineOf), count, bases };
}

/** A line for each chosen value, in their order. */
export function linesOfChosen(values: ValuesOf, chosen: readonly ChosenValues[]): ValueLines {
  const bases = new Map<Dimension, number>();
  const lines = new Map<Dimension, ReadonlyMap<number, number>>();
  let count = 1;
  for (const { dimension, numbers } of chosen) {
    const base = count;
    bases.set(dimension, base);
    lines.set(dimension, new Map(numbers.map((number, i) => [number, base + i])));
    count += numbers.length;
  }
  const lineOf = (dimension: Dimension, number: number) => lines.get(dimension)!.get(number) ?? -1;
  const dimensions = chosen.map(({ dimension }) => dimension);
  return { tables: tablesOf(values, dimensions, lineOf), count, bases };
}

/** How many events each number of a dimension has. */
export interface NumberedEvents {
  readonly dimension: Dimension;
  readonly events: Int32Array;
}

/** Numbers that may be among those with most events: all with as many as the last one that is. */
function mostFrequent(events: Int32Array): number[] {
  const told: number[] = [];
  for (const [number, count] of events.entries()) if (count > 0) told.push(number);
  if (told.length <= INSIGHT_VALUES_MAX) return told;
  const sorted = Int32Array.from(told, (number) => events[number]!).sort();
  const least = sorted[sorted.length - INSIGHT_VALUES_MAX]!;
  return told.filter((number) => events[number]! >= least);
}

interface ChosenRow extends Row {
  readonly dimension: number;
  readonly list: number;
  readonly number: number;
  readonly value: string | null;
}

/**
 * Of each list the values with most events of each of its dimensions, in the order in which they are
 * told; among equals the first by name, and what is missing last.
 */
export async function chooseValues(
  sql: Sql,
  projectId: number,
  values: ValuesOf,
  lists: readonly (readonly NumberedEvents[])[],
): Promise<ChosenValues[][]> {
  const params = new SqlParams();
  const project = params.int(projectId);
  const scans = [...values].map(([dimension, { idOf }]) => {
    const named = lists.flatMap((list, i) =>
      list.filter((one) => one.dimension === dimension).flatMap(({ events }) =>
        mostFrequent(events).map((number) => ({ list: i, number, events: events[number]! }))
      )
    );
    const columns = [
      named.map(({ list }) => list),
      named.map(({ number }) => number),
      named.map(({ number }) => idOf[number]!),
      named.map(({ events }) => events),
    ].map((column) => params.ints(column));
    const { joins, value } = sessionValue(dimension);
    return `SELECT ${DIMENSIONS.indexOf(dimension)} AS dimension, list, number, value,
        row_number() OVER (PARTITION BY list ORDER BY events DESC, value COLLATE "C" NULLS LAST) AS line
      FROM (
        SELECT s.list, s.number, s.events, ${value} AS value
        FROM (
          SELECT *, ${project} AS project_id
          FROM unnest(${columns.join(", ")}) AS u (list, number, ${numberOf(dimension)}, events)
        ) AS s ${joins}
      ) AS named`;
  });
  const rows = scans.length === 0 ? [] : await sql.query<ChosenRow>(
    `SELECT dimension, list, number, value FROM (${scans.join(" UNION ALL ")}) AS ranked
    WHERE line <= ${INSIGHT_VALUES_MAX} ORDER BY dimension, list, line`,
    params.values,
  );
  return lists.map((list, i) =>
    list.map(({ dimension }): ChosenValues => {
      const place = DIMENSIONS.indexOf(dimension);
      const own = rows.filter((row) => row.dimension === place && row.list === i);
      return {
        dimension,
        numbers: own.map(({ number }) => number),
        values: own.map(({ value }) => value),
      };
    })
  );
}
