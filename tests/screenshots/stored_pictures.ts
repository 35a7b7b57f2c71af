import { arrayLiteral, type Sql } from "../../src/db/sql.ts";
import { pathDigest } from "../../src/screenshots/queue/capture_store.ts";

/** Stores what there is of pages that were photographed: a task that is done, and what came of it. */
export async function storePicturesOf(
  sql: Sql,
  projectId: number,
  paths: readonly string[],
): Promise<void> {
  const given = [projectId, arrayLiteral(paths)];
  const of = `${pathDigest("path")}, 'desktop', path FROM unnest($2::text::text[]) AS path`;
  await sql.query(
    `INSERT INTO capture_pages (attempted_at, project_id, status, message, path_digest, device, path)
    SELECT now(), $1::int, 'captured', '', ${of}`,
    given,
  );
  await sql.query(
    `INSERT INTO capture_tasks (not_before, project_id, priority, state, path_digest, device, path)
    SELECT now(), $1::int, 0, 'done', ${of}`,
    given,
  );
}
