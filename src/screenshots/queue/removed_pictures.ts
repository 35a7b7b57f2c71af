import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { pathDigest } from "./capture_store.ts";
import { pagePath, spellings } from "./visited_paths.ts";

const STORED = `
SELECT term FROM terms WHERE project_id = $1::int
  AND digest = ANY (ARRAY(SELECT ${pathDigest("text")} FROM unnest($2::text::text[]) AS text))`;

// First the tasks: whoever photographs such a page now ends its task before it stores the picture, so that either
// the picture is there by then, or it is not stored.
const OF_PAGES = ["capture_tasks", "captures", "capture_pages"].map((table) => `
DELETE FROM ${table} WHERE project_id = $1::int
  AND path_digest = ANY (ARRAY(SELECT ${
  pathDigest("path")
} FROM unnest($2::text::text[]) AS path))`);

/**
 * Deletes the pictures of pages whose path no event has any more, and their tasks. Pictures are known by a path
 * as URLs have it; an event may have another spelling of it.
 * @param texts what went with events that are erased; what is no path is passed over
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
