import { setImmediate } from "node:timers";
import { VISITOR_CACHED_USER_AGENT_LENGTH_MAX, VISITOR_HASHES_CACHED_MAX } from "../limits.ts";
import { RecentCache } from "../recent_cache.ts";
import type { HashDays } from "./salts.ts";

export interface Visitor {
  readonly projectPublicId: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly days: HashDays;
}

export interface VisitorHasher {
  /**
   * Returns 16 bytes as PostgreSQL's hex text: `\x` and 32 digits; for a recent visitor directly (in less than
   * 1 µs), else as a promise, which fails as `saltFor` does.
   */
  hash(visitor: Visitor): Promise<string> | string;
}

const HASH_BYTES = 16;
const LENGTH_BYTES = 4;
/** The length that marks an absent value; no text is that long. */
const ABSENT = 0xffff_ffff;
const utf8 = new TextEncoder();

/**
 * Creates a hasher of visitors. The hash is the first 16 bytes of HMAC-SHA-256 over project, IP and user
 * agent, each after its length in bytes, so that no two visitors have the same message. The key is the
 * day's salt; keys are referenced only by their salts, and so are freed when `saltFor` evicts a salt. Events of
 * other days than the salt's have their day as a fourth part: whoever is known by the hash alone starts anew at
 * each midnight, whenever the events arrive.
 *
 * Web Crypto signs on another thread. Waking that thread takes the main one about 90 µs if it sleeps and 10
 * if it works, so signing begins for several visitors together: 8 at once take 16 µs each.
 */
export function createVisitorHasher(
  saltFor: (day: string) => Promise<Uint8Array>,
): VisitorHasher {
  const keys = new WeakMap<Uint8Array, Promise<CryptoKey>>();
  const hashes = new RecentCache<string, Promise<string> | string>(VISITOR_HASHES_CACHED_MAX);

  function keyOf(salt: Uint8Array): Promise<CryptoKey> {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    return keys.getOrInsertComputed(
      salt,
      () => crypto.subtle.importKey("raw", new Uint8Array(salt), algorithm, false, ["sign"]),
    );
  }

  async function sign(visitor: Visitor): Promise<string> {
    const key = await keyOf(await saltFor(visitor.days.salt));
    const digest = await crypto.subtle.sign("HMAC", key, messageOf(visitor));
    return `\\x${new Uint8Array(digest, 0, HASH_BYTES).toHex()}`;
  }

  /** The visitors of one turn of the event loop, signed together at its end. */
  const waiting: (() => void)[] = [];

  function compute(visitor: Visitor): Promise<string> {
    return new Promise((resolve) => {
      if (waiting.push(() => resolve(sign(visitor))) > 1) return;
      setImmediate(() => waiting.splice(0).forEach((start) => start()));
    });
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
      // The promise is cached too: the events of one batch mostly have one visitor.
      const pending = computeAndKeep(cacheKey, visitor);
      hashes.set(cacheKey, pending);
      return pending;
    },
  };
}

/** Returns a key that is as unambiguous as the message: the user agent, which may contain anything, comes last. */
function cacheKeyOf({ days, projectPublicId, ip, userAgent }: Visitor): string {
  const lengths = `${projectPublicId.length},${ip === null ? "-" : ip.length}`;
  return `${days.salt} ${days.event} ${lengths}:${projectPublicId}${ip ?? ""}${
    userAgent === null ? "-" : `+${userAgent}`
  }`;
}

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

function messageOf({ projectPublicId, ip, userAgent, days }: Visitor): Uint8Array<ArrayBuffer> {
  const parts = [projectPublicId, ip, userAgent];
  if (days.event !== days.salt) parts.push(days.event);
  const units = parts.reduce((sum, part) => sum + (part?.length ?? 0), 0);
  const message = new Uint8Array(parts.length * LENGTH_BYTES + UNIT_BYTES_MAX * units);
  const view = new DataView(message.buffer);
  let end = 0;
  for (const part of parts) {
    const at = end + LENGTH_BYTES;
    const bytes = part === null ? 0 : utf8.encodeInto(part, message.subarray(at)).written;
    view.setUint32(end, part === null ? ABSENT : bytes);
    end = at + bytes;
  }
  return message.subarray(0, end);
}
