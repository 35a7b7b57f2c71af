import { isRefused, UNIQUE_VIOLATION } from "../db/refusal.ts";
import type { Sql } from "../db/sql.ts";
import { API_KEY_LENGTH_MAX, API_KEY_LENGTH_MIN } from "../limits.ts";
import { Problem } from "../problem.ts";
import { keyHash, type KeyKind } from "./keys.ts";
import { SITE_KEY_PREFIX } from "./site_keys.ts";
import { randomText } from "./random_text.ts";

/** A stored key. Times are ISO 8601 in UTC; only the hash of a secret key is stored. */
export interface KeyRecord {
  readonly id: string;
  readonly kind: KeyKind;
  readonly label: string | null;
  /** The key's last four characters; fewer if it is short. */
  readonly hint: string;
  /** A public key; null: a secret one, or one of which an earlier version stored only the hash. */
  readonly key: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly status: "active" | "expired" | "revoked";
}

/** A new key. A secret one is never shown again. */
export interface CreatedKey extends KeyRecord {
  readonly key: string;
}

interface KeyRow extends Record<string, unknown> {
  key_id: string;
  kind: KeyKind;
  label: string | null;
  hint: string;
  key: string | null;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
}

const KEY_COLUMNS = "key_id, kind, label, hint, key, created_at, expires_at, revoked_at";
const SECRET_PREFIX = "sk_";
const GIVEN_KEY = new RegExp(`^[\\x21-\\x7e]{${API_KEY_LENGTH_MIN},${API_KEY_LENGTH_MAX}}$`);
const RANDOM_CHARACTERS = 32;
/** A hint has at most so many characters, and at most this part of the key's length. */
const HINT_LENGTH_MAX = 4;
const HINT_PART_MAX = 1 / 4;

function keyRecord(row: KeyRow, nowMs: number): KeyRecord {
  const expired = row.expires_at !== null && nowMs >= row.expires_at.getTime();
  return {
    id: row.key_id,
    kind: row.kind,
    label: row.label,
    hint: row.hint,
    key: row.key,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    status: row.revoked_at !== null ? "revoked" : expired ? "expired" : "active",
  };
}

/** Whether an operator may choose this key: 8 to 200 visible ASCII characters; only secret keys begin with `sk_`. */
export function isGivenKey(key: string, kind: KeyKind): boolean {
  return GIVEN_KEY.test(key) && key.startsWith(SECRET_PREFIX) === (kind === "secret") &&
    !key.startsWith(SITE_KEY_PREFIX);
}

const ADOPTED_KEY = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Whether a key of another system can be a key here: 1 to 200 printable ASCII characters, without spaces at the
 * ends, which headers would lose, and without the prefix of site keys.
 */
export function isAdoptableKey(value: string): boolean {
  return value.length <= API_KEY_LENGTH_MAX && ADOPTED_KEY.test(value) &&
    !value.startsWith(SITE_KEY_PREFIX);
}

function hintOf(key: string): string {
  const shown = Math.min(HINT_LENGTH_MAX, Math.floor(key.length * HINT_PART_MAX));
  return shown === 0 ? "" : key.slice(-shown);
}

/**
 * Makes a key of a project: `key` if the operator chose one, `adopted` if it is of another system, with any
 * beginning, else one with 190 random bits. Throws `invalid_body` if the chosen key is not allowed, `conflict`
 * if the key exists already.
 */
export async function createKey(sql: Sql, wanted: {
  readonly projectId: number;
  readonly kind: KeyKind;
  readonly label: string | null;
  readonly expiresAt: Date | null;
  readonly nowMs: number;
  readonly key?: string;
  readonly adopted?: string | null;
}): Promise<CreatedKey> {
  const { projectId, kind, label, expiresAt, nowMs } = wanted;
  if (wanted.key !== undefined && !isGivenKey(wanted.key, kind)) {
    throw new Problem(
      "invalid_body",
      `A ${kind} key has ${API_KEY_LENGTH_MIN} to ${API_KEY_LENGTH_MAX} visible ASCII characters ` +
        `and ${kind === "secret" ? "starts" : "does not start"} with \`${SECRET_PREFIX}\`.`,
    );
  }
  const key = wanted.adopted ?? wanted.key ??
    `${kind === "secret" ? "sk" : "pk"}_${randomText(RANDOM_CHARACTERS)}`;
  try {
    const [row] = await sql.query<KeyRow>(
      `INSERT INTO api_keys
        (key_id, project_id, kind, label, key_hash, hint, created_at, expires_at, key)
      VALUES ($1::text, $2::int, $3::text, $4::text, $5::text::bytea, $6::text,
        $7::text::timestamptz, $8::text::timestamptz, $9::text)
      RETURNING ${KEY_COLUMNS}`,
      [
        `key_${randomText(16)}`,
        projectId,
        kind,
        label,
        keyHash(key),
        hintOf(key),
        new Date(nowMs).toISOString(),
        expiresAt?.toISOString() ?? null,
        kind === "public" ? key : null,
      ],
    );
    if (row === undefined) throw new Error("The new key was not returned");
    return { ...keyRecord(row, nowMs), key };
  } catch (error) {
    if (isRefused(error, UNIQUE_VIOLATION)) {
      throw new Problem("conflict", "This key exists already.", { cause: error });
    }
    throw error;
  }
}

/** A key's name in the audit. */
export function keyName({ id, kind, label, hint }: KeyRecord): string {
  return `${kind} key ${label ?? id} (…${hint})`;
}

/** A project's keys, oldest first. */
export async function listKeys(sql: Sql, projectId: number, nowMs: number): Promise<KeyRecord[]> {
  const rows = await sql.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE project_id = $1::int ORDER BY created_at, key_id`,
    [projectId],
  );
  return rows.map((row) => keyRecord(row, nowMs));
}

/** A key of a project, and the time of its change. */
interface KeyChange {
  readonly projectId: number;
  readonly keyId: string;
  readonly nowMs: number;
}

function noSuchKey(): Problem {
  return new Problem("not_found", "The project has no key with this id.");
}

const KEY_ID = /^key_[A-Za-z0-9]{1,60}$/;

/** Reads a key, and locks it until the transaction ends. Throws `not_found`. */
async function lockKey(sql: Sql, { projectId, keyId, nowMs }: KeyChange): Promise<KeyRecord> {
  if (!KEY_ID.test(keyId)) throw noSuchKey();
  const [row] = await sql.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys
    WHERE project_id = $1::int AND key_id = $2::text FOR UPDATE`,
    [projectId, keyId],
  );
  if (row === undefined) throw noSuchKey();
  return keyRecord(row, nowMs);
}

/** Revokes a key. Returns it as it was; null: it was revoked before, and is unchanged. Throws `not_found`. */
export async function revokeKey(sql: Sql, change: KeyChange): Promise<KeyRecord | null> {
  const { projectId, keyId, nowMs } = change;
  return await sql.transaction(async (inside) => {
    const key = await lockKey(inside, change);
    if (key.status === "revoked") return null;
    await inside.query(
      `UPDATE api_keys SET revoked_at = $3::text::timestamptz
      WHERE project_id = $1::int AND key_id = $2::text`,
      [projectId, keyId, new Date(nowMs).toISOString()],
    );
    return key;
  });
}

/**
 * Makes a new key of the same kind and label; the old one expires after `overlapSeconds`, unless it does so
 * earlier. Throws `not_found`, and `conflict` if the key is revoked or has expired.
 */
export async function rotateKey(
  sql: Sql,
  change: KeyChange & { readonly overlapSeconds: number },
): Promise<CreatedKey> {
  const { projectId, keyId, nowMs, overlapSeconds } = change;
  return await sql.transaction(async (inside) => {
    const { status, kind, label } = await lockKey(inside, change);
    if (status !== "active") {
      throw new Problem("conflict", `This key is ${status}; create a new one instead.`);
    }
    await inside.query(
      `UPDATE api_keys SET expires_at = least(expires_at, $3::text::timestamptz)
      WHERE project_id = $1::int AND key_id = $2::text`,
      [projectId, keyId, new Date(nowMs + overlapSeconds * 1000).toISOString()],
    );
    return createKey(inside, { projectId, kind, label, expiresAt: null, nowMs });
  });
}
