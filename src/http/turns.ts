import { turnOfOthers } from "../turns/event_loop.ts";

/**
 * Schedules the slices of long work of many requests: one slice runs at a time, and the event loop serves
 * other requests between two slices.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn; turns come in the order of the calls. */
  next(): Promise<void> {
    this.#last = this.#last.then(turnOfOthers);
    return this.#last;
  }
}

/** Lets one caller through at a time, in the order of their calls. */
export class Lane {
  #last: Promise<void> = Promise.resolve();

  /** Resolves with a function that the caller must call on leaving. */
  async enter(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    await before;
    return resolve;
  }
}
