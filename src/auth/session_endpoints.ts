import { z } from "zod";
import { recordAudit } from "../audit/audit.ts";
import { recordAnyway } from "../audit/recorded_anyway.ts";
import type { Log } from "../http/log.ts";
import type { Sql } from "../db/sql.ts";
import { gzippedJson } from "../http/gzipped_json.ts";
import { readJson } from "../http/json_body.ts";
import { json } from "../http/reply.ts";
import { TOKEN_LIFETIME_S_MAX } from "../limits.ts";
import { nameText } from "../text_schemas.ts";
import {
  type ApiExchange,
  type Principal,
  requireEveryProject,
  requirePrincipal,
} from "./access.ts";
import { askedBy, type AuditServices } from "./audited.ts";
import { assertMayGrant, GrantedProjects, GrantedScope, grantOf, grantWords } from "./grants.ts";
import { expireLinksOf } from "./people/links.ts";
import type { LiveSessions } from "./people/live_sessions.ts";
import { endEverySession } from "./people/sessions.ts";
import { listProjects, ProjectShown } from "./projects.ts";
import type { TokenEpochs } from "./token_epochs.ts";
import { issuedElsewhere, type Tokens } from "./tokens.ts";

export interface SessionServices extends AuditServices {
  readonly sql: Sql;
  readonly log: Pick<Log, "warn">;
  readonly tokens: Tokens;
}

export interface RevocationServices extends AuditServices {
  readonly now: () => number;
  readonly epochs: Pick<TokenEpochs, "begin">;
  readonly liveSessions: Pick<LiveSessions, "invalidate">;
}

/** Reply of `GET /v1/session`. */
export const SessionShown = z.object({
  subject: z.string(),
  scopes: z.array(z.string()),
  projects: z.array(ProjectShown.pick({ id: true, name: true, timezone: true, siteUrl: true })),
  expiresAt: z.iso.datetime(),
}).meta({ id: "Session" });

/** Body of `POST /v1/internal/tokens`. */
export const TokenCreation = z.strictObject({
  projects: GrantedProjects,
  scope: GrantedScope,
  ttlSeconds: z.int("Give a whole number of seconds.")
    .min(1, "Give at least one second.")
    .max(TOKEN_LIFETIME_S_MAX, `Use at most ${TOKEN_LIFETIME_S_MAX} seconds (10 years).`)
    .meta({
      description: "How long the token is valid, at most until the caller's own expires.",
      example: 86_400,
    }),
  subject: nameText("Say who the token is for.").optional()
    .meta({ description: "Who the token is for; default: the caller.", example: "dashboard" }),
}).meta({ id: "TokenCreation" });

/** Reply of `POST /v1/internal/tokens`. */
export const TokenCreated = z.object({ token: z.string(), expiresAt: z.iso.datetime() })
  .meta({ id: "CreatedToken" });

/**
 * `GET /v1/session`: the token's subject and scopes, and those of its projects that exist. There may be thousands, so
 * that it is gzipped.
 */
export async function getSession(
  { sql }: SessionServices,
  { request, who }: ApiExchange,
): Promise<Response> {
  const principal = requirePrincipal(who);
  const projects = await listProjects(sql, principal.projects);
  return await gzippedJson(request, {
    subject: principal.subject,
    scopes: [...principal.scopes],
    projects: projects.map(({ id, name, timezone, siteUrl }) => ({ id, name, timezone, siteUrl })),
    expiresAt: new Date(principal.expiresAtMs).toISOString(),
  });
}

/** The subject of a new token. If it depends on a person or an API token, their name is appended. */
function subjectOf(
  wanted: string | undefined,
  { subject, session, apiTokenId }: Principal,
): string {
  if (wanted === undefined) return subject;
  return session === undefined && apiTokenId === undefined ? wanted : `${wanted} (${subject})`;
}

/** `POST /v1/internal/tokens`: 201 `{ token, expiresAt }`. It expires no later than the caller's token. */
export async function postToken(
  services: SessionServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, tokens } = services;
  const { who, request } = exchange;
  const principal = requirePrincipal(who);
  const wanted = await readJson(request, TokenCreation);
  const grant = grantOf(wanted);
  if (!tokens.canIssue) throw issuedElsewhere();
  await assertMayGrant(sql, principal, grant);
  const subject = subjectOf(wanted.subject, principal);
  const token = await tokens.issue({
    ...grant,
    subject,
    ttlSeconds: wanted.ttlSeconds,
    expiresByMs: principal.expiresAtMs,
    session: principal.session,
    isHandedOut: principal.session !== undefined,
    apiTokenId: principal.apiTokenId,
  });
  const expiresAt = new Date((await tokens.verify(token)).expiresAtMs).toISOString();
  await recordAnyway(services, {
    ...askedBy(services, exchange),
    what: "token.issue",
    subject: `${subject}: ${grantWords(grant)}, until ${expiresAt}`,
  });
  return json({ token, expiresAt }, 201);
}

/** Reply of `DELETE /v1/internal/tokens`. */
export const TokensRevoked = z.object({
  revokedAt: z.iso.datetime(),
  sessionsEnded: z.int().meta({ description: "Browsers in which somebody was signed in" }),
}).meta({ id: "RevokedTokens" });

/**
 * `DELETE /v1/internal/tokens`: ends all tokens, sessions, invitations and password links, on every server within
 * a second. Passwords, passkeys and API keys stay. Needs a token for every project.
 */
export async function deleteTokens(
  services: RevocationServices,
  exchange: ApiExchange,
): Promise<Response> {
  requireEveryProject(requirePrincipal(exchange.who));
  const by = askedBy(services, exchange);
  let sessionsEnded = 0;
  const { begunAtMs } = await services.epochs.begin(async (inside) => {
    // Links before sessions, as when a link is used to start a session: otherwise the two could deadlock.
    await expireLinksOf(inside, null, services.now());
    sessionsEnded = await endEverySession(inside);
    const subject = "all tokens, sessions and invitations so far";
    await recordAudit(inside, { ...by, what: "token.revoke_all", subject });
  });
  services.liveSessions.invalidate();
  return json({ revokedAt: new Date(begunAtMs).toISOString(), sessionsEnded });
}
