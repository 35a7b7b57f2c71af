import { turnOfOthers } from "../event_loop.ts";

/**
 * Long work of many requests, one slice at a time: however many want to go on, only one does so
 * before the event loop has served whoever else is there.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, in the order of the calls. */
  next(): Promise<void> {
    this.#last = this.#last.then(turnOfOthers);
    return this.#last;
  }
}

/** Lets one through at a time, in the order in which they came. */
export class Lane {
  #last: Promise<void> = Promise.resolve();

  /** Resolves with what is to be called on leaving. */
  async enter(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = promise;
    await before;
    return resolve;
  }
}
