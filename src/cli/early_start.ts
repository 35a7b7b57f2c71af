import { startEngineWorker } from "../db/engine_worker.ts";
import { descriptorsFree } from "../http/descriptors.ts";

/** The least limit of descriptors for the embedded engine, which keeps up to some 240 files open. */
export const DESCRIPTORS_ADVISED = 512;
/** How many of them are in use as a process starts, at most. */
const DESCRIPTORS_AT_START = 32;

let filesMax: number | null = null;

/**
 * Begins what a server on the embedded engine waits for longest, before the rest of the program is loaded: the
 * engine's thread loads its code meanwhile. Other commands begin nothing, as most of them need no engine.
 */
export function beginStart(args: readonly string[], databaseUrl: string | undefined): void {
  if (args.length !== 1 || args[0] !== "serve" || (databaseUrl ?? "").trim() !== "") return;
  // Counting takes all descriptors for a moment where there are few; the thread's files would then not open.
  const least = DESCRIPTORS_ADVISED - DESCRIPTORS_AT_START;
  const free = descriptorsFree(least);
  filesMax = free === null || free >= least ? null : free;
  startEngineWorker();
}

/** Returns how many files could be opened as the server began, if they may not suffice for the engine; else null. */
export function fewDescriptors(): number | null {
  return filesMax;
}
