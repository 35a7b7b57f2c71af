import { COUNT_AT } from "./journal_block.ts";

/** Returns the number of events that the head of a journal block states. */
export function eventsInBlock({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getUint32(COUNT_AT);
}
