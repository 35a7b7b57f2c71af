import type { Sql } from "../db/sql.ts";
import { sumOfProjects } from "../store/each_project.ts";
import { JOURNAL_KEPT_MS } from "../store/store_limits.ts";
import { JOURNAL_PURGE_CHUNK_ROWS } from "./ingest_limits.ts";

// One statement for all projects: most of many have nothing to purge, and two statements for each of 10,000 took
// minutes on a busy machine.
const PROJECTS_DUE = `
SELECT DISTINCT project_id FROM journal
WHERE projected_at < $1::text::timestamptz AND set_aside_until IS NULL ORDER BY project_id`;

/** The condition of rows that may be deleted: they were projected before $2. */
const IS_OVER = "projected_at < $2::text::timestamptz AND set_aside_until IS NULL";

// Notes which events the journal lacks from now on, by the time of receipt and of occurrence. It is a
// separate statement before the deletion: a purge that stops between the two has only noted too much, and
// an erasure, which locks the projection and then the journal, cannot deadlock with it.
const NOTE_PURGED = `
UPDATE projections SET
  journal_from = greatest(journal_from, $2::text::timestamptz),
  journal_lacks_to_ms = greatest(journal_lacks_to_ms, gone.to_ms)
FROM (SELECT max(to_ms) AS to_ms FROM journal WHERE project_id = $1::int AND ${IS_OVER}) AS gone
WHERE project_id = $1::int AND gone.to_ms IS NOT NULL`;

// A row that became due after the note, with later events, is left to the next purge.
const PURGE_CHUNK = `
DELETE FROM journal WHERE project_id = $1::int AND journal_id IN (
  SELECT journal_id FROM journal WHERE project_id = $1::int AND ${IS_OVER}
    AND to_ms <= (SELECT journal_lacks_to_ms FROM projections WHERE project_id = $1::int)
  LIMIT $3::int)
RETURNING journal_id`;

/**
 * Deletes journal rows JOURNAL_KEPT_MS after their projection, one chunk a transaction. Rows with pending
 * events stay. Safe on several servers at once.
 * @returns how many were deleted
 */
export async function purgeJournal(sql: Sql, now: Date): Promise<number> {
  const before = new Date(now.getTime() - JOURNAL_KEPT_MS).toISOString();
  const projects = await sql.query<{ project_id: number }>(PROJECTS_DUE, [before]);
  return await sumOfProjects(projects.map(({ project_id }) => project_id), async (projectId) => {
    await sql.query(NOTE_PURGED, [projectId, before]);
    let purged = 0;
    for (;;) {
      const rows = await sql.query(PURGE_CHUNK, [projectId, before, JOURNAL_PURGE_CHUNK_ROWS]);
      purged += rows.length;
      if (rows.length < JOURNAL_PURGE_CHUNK_ROWS) return purged;
    }
  });
}
