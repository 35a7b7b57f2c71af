import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { INVITATION_MS, LINK_REMEMBERED_MS, OWNER_LINK_MS } from "./people_limits.ts";
import { isSecret, newSecret, secretHash } from "./secrets.ts";

/** What a link, which works once, is for. */
type LinkKind = "owner" | "invitation" | "reset";

interface MadeLink {
  /** The secret in the link; only its hash is stored. */
  readonly secret: string;
  /** ISO 8601 in UTC. */
  readonly expiresAt: string;
}

/** A link that may be used now. */
interface ValidLink {
  readonly kind: LinkKind;
  /** Null: a set-up link, whose use makes the person. */
  readonly personId: string | null;
  readonly expiresAt: string;
}

const LIFE_MS: Readonly<Record<LinkKind, number>> = {
  owner: OWNER_LINK_MS,
  invitation: INVITATION_MS,
  reset: INVITATION_MS,
};

const iso = (ms: number) => new Date(ms).toISOString();

/** Makes a link. A person's earlier links expire now. */
export async function makeLink(sql: Sql, { kind, personId, nowMs }: {
  readonly kind: LinkKind;
  readonly personId: string | null;
  readonly nowMs: number;
}): Promise<MadeLink> {
  const secret = newSecret();
  const expiresAt = iso(nowMs + LIFE_MS[kind]);
  if (personId !== null) await expireLinksOf(sql, personId, nowMs);
  await sql.query(
    `INSERT INTO person_links (token_hash, kind, person_id, created_at, expires_at)
    VALUES ($1::text::bytea, $2::text, $3::text, $4::text::timestamptz, $5::text::timestamptz)`,
    [secretHash(secret), kind, personId, iso(nowMs), expiresAt],
  );
  return { secret, expiresAt };
}

/**
 * Finds the link with a secret; `lock` keeps others from using it until the transaction ends.
 * Throws `invalid_link`, `used_link`, `expired_link` (403).
 */
export async function requireLink(sql: Sql, { secret, isOwner, nowMs, lock = false }: {
  readonly secret: string;
  /** Whether a set-up link is expected, or one for a person. */
  readonly isOwner: boolean;
  readonly nowMs: number;
  readonly lock?: boolean;
}): Promise<ValidLink> {
  const rows = isSecret(secret)
    ? await sql.query<{
      kind: LinkKind;
      person_id: string | null;
      expires_at: Date;
      used_at: Date | null;
    }>(
      `SELECT kind, person_id, expires_at, used_at FROM person_links
      WHERE token_hash = $1::text::bytea ${lock ? "FOR UPDATE" : ""}`,
      [secretHash(secret)],
    )
    : [];
  const [row] = rows;
  const again = isOwner
    ? "Each start of the server prints a new one."
    : "Ask who invited you for a new one.";
  if (row === undefined || (row.kind === "owner") !== isOwner) {
    throw new Problem("invalid_link", `This link is not whole, or was never given out. ${again}`);
  }
  if (row.used_at !== null) {
    throw new Problem("used_link", "This link has been used, and works once. Sign in instead.");
  }
  if (row.expires_at.getTime() <= nowMs) {
    throw new Problem(
      "expired_link",
      "This link has expired, or it ended before: a newer one took its place, or its person " +
        `came in or changed the password meanwhile. ${again}`,
    );
  }
  return { kind: row.kind, personId: row.person_id, expiresAt: row.expires_at.toISOString() };
}

/** Marks a link as used, in the transaction of its use. */
export async function useLink(sql: Sql, secret: string, nowMs: number): Promise<void> {
  await sql.query(
    "UPDATE person_links SET used_at = $2::text::timestamptz WHERE token_hash = $1::text::bytea",
    [secretHash(secret), iso(nowMs)],
  );
}

/** Ends a person's links, invitations and those for new passwords; null: everybody's. */
export async function expireLinksOf(
  sql: Sql,
  personId: string | null,
  nowMs: number,
): Promise<void> {
  await sql.query(
    `UPDATE person_links SET expires_at = LEAST(expires_at, $1::text::timestamptz)
    WHERE person_id = COALESCE($2::text, person_id) AND used_at IS NULL`,
    [iso(nowMs), personId],
  );
}

/** Deletes links that ended long ago. */
export async function deleteOldLinks(sql: Sql, nowMs: number): Promise<void> {
  await sql.query(
    "DELETE FROM person_links WHERE COALESCE(used_at, expires_at) < $1::text::timestamptz",
    [iso(nowMs - LINK_REMEMBERED_MS)],
  );
}
