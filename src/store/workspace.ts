/** Kept from call to call; what more is asked for goes with its user. */
const KEPT_BYTES_MAX = 1024 * 1024;
let kept = new Uint8Array(0);

/**
 * Bytes to write to until the next call, whatever they hold: for who is done with them before others
 * have their turn. A new array for each would be cleared first, and a large one is slow to come by.
 */
export function workspace(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > KEPT_BYTES_MAX) return new Uint8Array(bytes);
  if (kept.length < bytes) kept = new Uint8Array(bytes);
  return kept;
}
