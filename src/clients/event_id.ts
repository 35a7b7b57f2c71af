import { hash } from "node:crypto";
import { UUID } from "../ingest/event_input.ts";
import type { ProtocolName } from "./client_event.ts";

/** In hexadecimal digits: of 128 bits. */
const DIGITS = 32;
const VERSION_AT = 12;
const VARIANT_AT = 16;
const VERSION = "8";
/** The two upper bits of that digit are 10 (RFC 9562, section 4.1). */
const VARIANT_BITS = 0b1000;
const VARIANT_KEPT = 0b0011;

/**
 * The `eventId` of a foreign event: its own id where that is a UUID, else a UUID of version 8 made of
 * the SHA-256 of protocol, project and id. An id that is sent again is the same event again, and
 * equal ids of two projects or two protocols are different events.
 */
export function eventIdOf(
  protocol: ProtocolName,
  projectPublicId: string,
  theirId: string,
): string {
  if (UUID.test(theirId)) return theirId.toLowerCase();
  const text = `${protocol}\0${projectPublicId}\0${theirId}`;
  const digits = [...hash("sha256", text, "hex").slice(0, DIGITS)];
  digits[VERSION_AT] = VERSION;
  const variant = Number.parseInt(digits[VARIANT_AT]!, 16) & VARIANT_KEPT | VARIANT_BITS;
  digits[VARIANT_AT] = variant.toString(16);
  return digits.join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
