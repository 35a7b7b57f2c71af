import type { Sql } from "../db/sql.ts";
import { PURGE_CHUNK_ROWS } from "../limits.ts";

/**
 * Deletes events that are older than their project's `retentionDays`, a chunk a transaction so that
 * ingestion goes on meanwhile. Safe on several servers at once.
 * @param forget takes what is older than an instant out of everything that was made of the events
 * @returns how many were deleted
 */
export async function purgeExpiredEvents(
  sql: Sql,
  now: Date,
  forget: (projectId: number, beforeMs: number) => Promise<void>,
): Promise<number> {
  const projects = await sql.query<{ project_id: number; before: Date }>(
    `SELECT project_id, $1::text::timestamptz - make_interval(days => retention_days) AS before
    FROM projects WHERE retention_days IS NOT NULL`,
    [now.toISOString()],
  );
  let purged = 0;
  for (const { project_id, before } of projects) {
    for (;;) {
      const rows = await sql.query(
        `DELETE FROM events WHERE project_id = $1::int AND event_id IN (
          SELECT event_id FROM events WHERE project_id = $1::int
            AND occurred_at < $2::text::timestamptz LIMIT $3::int)
        RETURNING event_id`,
        [project_id, before.toISOString(), PURGE_CHUNK_ROWS],
      );
      purged += rows.length;
      if (rows.length < PURGE_CHUNK_ROWS) break;
    }
    await forget(project_id, before.getTime());
  }
  return purged;
}
