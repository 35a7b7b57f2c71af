interface HeldTimer {
  readonly dueMs: number;
  readonly run: () => void;
}

type SetTimer = (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => number;

/**
 * Holds timers of `leastMs` and more until `advance` says that their time has passed; shorter ones go
 * on as they do. So a deadline is tested at its own value, on both sides, at no cost of time.
 */
export class HeldTimers implements Disposable {
  readonly #set = globalThis.setTimeout;
  readonly #clear = globalThis.clearTimeout;
  readonly #held = new Map<number, HeldTimer>();
  #nowMs = 0;
  /** Numbers that no other timer has. */
  #lastId = -1;

  constructor(leastMs: number) {
    const set = this.#set as unknown as SetTimer;
    const hold: SetTimer = (run, ms = 0, ...given) => {
      if (ms < leastMs) return set(run, ms, ...given);
      this.#held.set(--this.#lastId, { dueMs: this.#nowMs + ms, run: () => run(...given) });
      return this.#lastId;
    };
    globalThis.setTimeout = hold as unknown as typeof setTimeout;
    globalThis.clearTimeout = (id) => {
      if (!this.#held.delete(id as unknown as number)) this.#clear(id);
    };
  }

  /** In how many milliseconds each is due. */
  get waits(): readonly number[] {
    return [...this.#held.values()].map(({ dueMs }) => dueMs - this.#nowMs);
  }

  /** Resolves once a timer is held that is due in so many milliseconds. */
  async until(ms: number): Promise<void> {
    while (!this.waits.includes(ms)) await new Promise((resolve) => this.#set(resolve, 1));
  }

  /** Lets time pass: what is due by then runs, the first first. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = [...this.#held].filter(([, { dueMs }]) => dueMs <= this.#nowMs)
      .sort(([, a], [, b]) => a.dueMs - b.dueMs);
    for (const [id, { run }] of due) if (this.#held.delete(id)) run();
  }

  [Symbol.dispose](): void {
    globalThis.setTimeout = this.#set;
    globalThis.clearTimeout = this.#clear;
  }
}
