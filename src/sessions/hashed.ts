import type { Param, Row, Sql } from "../db/sql.ts";

/**
 * Runs a statement of a transaction whose joins are hashed, whatever the planner takes their sides
 * for: of working tables it knows little, and for two that it takes for small it goes through one
 * for each row of the other. What the statement itself looks up row by row (LATERAL) stays so.
 */
export async function hashed<R extends Row = Row>(
  tx: Sql,
  statement: string,
  params: readonly Param[] = [],
): Promise<R[]> {
  await tx.script("SET LOCAL enable_nestloop = off");
  const rows = await tx.query<R>(statement, params);
  await tx.script("SET LOCAL enable_nestloop = on");
  return rows;
}
