import { COUNT_AT } from "./journal_block.ts";

/** How many events a journal block says that it holds; it has a head. */
export function eventsInBlock({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(COUNT_AT);
}
