import { Buffer } from "node:buffer";
import { hash as digestOf, timingSafeEqual } from "node:crypto";
import { arrayLiteral, type Sql, StatementRefused } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import {
  API_KEY_LENGTH_MAX,
  API_KEY_LENGTH_MIN,
  KEY_BELIEVED_MS_MAX,
  KEY_FRESH_MS,
  KEYS_CACHED_MAX,
  KEYS_PER_LOOK_UP_MAX,
  KEYS_WAITING_MAX,
  RETRY_AFTER_S,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import { RecentCache } from "../recent_cache.ts";
import { randomText } from "./random_text.ts";

export type KeyKind = "public" | "secret";

/** A key that may be used now, with what ingestion needs to know of its project. */
export interface ApiKey {
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly projectId: number;
  readonly projectPublicId: string;
  readonly projectIpStorage: "full" | "truncated" | "none" | null;
  readonly allowedOrigins: readonly string[];
}

export interface KeyDirectory {
  /**
   * Throws `invalid_api_key` (401), `revoked_api_key`, `expired_api_key` (403) for a key that is
   * certainly bad; `DatabaseUnavailable` or `overloaded` (503) where that cannot be known.
   */
  authenticate(key: string): Promise<ApiKey>;
  /** Drops all that is remembered, so that a change made here holds at once here. */
  forget(): void;
}

/** A key as an operator sees it. Times are ISO 8601 in UTC; the key itself is not kept anywhere. */
export interface KeyRecord {
  readonly id: string;
  readonly kind: KeyKind;
  readonly label: string | null;
  /** The key's last four characters. */
  readonly hint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly status: "active" | "expired" | "revoked";
}

/** The one moment at which the key itself can be seen. */
export interface CreatedKey extends KeyRecord {
  readonly key: string;
}

interface KnownKey {
  readonly hash: Uint8Array;
  readonly apiKey: ApiKey;
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
  /** When the query was sent: what it found is at least as young as that. */
  readonly askedAtMs: number;
  refreshing: boolean;
}

interface KnownKeyRow extends Record<string, unknown> {
  key_hash: Uint8Array;
  key_id: string;
  kind: KeyKind;
  expires_at: Date | null;
  revoked: boolean;
  project_id: number;
  public_id: string;
  ip_storage: ApiKey["projectIpStorage"];
  allowed_origins: string[];
}

const LOOK_UP = `
  SELECT k.key_hash, k.key_id, k.kind, k.expires_at, k.revoked_at IS NOT NULL AS revoked,
    p.project_id, p.public_id, p.ip_storage, p.allowed_origins
  FROM api_keys k JOIN projects p USING (project_id)
  WHERE k.key_hash = ANY($1::text::bytea[])`;

// node:crypto hashes a key in 1 µs; Web Crypto's digest takes 22 µs, most of it in promises.
function sha256(key: string): Buffer {
  return digestOf("sha256", key, "buffer");
}

/** What `key_hash` of a key is, as a parameter to be cast by `::text::bytea`. */
export function keyHash(key: string): string {
  return `\\x${sha256(key).toString("hex")}`;
}

function known(row: KnownKeyRow, askedAtMs: number): KnownKey {
  return {
    hash: row.key_hash,
    apiKey: {
      keyId: row.key_id,
      kind: row.kind,
      projectId: row.project_id,
      projectPublicId: row.public_id,
      projectIpStorage: row.ip_storage,
      allowedOrigins: row.allowed_origins,
    },
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revoked: row.revoked,
    askedAtMs,
    refreshing: false,
  };
}

type Waiting = Map<string, PromiseWithResolvers<KnownKey | null>>;

/**
 * Hashes (hex) that gather while a query is under way, and go together in the next: those of keys that
 * were known a moment ago first, so that no flood of made-up ones keeps them waiting.
 */
class LookUps {
  readonly #known: Waiting = new Map();
  readonly #strange: Waiting = new Map();
  #running = false;

  constructor(readonly sql: Sql, readonly now: () => number) {}

  /** What the database says of a key, asked after this call. Null: there is no such key. */
  ask(hash: string, isKnown: boolean): Promise<KnownKey | null> {
    let waiting = this.#known.get(hash) ?? this.#strange.get(hash);
    if (waiting === undefined) {
      if (!isKnown && this.#strange.size >= KEYS_WAITING_MAX) {
        throw new Problem("overloaded", "Too many API keys wait to be looked up. Try again.", {
          headers: { "Retry-After": String(RETRY_AFTER_S) },
        });
      }
      waiting = Promise.withResolvers();
      (isKnown ? this.#known : this.#strange).set(hash, waiting);
      if (!this.#running) this.#run();
    }
    return waiting.promise;
  }

  #take(): Waiting {
    const batch: Waiting = new Map();
    for (const queue of [this.#known, this.#strange]) {
      for (const [hash, waiting] of queue) {
        if (batch.size === KEYS_PER_LOOK_UP_MAX) return batch;
        batch.set(hash, waiting);
        queue.delete(hash);
      }
    }
    return batch;
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let batch = this.#take(); batch.size > 0; batch = this.#take()) {
      try {
        const askedAtMs = this.now();
        const hashes = arrayLiteral(Array.from(batch.keys(), (hash) => `\\x${hash}`));
        const found = new Map<string, KnownKey>();
        for (const row of await this.sql.query<KnownKeyRow>(LOOK_UP, [hashes])) {
          found.set(Buffer.from(row.key_hash).toString("hex"), known(row, askedAtMs));
        }
        for (const [hash, waiting] of batch) waiting.resolve(found.get(hash) ?? null);
      } catch (error) {
        for (const waiting of batch.values()) waiting.reject(error);
      }
    }
    this.#running = false;
  }
}

function judge(entry: KnownKey, nowMs: number): ApiKey {
  if (entry.revoked) {
    throw new Problem("revoked_api_key", "This API key has been revoked. Use another one.");
  }
  if (entry.expiresAtMs !== null && nowMs >= entry.expiresAtMs) {
    throw new Problem("expired_api_key", "This API key has expired. Use another one.");
  }
  return entry.apiKey;
}

function unknownKey(): Problem {
  return new Problem("invalid_api_key", "No project has this API key.");
}

/**
 * The API keys, by what their hashes say in the database. Known keys are remembered: after
 * KEY_FRESH_MS they are asked for again in the background, after KEY_BELIEVED_MS_MAX a request waits
 * for the answer, so a change takes effect on every server within a second. Unknown keys are never
 * remembered, so a new key works at once, and a flood of made-up keys costs one query at a time.
 */
export function createKeyDirectory(
  sql: Sql,
  { now, log }: { readonly now: () => number; readonly log: Log },
): KeyDirectory {
  let remembered = new RecentCache<string, KnownKey>(KEYS_CACHED_MAX);
  const lookUps = new LookUps(sql, now);

  async function lookUp(hash: string, isKnown: boolean): Promise<KnownKey | null> {
    // A `forget` meanwhile leaves this answer in the old cache, where nobody finds it.
    const cache = remembered;
    const found = await lookUps.ask(hash, isKnown);
    if (found === null) cache.delete(hash);
    else cache.set(hash, found);
    return found;
  }

  function refresh(entry: KnownKey, hash: string): void {
    entry.refreshing = true;
    lookUp(hash, true).catch((error) => {
      entry.refreshing = false;
      log.debug("API key not refreshed", { keyId: entry.apiKey.keyId, reason: String(error) });
    });
  }

  return {
    async authenticate(key) {
      if (key.length > API_KEY_LENGTH_MAX) throw unknownKey();
      const digest = sha256(key);
      const hash = digest.toString("hex");
      let entry = remembered.get(hash) ?? null;
      const ageMs = entry === null ? Infinity : now() - entry.askedAtMs;
      if (entry === null || ageMs < 0 || ageMs > KEY_BELIEVED_MS_MAX) {
        entry = await lookUp(hash, entry !== null);
      } else if (ageMs > KEY_FRESH_MS && !entry.refreshing) refresh(entry, hash);
      if (entry === null || !timingSafeEqual(entry.hash, digest)) throw unknownKey();
      return judge(entry, now());
    },
    forget() {
      remembered = new RecentCache(KEYS_CACHED_MAX);
    },
  };
}

interface KeyRow extends Record<string, unknown> {
  key_id: string;
  kind: KeyKind;
  label: string | null;
  hint: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
}

const KEY_COLUMNS = "key_id, kind, label, hint, created_at, expires_at, revoked_at";
const SECRET_PREFIX = "sk_";
const GIVEN_KEY = new RegExp(`^[\\x21-\\x7e]{${API_KEY_LENGTH_MIN},${API_KEY_LENGTH_MAX}}$`);
const RANDOM_CHARACTERS = 32;
const UNIQUE_VIOLATION = "23505";

function keyRecord(row: KeyRow, nowMs: number): KeyRecord {
  const expired = row.expires_at !== null && nowMs >= row.expires_at.getTime();
  return {
    id: row.key_id,
    kind: row.kind,
    label: row.label,
    hint: row.hint,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    status: row.revoked_at !== null ? "revoked" : expired ? "expired" : "active",
  };
}

/** True where an operator may bring `key` along: 8 to 200 visible ASCII characters, kinds apart. */
export function isGivenKey(key: string, kind: KeyKind): boolean {
  return GIVEN_KEY.test(key) && key.startsWith(SECRET_PREFIX) === (kind === "secret");
}

/**
 * Makes a key of a project. `key` is the operator's own; without it one with 190 random bits is
 * made. Throws `invalid_body` for a given key that cannot be one, `conflict` if it is known already.
 */
export async function createKey(sql: Sql, wanted: {
  readonly projectId: number;
  readonly kind: KeyKind;
  readonly label: string | null;
  readonly expiresAt: Date | null;
  readonly nowMs: number;
  readonly key?: string;
}): Promise<CreatedKey> {
  const { projectId, kind, label, expiresAt, nowMs } = wanted;
  if (wanted.key !== undefined && !isGivenKey(wanted.key, kind)) {
    throw new Problem(
      "invalid_body",
      `A ${kind} key has ${API_KEY_LENGTH_MIN} to ${API_KEY_LENGTH_MAX} visible ASCII characters ` +
        `and ${kind === "secret" ? "starts" : "does not start"} with \`${SECRET_PREFIX}\`.`,
    );
  }
  const key = wanted.key ?? `${kind === "secret" ? "sk" : "pk"}_${randomText(RANDOM_CHARACTERS)}`;
  try {
    const [row] = await sql.query<KeyRow>(
      `INSERT INTO api_keys (key_id, project_id, kind, label, key_hash, hint, created_at, expires_at)
      VALUES ($1::text, $2::int, $3::text, $4::text, $5::text::bytea, $6::text,
        $7::text::timestamptz, $8::text::timestamptz)
      RETURNING ${KEY_COLUMNS}`,
      [
        `key_${randomText(16)}`,
        projectId,
        kind,
        label,
        keyHash(key),
        key.slice(-4),
        new Date(nowMs).toISOString(),
        expiresAt?.toISOString() ?? null,
      ],
    );
    if (row === undefined) throw new Error("The new key was not returned");
    return { ...keyRecord(row, nowMs), key };
  } catch (error) {
    if (error instanceof StatementRefused && error.sqlState === UNIQUE_VIOLATION) {
      throw new Problem("conflict", "This key exists already.", { cause: error });
    }
    throw error;
  }
}

/** A project's keys, oldest first. */
export async function listKeys(sql: Sql, projectId: number, nowMs: number): Promise<KeyRecord[]> {
  const rows = await sql.query<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE project_id = $1::int ORDER BY created_at, key_id`,
    [projectId],
  );
  return rows.map((row) => keyRecord(row, nowMs));
}

/** Names one key of one project, and the time at which something is done to it. */
export interface KeyChange {
  readonly projectId: number;
  readonly keyId: string;
  readonly nowMs: number;
}

function noSuchKey(): Problem {
  return new Problem("not_found", "The project has no key with this id.");
}

const KEY_ID = /^key_[A-Za-z0-9]{1,60}$/;

/** Revokes a key for good; revoking it again changes nothing. Throws `not_found`. */
export async function revokeKey(sql: Sql, { projectId, keyId, nowMs }: KeyChange): Promise<void> {
  if (!KEY_ID.test(keyId)) throw noSuchKey();
  const rows = await sql.query(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $3::text::timestamptz)
    WHERE project_id = $1::int AND key_id = $2::text RETURNING key_id`,
    [projectId, keyId, new Date(nowMs).toISOString()],
  );
  if (rows.length === 0) throw noSuchKey();
}

/**
 * Makes a new key of the same kind and label; the old one expires `overlapSeconds` from now, if not
 * earlier. Throws `not_found`, and `conflict` for a key that is revoked or has expired.
 */
export async function rotateKey(
  sql: Sql,
  { projectId, keyId, nowMs, overlapSeconds }: KeyChange & { readonly overlapSeconds: number },
): Promise<CreatedKey> {
  if (!KEY_ID.test(keyId)) throw noSuchKey();
  return await sql.transaction(async (inside) => {
    const [row] = await inside.query<KeyRow>(
      `SELECT ${KEY_COLUMNS} FROM api_keys
      WHERE project_id = $1::int AND key_id = $2::text FOR UPDATE`,
      [projectId, keyId],
    );
    if (row === undefined) throw noSuchKey();
    const { status, kind, label } = keyRecord(row, nowMs);
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
