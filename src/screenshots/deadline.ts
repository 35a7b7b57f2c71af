/** Work took too long. It is not stopped by this. */
export class DeadlinePassed extends Error {
  override readonly name = "DeadlinePassed";
}

/** Returns the result of `work`. Throws DeadlinePassed, which names `doing`, if it takes longer than `ms`. */
export async function within<T>(ms: number, work: Promise<T>, doing: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DeadlinePassed(`${doing} took more than ${Math.round(ms)} ms`)),
    Math.max(0, ms),
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The time by which several steps must be done together. */
export class Deadline {
  readonly #endMs: number;

  constructor(ms: number) {
    this.#endMs = performance.now() + ms;
  }

  /** Returns the time left, at most `capMs`; 0: the deadline has passed. */
  leftMs(capMs = Infinity): number {
    return Math.max(0, Math.min(capMs, this.#endMs - performance.now()));
  }

  get hasPassed(): boolean {
    return this.leftMs() === 0;
  }
}
