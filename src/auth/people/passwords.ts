import { Buffer } from "node:buffer";
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Problem, retryable } from "../../problem.ts";
import { Semaphore } from "../../turns/semaphore.ts";
import {
  PASSWORD_CHARACTERS_MIN,
  PASSWORD_HASHES_AT_ONCE,
  PASSWORD_HASHES_WAITING_MAX,
  PASSWORD_LENGTH_MAX,
} from "./people_limits.ts";

/** The cost of a hash: its memory is 128 · N · r bytes, its work that times p. */
interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/**
 * 32 MiB and 0.35 s of processor time on two shared cores (median of 7): OWASP's minimum for this memory.
 * It may be raised: older hashes are then replaced at the next sign-in.
 */
export const SCRYPT_COST: ScryptCost = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** The most memory that a stored hash may require; ours need far less. */
const MEMORY_BYTES_MAX = 1024 * 1024 * 1024;

interface StoredHash {
  readonly cost: ScryptCost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const STORED = /^scrypt\$N=(\d{1,8}),r=(\d{1,3}),p=(\d{1,3})\$([\w-]{22})\$([\w-]{43})$/;

function parsed(stored: string): StoredHash {
  const [, N, r, p, salt = "", hash = ""] = STORED.exec(stored) ?? [];
  if (N === undefined) throw new Error("A stored password hash has an unknown format");
  return {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64url"),
    hash: Buffer.from(hash, "base64url"),
  };
}

/** Bounds the hashes that are made at once, since each takes memory and a core. */
const slots = new Semaphore(PASSWORD_HASHES_AT_ONCE);

/** Hashes the password's NFKC form, since keyboards differ in what they send for ü. Throws `overloaded`. */
async function derive(password: string, salt: Buffer, { N, r, p }: ScryptCost): Promise<Buffer> {
  if (slots.waiting >= PASSWORD_HASHES_WAITING_MAX) {
    throw retryable("overloaded", "Too many people sign in at this moment. Try again.");
  }
  return await slots.take(() =>
    new Promise((resolve, reject) => {
      const options = { N, r, p, maxmem: MEMORY_BYTES_MAX };
      scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, key) => {
        if (error) reject(error);
        else resolve(key);
      });
    })
  );
}

/** Returns the stored form of a password: `scrypt$N=…,r=…,p=…$salt$hash`. Throws `overloaded`. */
export async function hashPassword(
  password: string,
  cost: ScryptCost = SCRYPT_COST,
): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, cost);
  const { N, r, p } = cost;
  return `scrypt$N=${N},r=${r},p=${p}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

/**
 * Whether it is the password of a stored hash. Without one it returns false, after as much work as `like`, another
 * person's hash, would take. Throws `overloaded`.
 */
export async function isPassword(
  password: string,
  stored: string | null,
  like: string | null,
): Promise<boolean> {
  const known = stored ?? like;
  if (known === null) {
    await derive(password, randomBytes(SALT_BYTES), SCRYPT_COST);
    return false;
  }
  const { cost, salt, hash } = parsed(known);
  const isSame = timingSafeEqual(await derive(password, salt, cost), hash);
  return stored !== null && isSame;
}

/** Whether a stored hash is cheaper than those that are made now. */
export function isWeakHash(stored: string, cost: ScryptCost = SCRYPT_COST): boolean {
  const { cost: { N, r, p } } = parsed(stored);
  return N * r < cost.N * cost.r || N * r * p < cost.N * cost.r * cost.p;
}

let common: Promise<ReadonlySet<string>> | null = null;

/** Returns the 49,000 most common passwords: 1 MB, loaded when somebody chooses a password. */
async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  return new Set(dictionary["passwords-common"]);
}

function unfit(field: string, message: string): Problem {
  return new Problem("invalid_body", "Choose another password.", {
    errors: [{ field, code: "weak_password", message }],
  });
}

/**
 * Throws `invalid_body` for a password that is too short or too long, common, or the person's own name or
 * address. `field` is its name in the body.
 */
export async function assertGoodPassword(
  password: string,
  { field, own }: { readonly field: string; readonly own: readonly string[] },
): Promise<void> {
  const plain = password.normalize("NFKC");
  if ([...plain].length < PASSWORD_CHARACTERS_MIN) {
    throw unfit(field, `Use at least ${PASSWORD_CHARACTERS_MIN} characters; a few words will do.`);
  }
  if (password.length > PASSWORD_LENGTH_MAX) {
    throw unfit(field, `Use at most ${PASSWORD_LENGTH_MAX} characters.`);
  }
  const lower = plain.toLowerCase();
  if (own.some((text) => text.toLowerCase() === lower)) {
    throw unfit(field, "This is your own name or address. Choose what others do not know.");
  }
  common ??= loadCommonPasswords().catch((error) => {
    common = null;
    throw error;
  });
  if ((await common).has(lower) || new Set(lower).size < 3) {
    throw unfit(field, "Many people have this password. Choose another one; a few words will do.");
  }
}
