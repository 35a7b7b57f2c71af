import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import type { Exchange } from "../http/router.ts";
import { NAME_LENGTH_MAX, TOKEN_LIFETIME_S_MAX, TOKEN_PROJECTS_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import {
  insufficientScope,
  type Principal,
  requireEveryProject,
  requirePrincipal,
  resolveProject,
  type Scope,
  SCOPES,
} from "./access.ts";
import { listProjects, PlainText, ProjectId, ProjectShown } from "./projects.ts";
import type { TokenEpochs } from "./token_epochs.ts";
import { issuedElsewhere, type Tokens } from "./tokens.ts";

export interface SessionServices {
  readonly sql: Sql;
  readonly tokens: Tokens;
}

export interface RevocationServices {
  readonly epochs: Pick<TokenEpochs, "begin">;
}

type Asked = Exchange<Principal | null>;

/** Reply of `GET /v1/session`. */
export const SessionShown = z.object({
  subject: z.string(),
  scopes: z.array(z.string()),
  projects: z.array(ProjectShown.pick({ id: true, name: true, timezone: true, siteUrl: true })),
  expiresAt: z.iso.datetime(),
}).meta({ id: "Session" });

function isScope(word: string): word is Scope {
  return SCOPES.some((scope) => scope === word);
}

function scopesOf(text: string): string[] {
  return [...new Set(text.split(" ").filter((word) => word !== ""))];
}

/** Body of `POST /v1/internal/tokens`. */
export const TokenCreation = z.strictObject({
  projects: z.array(z.union([z.literal("*"), ProjectId], 'Use project ids, or "*" for all.'))
    .min(1, 'Name at least one project, or "*".')
    .max(TOKEN_PROJECTS_MAX, `Name at most ${TOKEN_PROJECTS_MAX} projects.`)
    .meta({ description: 'Public ids, or ["*"] for every project.', example: ["prj_default"] }),
  scope: z.string().refine((text) => {
    const words = scopesOf(text);
    return words.length > 0 && words.every(isScope);
  }, `Name one or more of ${SCOPES.join(", ")}, separated by spaces.`)
    .meta({ description: "Scopes, separated by spaces.", example: "read write" }),
  ttlSeconds: z.int("Give a whole number of seconds.")
    .min(1, "Give at least one second.")
    .max(TOKEN_LIFETIME_S_MAX, `Use at most ${TOKEN_LIFETIME_S_MAX} seconds (10 years).`)
    .meta({
      description: "How long the token is valid, at most until the caller's own expires.",
      example: 86_400,
    }),
  subject: PlainText.trim().min(1, "Say who the token is for.")
    .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`).optional()
    .meta({ description: "Who the token is for; default: the caller.", example: "dashboard" }),
}).meta({ id: "TokenCreation" });

/** Reply of `POST /v1/internal/tokens`. */
export const TokenCreated = z.object({ token: z.string(), expiresAt: z.iso.datetime() })
  .meta({ id: "CreatedToken" });

/** `GET /v1/session`: who the token is, and which of its projects there are. */
export async function getSession({ sql }: SessionServices, { who }: Asked): Promise<Response> {
  const principal = requirePrincipal(who);
  const projects = await listProjects(sql, principal.projects);
  return json({
    subject: principal.subject,
    scopes: [...principal.scopes],
    projects: projects.map(({ id, name, timezone, siteUrl }) => ({ id, name, timezone, siteUrl })),
    expiresAt: new Date(principal.expiresAtMs).toISOString(),
  });
}

/** Nobody hands out more than they have. */
function assertMayGrant(
  principal: Principal,
  projects: readonly string[] | "*",
  scopes: readonly string[],
): void {
  if (projects === "*") requireEveryProject(principal);
  else for (const id of projects) resolveProject(principal, id);
  for (const scope of scopes) {
    if (principal.scopes.has(scope)) continue;
    throw insufficientScope(`The token has not the scope \`${scope}\` and cannot pass it on.`);
  }
}

async function assertProjectsExist(sql: Sql, projects: readonly string[]): Promise<void> {
  const found = new Set((await listProjects(sql, projects)).map(({ id }) => id));
  const errors = projects.flatMap((id, index) =>
    found.has(id) ? [] : [{
      field: `projects.${index}`,
      code: "invalid_value",
      message: "There is no project with this id.",
    }]
  );
  if (errors.length === 0) return;
  throw new Problem("invalid_body", "Correct what `errors` lists: projects.", { errors });
}

/** `POST /v1/internal/tokens`: 201 `{ token, expiresAt }`, which is no later than the caller's. */
export async function postToken(
  { sql, tokens }: SessionServices,
  { who, request }: Asked,
): Promise<Response> {
  const principal = requirePrincipal(who);
  const wanted = await readJson(request, TokenCreation);
  const projects = wanted.projects.includes("*") ? "*" : wanted.projects;
  const scopes = scopesOf(wanted.scope);
  if (!tokens.canIssue) throw issuedElsewhere();
  assertMayGrant(principal, projects, scopes);
  if (projects !== "*") await assertProjectsExist(sql, projects);
  const token = await tokens.issue({
    subject: wanted.subject ?? principal.subject,
    projects,
    scopes,
    ttlSeconds: wanted.ttlSeconds,
    expiresByMs: principal.expiresAtMs,
  });
  const { expiresAtMs } = await tokens.verify(token);
  return json({ token, expiresAt: new Date(expiresAtMs).toISOString() }, 201);
}

/** Reply of `DELETE /v1/internal/tokens`. */
export const TokensRevoked = z.object({ revokedAt: z.iso.datetime() }).meta({
  id: "RevokedTokens",
});

/**
 * `DELETE /v1/internal/tokens`: no token issued so far holds any more, on every server within a
 * second. Needs a token for every project.
 */
export async function deleteTokens(
  { epochs }: RevocationServices,
  { who }: Asked,
): Promise<Response> {
  requireEveryProject(requirePrincipal(who));
  return json({ revokedAt: new Date((await epochs.begin()).begunAtMs).toISOString() });
}
