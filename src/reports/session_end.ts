import type { Sql } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";

// A session that crosses a moment has an event before it, and no longer pause from there to the next
// than any session may have: so the few facts just before the moment name all that cross it.
const CROSSING = `
SELECT max(s.last_tick) >> 16 AS last_ms
FROM sessions s
WHERE s.project_id = $1::int AND s.session_id IN (
  SELECT f.session_id FROM facts f
  WHERE f.project_id = $1::int AND f.session_id IS NOT NULL
    AND f.tick >= ($2::int8 - $3::int8) << 16 AND f.tick < $2::int8 << 16)`;

/**
 * How far sessions that start before a moment reach: an instant in milliseconds, at least that
 * moment, before which the last event of each of them lies.
 */
export async function sessionsEndByMs(sql: Sql, projectId: number, toMs: number): Promise<number> {
  const [crossing] = await sql.query<{ last_ms: number | null }>(
    CROSSING,
    [projectId, toMs, SESSION_GAP_MS],
  );
  return Math.max(toMs, (crossing?.last_ms ?? toMs) + 1);
}
