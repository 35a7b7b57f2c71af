/**
 * Shared buffers that were dropped. Collectors of garbage do not count shared memory: each thread that has
 * seen a buffer keeps it until its own collector runs, which a thread with a small heap hardly ever does.
 * Forty reads of goals over eight ranges grew the server from 530 MiB to 1.1 GiB. So every thread is told
 * how much was dropped, and collects.
 */
import v8 from "node:v8";
import vm from "node:vm";

/** So much is dropped before each thread collects what it holds of it. */
const DROPPED_BYTES_COLLECTED = 64 * 1024 * 1024;

/** Bytes that this thread knows to have been dropped, by any thread. */
let knownBytes = 0;
let collect: (() => void) | null = null;

/** Returns the engine's own function, which a new context has once it is asked for. */
function collector(): () => void {
  v8.setFlagsFromString("--expose-gc");
  return vm.runInNewContext("gc");
}

/** Bytes of all buffers that were ever dropped, as far as this thread knows. */
export function droppedBytes(): number {
  return knownBytes;
}

/** Collects what this thread holds of dropped buffers, once enough were: 60 ms for a heap of 30 MB. */
export function knowDropped(totalBytes: number): void {
  const before = knownBytes;
  knownBytes = Math.max(knownBytes, totalBytes);
  const isDue = Math.floor(knownBytes / DROPPED_BYTES_COLLECTED) >
    Math.floor(before / DROPPED_BYTES_COLLECTED);
  if (isDue) (collect ??= collector())();
}
