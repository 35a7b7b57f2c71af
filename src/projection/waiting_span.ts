import { exists, type Sql } from "../db/sql.ts";
import type { MsSpan } from "../store/stored_segments.ts";

/** Journal rows of a project that wait to be counted and may have events in the span from $2 to $3. */
const OF_SPAN = `FROM journal
  WHERE project_id = $1::int AND projected_at IS NULL AND to_ms >= $2::int8 AND from_ms <= $3::int8`;

/**
 * Above the id of every journal row, because events that an upgrade has not moved yet get their ids later.
 */
const NOT_IN_JOURNAL = Number.MAX_SAFE_INTEGER;

// Events are moved from the oldest to the newest, so the remaining ones may lie in the span.
const LAST = `
SELECT CASE WHEN EXISTS (SELECT FROM earlier_projects WHERE project_id = $1::int AND remaining > 0)
  THEN ${NOT_IN_JOURNAL} ELSE (SELECT max(journal_id) ${OF_SPAN}) END AS last`;

/**
 * Returns the id of the last journal row that waits to be counted and may hold events of a span; null: none
 * does. Rows that were set aside do not count.
 */
export async function lastWaitingOfSpan(
  sql: Sql,
  projectId: number,
  { fromMs, toMs }: MsSpan,
): Promise<number | null> {
  const [row] = await sql.query<{ last: number | null }>(LAST, [projectId, fromMs, toMs]);
  return row!.last;
}

/** Whether such a row still waits, up to this one. */
export async function isSpanWaiting(
  sql: Sql,
  projectId: number,
  { fromMs, toMs }: MsSpan,
  upTo: number,
): Promise<boolean> {
  if (upTo === NOT_IN_JOURNAL) return true;
  const waiting = `SELECT 1 ${OF_SPAN} AND journal_id <= $4::int8 LIMIT 1`;
  return await exists(sql, waiting, [projectId, fromMs, toMs, upTo]);
}
