import type { Sql } from "../db/sql.ts";
import { HASH_JOINS_EVENTS_MAX } from "../limits.ts";

/**
 * Before the first statement of a snapshot: small projects are joined by hash alone, in time that is
 * linear in what they hold. The planner knows little of a project that was filled a moment ago: it
 * takes it for empty and nests loops over sessions, actors and their days, thousands of each with each
 * other. Its statistics are samples: beside a large project they may never show a small
 * one. Large projects they do show, and there a look-up of each row may be the better way.
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
