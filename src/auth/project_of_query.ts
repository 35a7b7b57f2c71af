import type { Sql } from "../db/sql.ts";
import { type ApiExchange, requirePrincipal, resolveProject } from "./access.ts";
import { type Project, requireProject } from "./projects.ts";

/**
 * The project that a read is about: the one that `project` names, or the token's only one.
 * Throws `project_required`, `insufficient_scope`, `not_found`.
 */
export function projectOfQuery(
  sql: Sql,
  { url, who }: ApiExchange,
): Promise<Project> {
  return requireProject(
    sql,
    resolveProject(requirePrincipal(who), url.searchParams.get("project")),
  );
}
