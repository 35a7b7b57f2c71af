import type { Param, Row, Sql } from "./sql.ts";

/**
 * Runs a SELECT and gets all rows as one, with a JSON array for each column. To send a row of 17 columns takes the
 * embedded engine 33 µs, and 4 µs if gathered; PostgreSQL 5 and 3.
 * @param names the SELECT's columns: numbers, texts, uuids and lists of them, no times
 * @param select with parameters `$1`, `$2` …
 * @returns its rows, in its order
 */
export async function gatheredRows<R extends Row>(
  sql: Sql,
  names: readonly (keyof R & string)[],
  select: string,
  params: readonly Param[],
): Promise<R[]> {
  const lists = names.map((name) => `json_agg(gathered."${name}")::text AS "${name}"`);
  const [gathered] = await sql.query<Record<string, string | null>>(
    `SELECT ${lists.join(", ")} FROM (${select}) AS gathered`,
    params,
  );
  const columns = names.map((name) => JSON.parse(gathered![name] ?? "[]") as unknown[]);
  const rows: R[] = [];
  for (let at = 0; at < columns[0]!.length; at++) {
    const row: Record<string, unknown> = {};
    for (let column = 0; column < names.length; column++) {
      row[names[column]!] = columns[column]![at];
    }
    rows.push(row as R);
  }
  return rows;
}
