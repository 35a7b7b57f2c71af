import type { Sql } from "../db/sql.ts";
import { HASH_JOINS_EVENTS_MAX } from "../limits.ts";

/**
 * Makes the planner use only hash joins, which take linear time, for small projects. To be called before the
 * first statement of a snapshot. For a project that was just filled, the planner expects no rows and would
 * nest loops over thousands of sessions, actors and days: its statistics are samples, in which a small
 * project may not occur at all. Large projects do occur, and nested loops may be faster for them.
 */
export async function planJoins(sql: Sql, projectId: number): Promise<void> {
  await sql.query(
    `SELECT set_config('enable_nestloop', joins, true), set_config('enable_mergejoin', joins, true)
    FROM (
      SELECT CASE WHEN sum(events) > $2::int THEN 'on' ELSE 'off' END AS joins
      FROM day_totals WHERE project_id = $1::int
    ) AS planned`,
    [projectId, HASH_JOINS_EVENTS_MAX],
  );
}
