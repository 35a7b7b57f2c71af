import { type ApiExchange, requirePrincipal, resolveProject } from "../auth/access.ts";
import { type Project, requireProjectWhether } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import { IS_BEHIND } from "../projection/projected_project.ts";

/**
 * The project that a read is for, see `projectOfQuery`, and whether it is to be projected first. Reports and
 * lists of events begin with both, which are one statement.
 */
export async function projectOfRead(
  sql: Sql,
  { url, who }: ApiExchange,
): Promise<{ readonly project: Project; readonly isBehind: boolean }> {
  const id = resolveProject(requirePrincipal(who), url.searchParams.get("project"));
  const [project, isBehind] = await requireProjectWhether(sql, id, IS_BEHIND);
  return { project, isBehind };
}
