import { uuidOf } from "../../store/id_codec.ts";

/** The position of a visit among all: sorted by its start, then by its entry event. */
export interface VisitPlace {
  readonly ms: number;
  /** The id of the first page view; in a visit without one, of the first event. */
  readonly entryId: string;
}

const TIME_BYTES = 8;
const BYTES = TIME_BYTES + 16;
const ID = /^[\w-]{32}$/;
/** The largest distance from 1970 that a Date can hold. */
const MS_MAX = 8.64e15;

/**
 * Returns the id of a visit: 8 bytes of its time and the 16 of its entry's id, as text that is safe in a
 * URL. It stays the same as long as the visit's first events do, also when the person becomes a user.
 */
export function visitId({ ms, entryId }: VisitPlace): string {
  const bytes = new Uint8Array(BYTES);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(ms));
  bytes.set(Uint8Array.fromHex(entryId.replaceAll("-", "")), TIME_BYTES);
  return bytes.toBase64({ alphabet: "base64url" });
}

/** Returns the position that an id stands for; null: it is not the id of a visit. */
export function placeOfVisit(id: string): VisitPlace | null {
  if (!ID.test(id)) return null;
  const bytes = Uint8Array.fromBase64(id, { alphabet: "base64url" });
  const ms = Number(new DataView(bytes.buffer).getBigInt64(0));
  if (Math.abs(ms) > MS_MAX) return null;
  return { ms, entryId: uuidOf(bytes, TIME_BYTES) };
}
