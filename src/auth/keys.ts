import { Buffer } from "node:buffer";
import { hash as nodeHash, timingSafeEqual } from "node:crypto";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { API_KEY_LENGTH_MAX, KEY_CACHED_MS_MAX, KEY_FRESH_MS, KEYS_CACHED_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { RecentCache } from "../recent_cache.ts";
import { LookUps } from "./look_ups.ts";

export type KeyKind = "public" | "secret";

/** A valid key, with what ingestion needs to know of its project. */
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
   * Throws `invalid_api_key` (401), `revoked_api_key`, `expired_api_key` (403) for a key that is certainly
   * invalid; `DatabaseUnavailable` or `overloaded` (503) if that cannot be determined.
   */
  authenticate(key: string): Promise<ApiKey>;
  /** Empties the cache, so that a change made by this server takes effect here at once. */
  invalidate(): void;
}

interface KnownKey {
  readonly hash: Uint8Array;
  readonly apiKey: ApiKey;
  readonly expiresAtMs: number | null;
  readonly revoked: boolean;
  /** Whether it is a public key of which an earlier version stored only the hash. */
  isUnkept: boolean;
  /** When the query was sent: its result is no older than that. */
  readonly askedAtMs: number;
  refreshing: boolean;
}

/** The columns of a key's project. */
export interface KeysProjectRow extends Record<string, unknown> {
  project_id: number;
  public_id: string;
  ip_storage: ApiKey["projectIpStorage"];
  allowed_origins: string[];
}

interface KnownKeyRow extends KeysProjectRow {
  key_hash: Uint8Array;
  key_id: string;
  kind: KeyKind;
  expires_at: Date | null;
  revoked: boolean;
  unkept: boolean;
}

const LOOK_UP = `
  SELECT k.key_hash, k.key_id, k.kind, k.expires_at, k.revoked_at IS NOT NULL AS revoked,
    k.kind = 'public' AND k.key IS NULL AS unkept,
    p.project_id, p.public_id, p.ip_storage, p.allowed_origins
  FROM api_keys k JOIN projects p USING (project_id)
  WHERE k.key_hash = ANY($1::text::bytea[])`;

// node:crypto takes 5 µs to hash a key, Web Crypto 22, mostly for its promise.
function sha256(key: string): Buffer {
  return nodeHash("sha256", key, "buffer");
}

/** A key's hash, as bytes and as hex digits. */
interface Digest {
  readonly bytes: Buffer;
  readonly hash: string;
}

function digestOf(key: string): Digest {
  const bytes = sha256(key);
  return { bytes, hash: bytes.toString("hex") };
}

/** Returns the `key_hash` of a key, as a parameter to be cast with `::text::bytea`. */
export function keyHash(key: string): string {
  return `\\x${sha256(key).toString("hex")}`;
}

export function apiKeyOf(keyId: string, kind: KeyKind, project: KeysProjectRow): ApiKey {
  return {
    keyId,
    kind,
    projectId: project.project_id,
    projectPublicId: project.public_id,
    projectIpStorage: project.ip_storage,
    allowedOrigins: project.allowed_origins,
  };
}

function knownKey(row: KnownKeyRow, askedAtMs: number): KnownKey {
  return {
    hash: row.key_hash,
    apiKey: apiKeyOf(row.key_id, row.kind, row),
    expiresAtMs: row.expires_at?.getTime() ?? null,
    revoked: row.revoked,
    isUnkept: row.unkept,
    askedAtMs,
    refreshing: false,
  };
}

function requireValid(entry: KnownKey, nowMs: number): ApiKey {
  if (entry.revoked) {
    throw new Problem("revoked_api_key", "This API key has been revoked. Use another one.");
  }
  if (entry.expiresAtMs !== null && nowMs >= entry.expiresAtMs) {
    throw new Problem("expired_api_key", "This API key has expired. Use another one.");
  }
  return entry.apiKey;
}

function unknownKey(): Problem {
  return new Problem(
    "invalid_api_key",
    "No project has this API key. Those of a project are in its settings.",
  );
}

/**
 * Looks API keys up by their hashes in the database, and caches those that exist: after KEY_FRESH_MS they are
 * refreshed in the background, after KEY_CACHED_MS_MAX a request waits for the answer, so that a change takes
 * effect on every server within a second. Unknown keys are not cached, so a new key works at once; a flood of
 * made-up keys costs one query at a time.
 */
export function createKeyDirectory(
  sql: Sql,
  { now, log }: { readonly now: () => number; readonly log: Log },
): KeyDirectory {
  let known = new RecentCache<string, KnownKey>(KEYS_CACHED_MAX);
  // Of public keys that exist: hashing the key of each request took 2 % of the server's time.
  const digests = new RecentCache<string, Digest>(KEYS_CACHED_MAX);
  const lookUps = new LookUps<KnownKey>(async (hashes) => {
    const askedAtMs = now();
    const found = new Map<string, KnownKey>();
    const wanted = arrayLiteral(hashes.map((hash) => `\\x${hash}`));
    for (const row of await sql.query<KnownKeyRow>(LOOK_UP, [wanted])) {
      found.set(Buffer.from(row.key_hash).toString("hex"), knownKey(row, askedAtMs));
    }
    return found;
  });

  async function lookUp(hash: string, isKnown: boolean): Promise<KnownKey | null> {
    // After an `invalidate` meanwhile, the answer goes to the old cache, which nobody reads any more.
    const cache = known;
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

  /** Stores the whole of a public key of an earlier version, now that its use tells it. */
  function keep(entry: KnownKey, key: string): void {
    entry.isUnkept = false;
    const { keyId, projectId } = entry.apiKey;
    const kept = sql.query(
      `UPDATE api_keys SET key = $3::text
      WHERE project_id = $1::int AND key_id = $2::text AND kind = 'public' AND key IS NULL`,
      [projectId, keyId, key],
    );
    kept.catch((error) => log.debug("public key not kept", { keyId, reason: String(error) }));
  }

  return {
    async authenticate(key) {
      if (key.length > API_KEY_LENGTH_MAX) throw unknownKey();
      const digest = digests.get(key) ?? digestOf(key);
      const { hash } = digest;
      let entry = known.get(hash) ?? null;
      const ageMs = entry === null ? Infinity : now() - entry.askedAtMs;
      if (entry === null || ageMs < 0 || ageMs > KEY_CACHED_MS_MAX) {
        entry = await lookUp(hash, entry !== null);
      } else if (ageMs > KEY_FRESH_MS && !entry.refreshing) refresh(entry, hash);
      if (entry === null || !timingSafeEqual(entry.hash, digest.bytes)) throw unknownKey();
      if (entry.apiKey.kind === "public") digests.set(key, digest);
      const apiKey = requireValid(entry, now());
      if (entry.isUnkept) keep(entry, key);
      return apiKey;
    },
    invalidate() {
      known = new RecentCache(KEYS_CACHED_MAX);
    },
  };
}
