import type { Database } from "../../db/sql.ts";
import { READ_CONNECTIONS_MAX } from "../../limits.ts";

/** Whose reads take turns with those of others: a project, by its id, or the overview of many. */
export type ReadOwner = number | "overview";

/** The reads of an owner that run or wait. */
interface OwnReads {
  running: number;
  /** Which read of all it was that began last, or came before the owner did: who has waited longer has less. */
  last: number;
  /** Begin the reads that wait, in the order in which they came. */
  readonly waiting: (() => void)[];
}

/**
 * Lets reads of a database run, so many at once. Of those that wait, the next is one of the owner that has the
 * fewest running, and of these the one whose last read began first: so whoever asks for much waits for
 * themselves. Where several run at once, one place is left for other owners.
 */
export class ReadTurns {
  readonly #owners = new Map<ReadOwner, OwnReads>();
  #begun = 0;
  #running = 0;
  readonly #ofOwnerMax: number;

  constructor(readonly atOnce: number) {
    this.#ofOwnerMax = Math.max(1, atOnce - 1);
  }

  /** Runs `work` in its turn. Throws the reason of `ended` if that is aborted before. */
  async take<T>(owner: ReadOwner, ended: AbortSignal, work: () => Promise<T>): Promise<T> {
    ended.throwIfAborted();
    // Behind the reads that have waited since then: whoever asks again and again overtakes nobody twice.
    const own = this.#owners.getOrInsertComputed(
      owner,
      () => ({ running: 0, last: this.#begun - 1, waiting: [] }),
    );
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    own.waiting.push(resolve);
    const leave = () => {
      const at = own.waiting.indexOf(resolve);
      if (at < 0) return;
      own.waiting.splice(at, 1);
      this.#forget(owner);
      reject(ended.reason);
    };
    ended.addEventListener("abort", leave);
    this.#beginNext();
    try {
      await promise;
    } finally {
      ended.removeEventListener("abort", leave);
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
      next.waiting.shift()!();
    }
  }

  #next(): OwnReads | null {
    let found: OwnReads | null = null;
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

  /** Forgets an owner of whom no read runs and none waits. */
  #forget(owner: ReadOwner): void {
    const { running, waiting } = this.#owners.get(owner)!;
    if (running === 0 && waiting.length === 0) this.#owners.delete(owner);
  }
}

const turns = new WeakMap<Database, ReadTurns>();

/** Returns the turns of a database: as many at once as it has connections for reads. */
export function turnsOf(reads: Database): ReadTurns {
  return turns.getOrInsertComputed(
    reads,
    () => new ReadTurns(reads.engine === "postgres" ? READ_CONNECTIONS_MAX : 1),
  );
}
