/** Work that did not end in its time. What it was doing goes on by itself. */
export class DeadlinePassed extends Error {
  override readonly name = "DeadlinePassed";
}

/** What `work` comes to. Throws DeadlinePassed, which names `doing`, if that takes longer than `ms`. */
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

/** A time by which everything must be done, and what is left of it. */
export class Deadline {
  readonly #endMs: number;

  constructor(ms: number) {
    this.#endMs = performance.now() + ms;
  }

  /** What is left, at most `capMs`; 0: it has passed. */
  leftMs(capMs = Infinity): number {
    return Math.max(0, Math.min(capMs, this.#endMs - performance.now()));
  }

  get hasPassed(): boolean {
    return this.leftMs() === 0;
  }
}
