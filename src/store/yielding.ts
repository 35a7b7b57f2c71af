import { turnOfOthers } from "../event_loop.ts";
import { YIELD_MS } from "./store_limits.ts";

/** Waits until others had their turn, if that is due; else resolves at once. */
export type Yield = () => Promise<void>;

/** What long work on segments calls now and then, so that others have their turn every few milliseconds. */
export function yielding(): Yield {
  let resumedMs = performance.now();
  return async () => {
    if (performance.now() - resumedMs < YIELD_MS) return;
    await turnOfOthers();
    resumedMs = performance.now();
  };
}
