/**
 * Frees dropped shared buffers. Garbage collectors do not count shared memory: each thread that has seen a
 * buffer keeps it until its own collector runs, which is rare in a thread with a small heap. Forty reads of
 * goals over eight ranges grew the server from 530 MiB to 1.1 GiB. So each thread learns how much was dropped,
 * and collects.
 */
import v8 from "node:v8";
import vm from "node:vm";

/** Each thread collects garbage every time that this much more was dropped. */
const DROPPED_BYTES_COLLECTED = 64 * 1024 * 1024;

/** Bytes that this thread knows to have been dropped, by any thread. */
let knownBytes = 0;
let collect: (() => void) | null = null;

/** Returns the engine's own function, which new contexts have from now on. */
function collector(): () => void {
  v8.setFlagsFromString("--expose-gc");
  return vm.runInNewContext("gc");
}

/** Returns the bytes of all buffers that were ever dropped, as far as this thread knows. */
export function droppedBytes(): number {
  return knownBytes;
}

/** Records what was dropped by any thread, and collects garbage if it is enough: 60 ms for a heap of 30 MB. */
export function noteDropped(totalBytes: number): void {
  const before = knownBytes;
  knownBytes = Math.max(knownBytes, totalBytes);
  const isDue = Math.floor(knownBytes / DROPPED_BYTES_COLLECTED) >
    Math.floor(before / DROPPED_BYTES_COLLECTED);
  if (isDue) (collect ??= collector())();
}
