import type { Sql } from "../db/sql.ts";
import { JOURNAL_KEPT_MS, JOURNAL_PURGE_CHUNK_ROWS } from "./ingest_limits.ts";

// In a statement of its own and before anything goes: what stops in between has told too much, and an
// erasure, which locks the projection and then the journal, waits for neither while holding the other.
const NOTE_PURGED = `
UPDATE projections SET journal_from = $2::text::timestamptz
WHERE project_id = $1::int AND (journal_from IS NULL OR journal_from < $2::text::timestamptz)
  AND EXISTS (
    SELECT FROM journal WHERE project_id = $1::int
      AND projected_at < $2::text::timestamptz AND set_aside_until IS NULL)`;

/**
 * Deletes journal rows JOURNAL_KEPT_MS after their projection, a chunk a transaction. Rows with an
 * event that is still to be projected stay. Safe on several servers at once.
 * @returns how many were deleted
 */
export async function purgeJournal(sql: Sql, now: Date): Promise<number> {
  const before = new Date(now.getTime() - JOURNAL_KEPT_MS).toISOString();
  const projects = await sql.query<{ project_id: number }>("SELECT project_id FROM projects");
  let purged = 0;
  for (const { project_id } of projects) {
    await sql.query(NOTE_PURGED, [project_id, before]);
    for (;;) {
      const rows = await sql.query(
        `DELETE FROM journal WHERE project_id = $1::int AND journal_id IN (
          SELECT journal_id FROM journal WHERE project_id = $1::int
            AND projected_at < $2::text::timestamptz AND set_aside_until IS NULL LIMIT $3::int)
        RETURNING journal_id`,
        [project_id, before, JOURNAL_PURGE_CHUNK_ROWS],
      );
      purged += rows.length;
      if (rows.length < JOURNAL_PURGE_CHUNK_ROWS) break;
    }
  }
  return purged;
}
