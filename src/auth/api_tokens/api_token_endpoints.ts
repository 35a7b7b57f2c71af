import { z } from "zod";
import { recordAudit } from "../../audit/audit.ts";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import { TOKEN_LIFETIME_S_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { type ApiExchange, type Principal, requirePrincipal, unauthorized } from "../access.ts";
import { askedBy, type AuditServices } from "../audited.ts";
import { assertMayGrant, GrantedProjects, GrantedScope, grantOf, grantWords } from "../grants.ts";
import type { TokenEpochs } from "../token_epochs.ts";
import { issuedElsewhere, type Tokens } from "../tokens.ts";
import { InstantOrNull, nameText } from "../../text_schemas.ts";
import { API_TOKEN_DEFAULT_MS, API_TOKEN_SUBJECT_LENGTH_MAX } from "./api_token_limits.ts";
import { insertApiToken, listApiTokens, makerOf, revokeApiToken } from "./api_tokens.ts";
import type { LiveApiTokens } from "./live_api_tokens.ts";

export interface ApiTokenServices extends AuditServices {
  readonly sql: Sql;
  readonly now: () => number;
  readonly tokens: Tokens;
  readonly epochs: Pick<TokenEpochs, "latest">;
  readonly liveApiTokens: Pick<LiveApiTokens, "invalidate">;
}

const name = nameText("Give a name, so that people know it again.")
  .meta({ description: "What people call the token.", example: "Weekly report" });

/** Body of `POST /v1/tokens`. */
export const ApiTokenCreation = z.strictObject({
  name,
  scope: GrantedScope,
  projects: GrantedProjects,
  expiresAt: InstantOrNull.default(null).meta({
    description:
      "Until when it holds: at most ten years, and no longer than the token that makes " +
      "it, unless a person makes it who is signed in. null: 90 days.",
  }),
}).meta({ id: "ApiTokenCreation" });

/** An API token in a list. */
export const ApiTokenShown = z.object({
  id: z.string().meta({ example: "tok_0aB1cD2eF3gH4iJ5kL6mN7" }),
  name,
  scope: GrantedScope,
  projects: GrantedProjects,
  createdBy: z.string().meta({ example: "ann@example.com" }),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().meta({ description: "To the minute; null: never." }),
  status: z.enum(["active", "expired", "revoked", "exceeding"]).meta({
    description:
      "revoked: with all tokens of its time; exceeding: it may do more than the person " +
      "whose it is may now, and is refused.",
  }),
}).meta({ id: "ApiToken" });

/** Reply of `POST /v1/tokens`. */
export const ApiTokenCreated = z.object({
  id: z.string(),
  token: z.string().meta({ description: "The token itself. It is shown only here." }),
  expiresAt: z.iso.datetime(),
}).meta({ id: "CreatedApiToken" });

/** `GET /v1/tokens`: the caller's own, or everybody's with the scope `people`. */
export async function getApiTokens(
  { sql, now, epochs }: ApiTokenServices,
  { who }: ApiExchange,
): Promise<Response> {
  const maker = await makerOf(sql, requirePrincipal(who));
  const { number: epoch } = await epochs.latest();
  return json({ tokens: await listApiTokens(sql, maker, { nowMs: now(), epoch }) });
}

/**
 * When a new token expires, in whole seconds, as claims have them. One made by a token ends with it, except that
 * of a person's browser: that lasts only a quarter of an hour. Throws `invalid_body`.
 */
function endOf(wanted: string | null, nowMs: number, caller: Principal): number {
  const endMs = wanted === null ? nowMs + API_TOKEN_DEFAULT_MS : Date.parse(wanted);
  const latestMs = nowMs + TOKEN_LIFETIME_S_MAX * 1000;
  if (endMs <= nowMs || endMs > latestMs) {
    const message = "Give a time within the next ten years.";
    throw new Problem("invalid_body", `expiresAt: ${message}`, {
      errors: [{ field: "expiresAt", code: "invalid_value", message }],
    });
  }
  const isPerson = caller.session !== undefined && caller.isHandedOut !== true;
  return Math.floor(Math.min(endMs, isPerson ? Infinity : caller.expiresAtMs) / 1000) * 1000;
}

/** `POST /v1/tokens`: 201 with the token, which is never shown again. */
export async function postApiToken(
  services: ApiTokenServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, now, tokens, epochs } = services;
  const caller = requirePrincipal(exchange.who);
  const wanted = await readJson(exchange.request, ApiTokenCreation);
  if (!tokens.canIssue) throw issuedElsewhere();
  const grant = grantOf(wanted);
  await assertMayGrant(sql, caller, grant);
  const maker = await makerOf(sql, caller);
  // The person was removed meanwhile: the new token would depend on nobody, and outlive them.
  if (caller.session !== undefined && maker.personId === null) {
    throw unauthorized("invalid_token", "The session of this token has ended. Sign in again.");
  }
  const nowMs = now();
  const expiresAtMs = endOf(wanted.expiresAt, nowMs, caller);
  const expiresAt = new Date(expiresAtMs).toISOString();
  const { number: epoch } = await epochs.latest();
  const id = await sql.transaction(async (inside) => {
    const { scopes } = grant;
    const projects = grant.projects === "*" ? ["*"] : grant.projects;
    const made = { nowMs, expiresAtMs, epoch, scopes, projects, name: wanted.name };
    const id = await insertApiToken(inside, maker, made);
    await recordAudit(inside, {
      ...askedBy(services, exchange),
      what: "token.create",
      subject: `${wanted.name}: ${grantWords(grant)}, until ${expiresAt}`,
    });
    return id;
  });
  const token = await tokens.issue({
    ...grant,
    subject: `${wanted.name} (${maker.name})`.slice(0, API_TOKEN_SUBJECT_LENGTH_MAX).toWellFormed(),
    ttlSeconds: TOKEN_LIFETIME_S_MAX,
    expiresByMs: expiresAtMs,
    apiTokenId: id,
    epoch,
  });
  return json({ id, token, expiresAt }, 201, {
    "Location": `${exchange.url.pathname}/${id}`,
  });
}

/** `DELETE /v1/tokens/:id`: 204; within a second no server accepts it, nor the tokens that it made. */
export async function deleteApiToken(
  services: ApiTokenServices,
  exchange: ApiExchange,
): Promise<Response> {
  const { sql, liveApiTokens } = services;
  const maker = await makerOf(sql, requirePrincipal(exchange.who));
  await sql.transaction(async (inside) => {
    const subject = await revokeApiToken(inside, maker, exchange.params.id ?? "");
    await recordAudit(inside, { ...askedBy(services, exchange), what: "token.revoke", subject });
  });
  liveApiTokens.invalidate();
  return new Response(null, { status: 204 });
}
