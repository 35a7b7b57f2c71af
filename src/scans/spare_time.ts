import { turnOfOthers } from "../event_loop.ts";
import { YIELD_MS } from "../store/store_limits.ts";
import { SPARE_TIME_OTHERS_SHARE } from "./scan_limits.ts";

/** Tells whether a thread has time for work that others could do as well. */
export class SpareTime {
  readonly #graceMs: number;
  #resumedMs = performance.now();
  #ownMs = 0;
  #othersMs = 0;

  /** @param graceMs what others may take of the thread in any case */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /**
   * Lets everybody else have his turn, where that is due. @returns false once others wanted more than
   * a share of the thread
   */
  async isLeft(): Promise<boolean> {
    const restedMs = performance.now();
    if (restedMs - this.#resumedMs >= YIELD_MS) {
      this.#ownMs += restedMs - this.#resumedMs;
      await turnOfOthers();
      this.#resumedMs = performance.now();
      this.#othersMs += this.#resumedMs - restedMs;
    }
    return this.#othersMs <= this.#graceMs + SPARE_TIME_OTHERS_SHARE * this.#ownMs;
  }
}
