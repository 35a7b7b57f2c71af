import { turnOfOthers } from "../event_loop.ts";
import { YIELD_MS } from "./store_limits.ts";

/** Yields to the event loop if that is due; else resolves at once. */
export type Yield = () => Promise<void>;

/**
 * Creates a function that long work on segments awaits often: it yields to the event loop every `YIELD_MS`.
 * After that it throws where `gone` is aborted, so that work for nobody ends.
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
