import { VISITOR_CACHED_USER_AGENT_LENGTH_MAX, VISITOR_HASHES_CACHED_MAX } from "../limits.ts";
import { RecentCache } from "../recent_cache.ts";

export interface Visitor {
  readonly projectPublicId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** UTC day whose salt keys the hash, `YYYY-MM-DD`. */
  readonly day: string;
}

export interface VisitorHasher {
  /**
   * 16 bytes as PostgreSQL's hex text: `\x` and 32 digits. At once for a visitor seen recently
   * (below 1 µs; an HMAC takes about 30 µs), else as a promise, which fails as `saltFor` does.
   */
  hash(visitor: Visitor): Promise<string> | string;
}

const HASH_BYTES = 16;
/** The length that stands before an absent value: no text is that long. */
const ABSENT = 0xffff_ffff;
const utf8 = new TextEncoder();

/**
 * Hashes visitors: the first 16 bytes of HMAC-SHA-256 over project, IP and user agent, each behind
 * its length in bytes, so that no two visitors run into the same message. The key is the salt of
 * the day; keys are held by their salts alone, and go when the owner of `saltFor` lets a salt go.
 */
export function createVisitorHasher(
  saltFor: (day: string) => Promise<Uint8Array>,
): VisitorHasher {
  const keys = new WeakMap<Uint8Array, Promise<CryptoKey>>();
  const hashes = new RecentCache<string, Promise<string> | string>(VISITOR_HASHES_CACHED_MAX);

  function keyOf(salt: Uint8Array): Promise<CryptoKey> {
    let key = keys.get(salt);
    if (key === undefined) {
      const algorithm = { name: "HMAC", hash: "SHA-256" };
      key = crypto.subtle.importKey("raw", new Uint8Array(salt), algorithm, false, ["sign"]);
      keys.set(salt, key);
    }
    return key;
  }

  async function compute(visitor: Visitor): Promise<string> {
    const key = await keyOf(await saltFor(visitor.day));
    const digest = await crypto.subtle.sign("HMAC", key, messageOf(visitor));
    return `\\x${new Uint8Array(digest, 0, HASH_BYTES).toHex()}`;
  }

  async function computeAndKeep(cacheKey: string, visitor: Visitor): Promise<string> {
    try {
      const hash = await compute(visitor);
      hashes.set(cacheKey, hash);
      return hash;
    } catch (error) {
      hashes.delete(cacheKey);
      throw error;
    }
  }

  return {
    hash(visitor) {
      if ((visitor.userAgent?.length ?? 0) > VISITOR_CACHED_USER_AGENT_LENGTH_MAX) {
        return compute(visitor);
      }
      const cacheKey = cacheKeyOf(visitor);
      const recent = hashes.get(cacheKey);
      if (recent !== undefined) return recent;
      // The promise is kept too: the events of one batch mostly have one visitor.
      const pending = computeAndKeep(cacheKey, visitor);
      hashes.set(cacheKey, pending);
      return pending;
    },
  };
}

/** Unambiguous like the message: the user agent, which may hold anything, stands last. */
function cacheKeyOf({ day, projectPublicId, ip, userAgent }: Visitor): string {
  const lengths = `${projectPublicId.length},${ip === null ? "-" : ip.length}`;
  return `${day}${lengths}:${projectPublicId}${ip ?? ""}${
    userAgent === null ? "-" : `+${userAgent}`
  }`;
}

function messageOf(visitor: Visitor): Uint8Array<ArrayBuffer> {
  const parts = [visitor.projectPublicId, visitor.ip, visitor.userAgent]
    .map((text) => text === null ? null : utf8.encode(text));
  const message = new Uint8Array(parts.reduce((sum, part) => sum + 4 + (part?.length ?? 0), 0));
  const view = new DataView(message.buffer);
  let offset = 0;
  for (const part of parts) {
    view.setUint32(offset, part === null ? ABSENT : part.length);
    offset += 4;
    if (part === null) continue;
    message.set(part, offset);
    offset += part.length;
  }
  return message;
}
