import { uuidText } from "../shown/uuid_text.ts";

/** Where a visit stands among all: by when it began, then by the event that it was entered by. */
export interface VisitPlace {
  readonly ms: number;
  /** The first page view's id; of a visit without one that of its first event. */
  readonly entryId: string;
}

const TIME_BYTES = 8;
const BYTES = TIME_BYTES + 16;
const ID = /^[\w-]{32}$/;
/** What a Date holds. */
const MS_MAX = 8.64e15;

/**
 * The id of a visit: 8 bytes of its time and the 16 of its entry's id, as text that a URL keeps. It stays
 * the same as long as its first events do, also where its person becomes a user meanwhile.
 */
export function visitId({ ms, entryId }: VisitPlace): string {
  const bytes = new Uint8Array(BYTES);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(ms));
  bytes.set(Uint8Array.fromHex(entryId.replaceAll("-", "")), TIME_BYTES);
  return bytes.toBase64({ alphabet: "base64url" });
}

/** What an id stands for; null where it is no visit's. */
export function placeOfVisit(id: string): VisitPlace | null {
  if (!ID.test(id)) return null;
  const bytes = Uint8Array.fromBase64(id, { alphabet: "base64url" });
  const ms = Number(new DataView(bytes.buffer).getBigInt64(0));
  if (Math.abs(ms) > MS_MAX) return null;
  return { ms, entryId: uuidText(bytes.subarray(TIME_BYTES)) };
}
