import type { Sql } from "../db/sql.ts";
import { HASH_JOINS_EVENTS_MAX } from "../limits.ts";

/**
 * Has the planner join the rows of small projects by hash alone, in linear time; called before the first
 * statement of a snapshot. For a project that was filled a moment ago, the planner expects no rows, and
 * nests loops over thousands of sessions, actors and days. Its statistics are samples, in which a small
 * project may never show beside a large one. Large projects do show, and nested loops may be faster there.
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
