import { turnOfOthers } from "../turns/event_loop.ts";
import { YIELD_MS } from "./store_limits.ts";

/** Yields to the event loop if a turn is due; else resolves at once. */
export type Yield = () => Promise<void>;

/**
 * Creates a function that long work on segments awaits often: it yields to the event loop every `YIELD_MS`.
 * It then throws if `gone` is aborted, so that work nobody waits for ends.
 */
export function yielding(gone?: AbortSignal): Yield {
  let resumedMs = performance.now();
  return async () => {
    if (performance.now() - resumedMs < YIELD_MS) return;
    await turnOfOthers();
    gone?.throwIfAborted();
    resumedMs = performance.now();
  };
}
