/** The buffer is kept between calls up to this size; a larger one is allocated for its caller alone. */
const KEPT_BYTES_MAX = 1024 * 1024;
let kept = new Uint8Array(0);

/**
 * Returns at least `bytes` bytes to write to; they may hold old content. They are the caller's until the
 * next call, so the caller must be done with them before it awaits anything. Reuse saves clearing a
 * new array each time, and allocating a large one is slow.
 */
export function workspace(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes > KEPT_BYTES_MAX) return new Uint8Array(bytes);
  if (kept.length < bytes) kept = new Uint8Array(bytes);
  return kept;
}
