import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { pathDigest } from "./capture_store.ts";
import { pagePath, spellings } from "./visited_paths.ts";

const STORED = `
SELECT term FROM terms WHERE project_id = (SELECT $1::int)
  AND digest = ANY (ARRAY(SELECT ${pathDigest("text")} FROM unnest($2::text::text[]) AS text))`;

// Tasks first: a running capture ends its task before it stores the picture, in one transaction. So either the
// picture is there to be deleted, or the task is gone and the picture is not stored.
const OF_PAGES = ["capture_tasks", "captures", "capture_pages"].map((table) => `
DELETE FROM ${table} WHERE project_id = (SELECT $1::int)
  AND path_digest = ANY (ARRAY(SELECT ${
  pathDigest("path")
} FROM unnest($2::text::text[]) AS path))`);

/**
 * Deletes the captures and tasks of pages whose path no event has any more. Captures have paths as URLs write them;
 * an event may have another spelling.
 * @param texts texts of erased events; those that are not paths are ignored
 */
export async function removePictures(
  tx: Sql,
  projectId: number,
  texts: readonly string[],
): Promise<void> {
  const pages = new Set(texts.map(pagePath).filter((page) => page !== null));
  if (pages.size === 0) return;
  const asked = arrayLiteral([...pages].flatMap(spellings));
  const stored = await tx.query<{ term: string }>(STORED, [projectId, asked]);
  for (const { term } of stored) pages.delete(pagePath(term)!);
  for (const removal of OF_PAGES) await tx.query(removal, [projectId, arrayLiteral([...pages])]);
}
