import type { Database } from "../../db/sql.ts";
import { READ_CONNECTIONS_MAX } from "../../limits.ts";

interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Lets reads of a database run, so many at once. Of those that wait, the next is one of the owner that has the
 * fewest under way, and of these the one whose last read began first: so whoever asks for much waits for
 * themselves. Where several run at once, one place is left for other owners.
 */
export class ReadTurns {
  /** By owner with reads under way or waiting: how many are under way, and which beginning the last one was. */
  readonly #owners = new Map<string, { under: number; last: number }>();
  readonly #waiting: Waiting[] = [];
  #begun = 0;
  #under = 0;
  readonly #ofOwnerMax: number;

  constructor(readonly atOnce: number) {
    this.#ofOwnerMax = Math.max(1, atOnce - 1);
  }

  /** Runs `work` in its turn. Throws the reason of `ended` if that is aborted before. */
  async take<T>(owner: string, ended: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { owner, begin: resolve };
    this.#waiting.push(waiting);
    const leave = () => {
      const at = this.#waiting.indexOf(waiting);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
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
      this.#under--;
      this.#owners.get(owner)!.under--;
      this.#forget(owner);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    while (this.#under < this.atOnce) {
      const next = this.#next();
      if (next === null) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      const { under = 0 } = this.#owners.get(next.owner) ?? {};
      this.#owners.set(next.owner, { under: under + 1, last: ++this.#begun });
      this.#under++;
      next.begin();
    }
  }

  #next(): Waiting | null {
    let [found, fewest, earliest] = [null as Waiting | null, this.#ofOwnerMax, Infinity];
    for (const waiting of this.#waiting) {
      const { under = 0, last = 0 } = this.#owners.get(waiting.owner) ?? {};
      if (under > fewest || under === fewest && last >= earliest || under === this.#ofOwnerMax) {
        continue;
      }
      [found, fewest, earliest] = [waiting, under, last];
    }
    return found;
  }

  /** Forgets an owner of whom no read is under way and none waits. */
  #forget(owner: string): void {
    if ((this.#owners.get(owner)?.under ?? 0) > 0) return;
    if (!this.#waiting.some((waiting) => waiting.owner === owner)) this.#owners.delete(owner);
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
