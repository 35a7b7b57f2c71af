/** Counts the running requests, so that a stop can wait for them. */
export class InFlight {
  #count = 0;
  #idle: (() => void)[] = [];

  async track<T>(work: Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await work;
    } finally {
      if (--this.#count === 0) this.#idle.splice(0).forEach((wake) => wake());
    }
  }

  idle(): Promise<void> {
    return this.#count === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#idle.push(resolve));
  }
}
