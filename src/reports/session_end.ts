import type { Sql } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";

// A session that crosses a moment has an event before it, and no longer pause from there to the next
// than any session may have: so the few facts just before the moment name all that cross it.
// Each is looked up: joined, every session of the project was read.
const crossing = (figure: string) => `
SELECT ${figure} >> 16 AS ms
FROM (
  SELECT DISTINCT f.session_id FROM facts f
  WHERE f.project_id = $1::int AND f.session_id IS NOT NULL
    AND f.tick >= ($2::int8 - $3::int8) << 16 AND f.tick < $2::int8 << 16
) AS near
CROSS JOIN LATERAL (
  SELECT first_tick, last_tick FROM sessions
  WHERE project_id = $1::int AND session_id = near.session_id OFFSET 0
) AS s
WHERE s.last_tick >= $2::int8 << 16`;
const CROSSING_START = crossing("min(s.first_tick)");
const CROSSING_END = crossing("max(s.last_tick)");

async function crossingMs(
  sql: Sql,
  statement: string,
  projectId: number,
  atMs: number,
): Promise<number | null> {
  const params = [projectId, atMs, SESSION_GAP_MS];
  const [found] = await sql.query<{ ms: number | null }>(statement, params);
  return found?.ms ?? null;
}

/** When the first of the sessions starts that reach beyond a moment: in milliseconds, at most that moment. */
export async function sessionsStartMs(
  sql: Sql,
  projectId: number,
  fromMs: number,
): Promise<number> {
  return await crossingMs(sql, CROSSING_START, projectId, fromMs) ?? fromMs;
}

/**
 * How far sessions that start before a moment reach: an instant in milliseconds, at least that
 * moment, before which the last event of each of them lies.
 */
export async function sessionsEndByMs(sql: Sql, projectId: number, toMs: number): Promise<number> {
  const lastMs = await crossingMs(sql, CROSSING_END, projectId, toMs);
  return lastMs === null ? toMs : lastMs + 1;
}
