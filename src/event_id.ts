import { hash } from "node:crypto";

/** A UUID of any version, in any case. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** 128 bits in hexadecimal digits; the places below are counted in digits too. */
const DIGITS = 32;
const VERSION_AT = 12;
const VARIANT_AT = 16;
const VERSION = "8";
/** The two upper bits of that digit are 10 (RFC 9562, section 4.1). */
const VARIANT_BITS = 0b1000;
const VARIANT_KEPT = 0b0011;

/** Returns the hexadecimal SHA-256 of a text. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** Returns the first 128 bits of a hash as a UUID of version 8. */
export function uuidOfHash(hex: string): string {
  const digits = [...hex.slice(0, DIGITS)];
  digits[VERSION_AT] = VERSION;
  const variant = Number.parseInt(digits[VARIANT_AT]!, 16) & VARIANT_KEPT | VARIANT_BITS;
  digits[VARIANT_AT] = variant.toString(16);
  return digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/**
 * Returns the `eventId` of an event of another product: its own id if that is a UUID, else a hash of
 * product, project and id. So an event that is sent by that product's client and also imported from its
 * export is stored once, while equal ids of two projects or two products are different events.
 */
export function foreignEventId(product: string, projectPublicId: string, theirId: string): string {
  if (UUID.test(theirId)) return theirId.toLowerCase();
  return uuidOfHash(sha256(`${product}\0${projectPublicId}\0${theirId}`));
}
