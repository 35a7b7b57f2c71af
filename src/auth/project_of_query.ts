import type { Sql } from "../db/sql.ts";
import { type ApiExchange, requirePrincipal, resolveProject } from "./access.ts";
import { type Project, requireProject } from "./projects.ts";

/**
 * The project that a request is for: the one that `project` names, else the token's only one.
 * Throws `project_required`, `insufficient_scope`, `not_found`.
 */
export function projectOfQuery(sql: Sql, { url, who }: ApiExchange): Promise<Project> {
  const id = resolveProject(requirePrincipal(who), url.searchParams.get("project"));
  return requireProject(sql, id);
}
