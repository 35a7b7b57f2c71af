/** Whose work takes turns with that of others: a project, by its id, or the overview of many. */
export type TurnOwner = number | "overview";

/** A work that waits, and how it begins. */
interface Waiting {
  readonly isNextPart: boolean;
  readonly begin: () => void;
}

/** The works of an owner that run or wait. */
interface OwnWorks {
  running: number;
  /** Which work of all it was that began last, or came before the owner did: who has waited longer has less. */
  last: number;
  /** In the order in which they begin: that in which they came, those that go on before the others. */
  readonly waiting: Waiting[];
}

/**
 * Lets works that each take a connection run, so many at once. Of those that wait, the next is one of the owner that has
 * the fewest running, and of these the one whose last work began first: so whoever asks for much waits for
 * themselves. Where several run at once, one place is left for other owners.
 */
export class OwnerTurns {
  readonly #owners = new Map<TurnOwner, OwnWorks>();
  #begun = 0;
  #running = 0;
  readonly #ofOwnerMax: number;

  constructor(readonly atOnce: number) {
    this.#ofOwnerMax = Math.max(1, atOnce - 1);
  }

  /**
   * Runs `work` in its turn. Throws the reason of `ended` if that is aborted before.
   * @param isNextPart whether it goes on with what has begun in an earlier turn: of its owner's works, it is before those
   * that have not
   */
  async take<T>(
    owner: TurnOwner,
    ended: AbortSignal | null,
    work: () => Promise<T>,
    isNextPart = false,
  ): Promise<T> {
    ended?.throwIfAborted();
    // Behind the works that have waited since then: whoever asks again and again overtakes nobody twice.
    const own = this.#owners.getOrInsertComputed(
      owner,
      () => ({ running: 0, last: this.#begun - 1, waiting: [] }),
    );
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { isNextPart, begin: resolve };
    const others = isNextPart ? own.waiting.findIndex((other) => !other.isNextPart) : -1;
    own.waiting.splice(others < 0 ? own.waiting.length : others, 0, waiting);
    const leave = () => {
      const at = own.waiting.indexOf(waiting);
      if (at < 0) return;
      own.waiting.splice(at, 1);
      this.#forget(owner);
      reject(ended?.reason);
    };
    ended?.addEventListener("abort", leave);
    this.#beginNext();
    try {
      await promise;
    } finally {
      ended?.removeEventListener("abort", leave);
    }
    try {
      return await work();
    } finally {
      this.#running--;
      own.running--;
      this.#forget(owner);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    while (this.#running < this.atOnce) {
      const next = this.#next();
      if (next === null) return;
      this.#running++;
      next.running++;
      next.last = ++this.#begun;
      next.waiting.shift()!.begin();
    }
  }

  #next(): OwnWorks | null {
    let found: OwnWorks | null = null;
    for (const own of this.#owners.values()) {
      const { running, last, waiting } = own;
      if (waiting.length === 0 || running === this.#ofOwnerMax) continue;
      if (
        found === null || running < found.running ||
        running === found.running && last < found.last
      ) found = own;
    }
    return found;
  }

  /** Forgets an owner of whom no work runs and none waits. */
  #forget(owner: TurnOwner): void {
    const { running, waiting } = this.#owners.get(owner)!;
    if (running === 0 && waiting.length === 0) this.#owners.delete(owner);
  }
}
