import { setImmediate } from "node:timers";
import { HISTORY_WALK_MS } from "../limits.ts";

/** Lets others have their turn when it is time: long work on histories asks it now and then. */
export class Pace {
  #resumedMs = performance.now();

  isOver(): boolean {
    return performance.now() - this.#resumedMs >= HISTORY_WALK_MS;
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#resumedMs = performance.now();
  }
}
