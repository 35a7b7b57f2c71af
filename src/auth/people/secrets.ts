import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Returns 256 random bits as base64url, for a cookie or a link. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** Whether the text has the form of a secret; other text need not be looked up. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** Returns the stored hash of a secret, as a parameter to be cast with `::text::bytea`. */
export function secretHash(secret: string): string {
  return `\\x${createHash("sha256").update(Buffer.from(secret, "base64url")).digest("hex")}`;
}
