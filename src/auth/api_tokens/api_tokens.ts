import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import type { Principal } from "../access.ts";
import { auditName } from "../audited.ts";
import { randomText } from "../random_text.ts";
import { type Role, scopesOf } from "../roles.ts";
import {
  API_TOKEN_LISTED_MS,
  API_TOKENS_MAX,
  API_TOKENS_PER_MAKER_MAX,
} from "./api_token_limits.ts";

/** An API token in a list. Times are ISO 8601 in UTC; the token itself is not stored. */
export interface ApiToken {
  /** `tok_…`, which is the token's `jti`. */
  readonly id: string;
  readonly name: string;
  /** Scopes, separated by spaces. */
  readonly scope: string;
  /** Public ids, or `["*"]`. */
  readonly projects: readonly string[];
  /** The maker's name in the audit. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** To the minute; null: never. */
  readonly lastUsedAt: string | null;
  /** `exceeding`: it may do more than its person, and is refused. */
  readonly status: "active" | "expired" | "revoked" | "exceeding";
}

/** Who makes, lists and revokes tokens. */
interface TokenMaker {
  /** Their name in the audit. */
  readonly name: string;
  /** Null: their token is not a person's. */
  readonly personId: string | null;
  /** The id of the API token that they use; null: none. */
  readonly tokenId: string | null;
  /** The projects in which they see everybody's tokens; null: they see only their own. */
  readonly sees: readonly string[] | "*" | null;
  /** What they may do, and in which projects. */
  readonly scopes: readonly string[];
  readonly projects: readonly string[] | "*";
}

/** A token's rights and use, with the rights of its person, which it may not exceed. */
export interface LiveApiToken extends Record<string, unknown> {
  readonly scopes: string[];
  readonly projects: string[];
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly role: Role | null;
  readonly person_projects: string[] | null;
}

interface TokenRow extends LiveApiToken {
  readonly token_id: string;
  readonly name: string;
  readonly made_by: string;
  readonly epoch: number;
  readonly created_at: Date;
}

const LIVE_COLUMNS =
  "t.scopes, t.projects, t.expires_at, t.last_used_at, p.role, p.projects AS person_projects";
const TOKEN_ID = /^tok_[A-Za-z0-9]{1,60}$/;
const ID_CHARACTERS = 22;

/** Whether a token may do more than its person may do now. */
export function exceedsPerson({ scopes, projects, role, person_projects }: LiveApiToken): boolean {
  if (role === null) return false;
  const allowed: readonly string[] = scopesOf(role);
  const own = person_projects ?? [];
  const isForAll = own.includes("*");
  return !scopes.every((scope) => allowed.includes(scope)) ||
    !isForAll && !projects.every((id) => own.includes(id));
}

function statusOf(row: TokenRow, nowMs: number, epoch: number): ApiToken["status"] {
  if (row.epoch < epoch) return "revoked";
  if (nowMs >= row.expires_at.getTime()) return "expired";
  return exceedsPerson(row) ? "exceeding" : "active";
}

/** Returns the maker that sends a request. */
export async function makerOf(sql: Sql, principal: Principal): Promise<TokenMaker> {
  const tokenId = principal.apiTokenId ?? null;
  const [person] = await sql.query<{ person_id: string | null }>(
    `SELECT person_id FROM person_sessions WHERE session_id = $1::text
    UNION SELECT person_id FROM api_tokens WHERE token_id = $2::text`,
    [principal.session?.id ?? "", tokenId ?? ""],
  );
  return {
    name: auditName(principal),
    personId: person?.person_id ?? null,
    tokenId,
    sees: principal.scopes.has("people") ? principal.projects : null,
    scopes: [...principal.scopes],
    projects: principal.projects,
  };
}

/**
 * A condition on `t`: the rows that a maker may see, with the parameters $1 to $7. Tokens made by neither a person
 * nor an API token have only their maker's name, which is not unique: they are visible to makers who may do as
 * much.
 */
const VISIBLE = `($1::bool AND ($2::text IS NULL OR t.projects <@ $2::text::text[])
  OR t.person_id = $3::text AND $4::text IS NULL
  OR t.parent_id = $4::text
  OR t.person_id IS NULL AND t.parent_id IS NULL AND $3::text IS NULL AND $4::text IS NULL
    AND t.made_by = $5::text AND t.scopes <@ $6::text::text[]
    AND ($7::text IS NULL OR t.projects <@ $7::text::text[]))`;

function visibleTo({ sees, personId, tokenId, name, scopes, projects }: TokenMaker) {
  const listOf = (ids: readonly string[] | "*" | null) =>
    ids === null || ids === "*" ? null : arrayLiteral(ids);
  const asked = [sees !== null, listOf(sees), personId, tokenId, name];
  return [...asked, arrayLiteral(scopes), listOf(projects)];
}

/** Returns the tokens that a maker may see, newest first. `epoch`: the latest. */
export async function listApiTokens(
  sql: Sql,
  maker: TokenMaker,
  { nowMs, epoch }: { readonly nowMs: number; readonly epoch: number },
): Promise<ApiToken[]> {
  const rows = await sql.query<TokenRow>(
    `SELECT t.token_id, t.name, t.made_by, t.epoch, t.created_at, ${LIVE_COLUMNS}
    FROM api_tokens t LEFT JOIN people p USING (person_id)
    WHERE ${VISIBLE} ORDER BY t.created_at DESC, t.token_id`,
    visibleTo(maker),
  );
  return rows.map((row) => ({
    id: row.token_id,
    name: row.name,
    scope: row.scopes.join(" "),
    projects: row.projects,
    createdBy: row.made_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    status: statusOf(row, nowMs, epoch),
  }));
}

interface NewApiToken {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Public ids, or `["*"]`. */
  readonly projects: readonly string[];
  readonly nowMs: number;
  readonly expiresAtMs: number;
  readonly epoch: number;
}

/** Stores a new token. Returns its id. Throws `conflict` if there are too many. */
export async function insertApiToken(
  sql: Sql,
  maker: TokenMaker,
  wanted: NewApiToken,
): Promise<string> {
  const [counted] = await sql.query<{ all_tokens: number; own: number }>(
    `SELECT count(*)::int AS all_tokens,
      count(*) FILTER (WHERE made_by = $1::text OR person_id = $2::text)::int AS own
    FROM api_tokens`,
    [maker.name, maker.personId],
  );
  if ((counted?.own ?? 0) >= API_TOKENS_PER_MAKER_MAX) {
    throw tooMany(`You have ${API_TOKENS_PER_MAKER_MAX} API tokens, and may have no more.`);
  }
  if ((counted?.all_tokens ?? 0) >= API_TOKENS_MAX) {
    throw tooMany(`There are ${API_TOKENS_MAX} API tokens, and may be no more.`);
  }
  const id = `tok_${randomText(ID_CHARACTERS)}`;
  await sql.query(
    `INSERT INTO api_tokens (token_id, name, scopes, projects, person_id, parent_id, made_by, epoch,
      created_at, expires_at)
    VALUES ($1::text, $2::text, $3::text::text[], $4::text::text[], $5::text, $6::text, $7::text,
      $8::int, $9::text::timestamptz, $10::text::timestamptz)`,
    [
      id,
      wanted.name,
      arrayLiteral(wanted.scopes),
      arrayLiteral(wanted.projects),
      maker.personId,
      maker.tokenId,
      maker.name,
      wanted.epoch,
      new Date(wanted.nowMs).toISOString(),
      new Date(wanted.expiresAtMs).toISOString(),
    ],
  );
  return id;
}

function tooMany(what: string): Problem {
  return new Problem("conflict", `${what} Revoke those that nobody needs.`);
}

/**
 * Revokes a token that the maker may see, and those that were made with it. Returns its name. Throws
 * `not_found`.
 */
export async function revokeApiToken(sql: Sql, maker: TokenMaker, id: string): Promise<string> {
  const rows = TOKEN_ID.test(id)
    ? await sql.query<{ name: string }>(
      `DELETE FROM api_tokens t WHERE ${VISIBLE} AND t.token_id = $8::text RETURNING t.name`,
      [...visibleTo(maker), id],
    )
    : [];
  const [row] = rows;
  if (row !== undefined) return row.name;
  throw new Problem("not_found", "There is no API token with this id, or it is not yours.");
}

/** Finds the tokens with these ids. */
export async function findLiveApiTokens(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LiveApiToken>> {
  const rows = await sql.query<LiveApiToken & { token_id: string }>(
    `SELECT t.token_id, ${LIVE_COLUMNS} FROM api_tokens t LEFT JOIN people p USING (person_id)
    WHERE t.token_id = ANY ($1::text::text[])`,
    [arrayLiteral(ids)],
  );
  return new Map(rows.map((row) => [row.token_id, row]));
}

/** Stores that a token was used. */
export async function noteApiTokenUse(sql: Sql, id: string, nowMs: number): Promise<void> {
  await sql.query(
    `UPDATE api_tokens SET last_used_at = greatest(last_used_at, $2::text::timestamptz)
    WHERE token_id = $1::text`,
    [id, new Date(nowMs).toISOString()],
  );
}

/** Deletes tokens that expired long ago. Returns how many there were. */
export async function deleteExpiredApiTokens(sql: Sql, nowMs: number): Promise<number> {
  const gone = await sql.query(
    "DELETE FROM api_tokens WHERE expires_at < $1::text::timestamptz RETURNING 1",
    [new Date(nowMs - API_TOKEN_LISTED_MS).toISOString()],
  );
  return gone.length;
}
