import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Sql } from "../../db/sql.ts";
import { dictionaryOf, type SessionDimension, sessionValue } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";

/** The ids of a session, each of which stands for the values of some dimensions. */
export const SESSION_IDS = ["traffic_id", "entry_path_id", "context_id"] as const;
export type SessionId = typeof SESSION_IDS[number];

/** Returns the id of a session that stands for the value of a dimension. */
export function idOfSession(dimension: SessionDimension): SessionId {
  const { table } = dictionaryOf(dimension);
  return table === "terms" ? "entry_path_id" : table === "contexts" ? "context_id" : "traffic_id";
}

/** The values of a dimension, numbered from 0: all ids of a value have its number. */
export interface NumberedValues {
  /** The id of sessions that stands for the values. */
  readonly of: SessionId;
  readonly idsFrom: number;
  /** The number of id i's value, at `i - idsFrom`. */
  readonly numberOf: Int32Array;
  /** By number: one id of its value. */
  readonly idOf: Int32Array;
}

/** Numbers paths by their ids, as each has only one; 0 stands for none. */
function numberedPaths(termMax: number): NumberedValues {
  const numbers = Int32Array.from({ length: termMax + 1 }, (_, id) => id);
  return { of: "entry_path_id", idsFrom: 0, numberOf: numbers, idOf: numbers };
}

/** Numbers values by their least ids. @param leastOf returns the least id with the value of the id at a place */
function numbered(
  of: SessionId,
  ids: Int32Array,
  leastOf: (place: number) => number,
): NumberedValues {
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

/** Numbers the values of dimensions whose ids are all of one table. */
async function readNumbers<D extends SessionDimension>(
  sql: Sql,
  projectId: number,
  table: "traffic" | "contexts",
  dimensions: readonly D[],
): Promise<[D, NumberedValues][]> {
  if (dimensions.length === 0) return [];
  const params = new SqlParams();
  const project = params.int(projectId);
  const id = idOfSession(dimensions[0]!);
  const { joins } = sessionValue(dimensions[0]!);
  const least = dimensions.map((dimension) =>
    `min(s.${id}) OVER (PARTITION BY (${sessionValue(dimension).value}) COLLATE "C")`
  );
  const names = least.map((_, i) => `least_${i}`);
  // Id 0 stands for no session: all of its values are missing.
  const [row] = await sql.query<{ ids: string }>(
    `SELECT ${packInts(["id", ...names])} AS ids
    FROM (
      SELECT s.${id} AS id, ${least.map((min, i) => `${min} AS ${names[i]}`).join(", ")}
      FROM (
        SELECT project_id, ${id} FROM ${table} WHERE project_id = ${project} AND ${id} <> 0
        UNION ALL SELECT ${project}, 0
      ) AS s ${joins}
    ) AS listed`,
    params.values,
  );
  const numbers = unpackInts(row!.ids);
  const columns = dimensions.length + 1;
  const at = (place: number, column: number) => numbers[columns * place + column]!;
  const ids = Int32Array.from({ length: numbers.length / columns }, (_, place) => at(place, 0));
  return dimensions.map((dimension, i) => [
    dimension,
    numbered(id, ids, (place) => at(place, i + 1)),
  ]);
}

/** Numbers the values of dimensions. @param termMax the largest id of a path */
export async function numberValues<D extends SessionDimension>(
  sql: Sql,
  projectId: number,
  dimensions: readonly D[],
  termMax: number,
): Promise<ReadonlyMap<D, NumberedValues>> {
  const byId = (id: SessionId) => dimensions.filter((one) => idOfSession(one) === id);
  return new Map([
    ...await readNumbers(sql, projectId, "traffic", byId("traffic_id")),
    ...byId("entry_path_id").map((one): [D, NumberedValues] => [one, numberedPaths(termMax)]),
    ...await readNumbers(sql, projectId, "contexts", byId("context_id")),
  ]);
}
