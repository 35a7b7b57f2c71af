import { turnOfOthers } from "../turns/event_loop.ts";
import { YIELD_MS } from "../store/store_limits.ts";
import { SPARE_TIME_OTHERS_SHARE } from "./scan_limits.ts";

/** Tells whether a thread has time for work that workers could do as well. */
export class SpareTime {
  #resumedMs = performance.now();
  #ownMs = 0;
  #othersMs = 0;

  /** @param graceMs see `SPARE_TIME_GRACE_MS` */
  constructor(private readonly graceMs: number) {}

  /**
   * Yields to the event loop when it is time to. @returns false once other work has taken more than its
   * share of the thread
   */
  async isLeft(): Promise<boolean> {
    const restedMs = performance.now();
    if (restedMs - this.#resumedMs >= YIELD_MS) {
      this.#ownMs += restedMs - this.#resumedMs;
      await turnOfOthers();
      this.#resumedMs = performance.now();
      this.#othersMs += this.#resumedMs - restedMs;
    }
    return this.#othersMs <= this.graceMs + SPARE_TIME_OTHERS_SHARE * this.#ownMs;
  }
}
