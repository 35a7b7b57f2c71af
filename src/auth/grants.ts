import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { TOKEN_PROJECTS_MAX } from "../limits.ts";
import { invalidBody } from "../problem.ts";
import {
  insufficientScope,
  type Principal,
  requireEveryProject,
  resolveProject,
  type Scope,
  SCOPES,
} from "./access.ts";
import { listProjects, ProjectId } from "./projects.ts";
import { scopesOf } from "./roles.ts";

function isScope(word: string): word is Scope {
  return SCOPES.some((scope) => scope === word);
}

/** The words of a space-separated text of scopes, each once. */
export function scopeWords(text: string): string[] {
  return [...new Set(text.split(" ").filter((word) => word !== ""))];
}

/** The scopes of a new token. */
export const GrantedScope = z.string().refine((text) => {
  const words = scopeWords(text);
  return words.length > 0 && words.every(isScope);
}, `Name one or more of ${scopesOf("owner").join(", ")}, separated by spaces.`)
  .meta({ description: "Scopes, separated by spaces.", example: "read write" });

/** The projects of a new token. */
export const GrantedProjects = z.array(
  z.union([z.literal("*"), ProjectId], 'Use project ids, or "*" for all.'),
).min(1, 'Name at least one project, or "*".')
  .max(TOKEN_PROJECTS_MAX, `Name at most ${TOKEN_PROJECTS_MAX} projects.`)
  .meta({ description: 'Public ids, or ["*"] for every project.', example: ["prj_default"] });

/** What a new token may do, and in which projects. */
interface Grant {
  readonly projects: readonly string[] | "*";
  readonly scopes: readonly string[];
}

/** The grant that a request's body asks for. */
export function grantOf(wanted: { projects: readonly string[]; scope: string }): Grant {
  return {
    projects: wanted.projects.includes("*") ? "*" : [...new Set(wanted.projects)],
    scopes: scopeWords(wanted.scope),
  };
}

/**
 * Throws `insufficient_scope` if the grant exceeds what the principal may do, `invalid_body` if it names a
 * project that does not exist.
 */
export async function assertMayGrant(
  sql: Sql,
  principal: Principal,
  { projects, scopes }: Grant,
): Promise<void> {
  if (projects === "*") requireEveryProject(principal);
  else for (const id of projects) resolveProject(principal, id);
  for (const scope of scopes) {
    if (principal.scopes.has(scope)) continue;
    throw insufficientScope(
      `The token does not have the scope \`${scope}\`, so it cannot grant it.`,
    );
  }
  if (projects !== "*") await assertProjectsExist(sql, projects);
}

/** Throws `insufficient_scope` unless the token may do everything that an owner may, in every project. */
export function requireEverything(principal: Principal): void {
  requireEveryProject(principal);
  const lacking = scopesOf("owner").find((scope) => !principal.scopes.has(scope));
  if (lacking === undefined) return;
  const all = scopesOf("owner").join(" ");
  throw insufficientScope(
    `This reaches everything that the server has: it needs a token with all scopes (\`${all}\`).`,
    lacking,
  );
}

/** Throws `invalid_body` if a body's `projects` names one that does not exist. */
export async function assertProjectsExist(sql: Sql, projects: readonly string[]): Promise<void> {
  const found = new Set((await listProjects(sql, projects)).map(({ id }) => id));
  const errors = projects.flatMap((id, index) =>
    found.has(id) ? [] : [{
      field: `projects.${index}`,
      code: "invalid_value",
      message: "There is no project with this id.",
    }]
  );
  if (errors.length === 0) return;
  throw invalidBody(errors);
}

/** A grant in words, for the audit. */
export function grantWords({ projects, scopes }: Grant): string {
  return `${scopes.join(" ")} on ${projects === "*" ? "every project" : projects.join(", ")}`;
}
