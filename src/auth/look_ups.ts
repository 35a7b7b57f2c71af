import { KEYS_PER_LOOK_UP_MAX, KEYS_WAITING_MAX, RETRY_AFTER_S } from "../limits.ts";
import { Problem } from "../problem.ts";

type Waiting<T> = Map<string, PromiseWithResolvers<T | null>>;

/**
 * Names that gather while a query is under way, and go together in the next: those that were known a
 * moment ago first, so that no flood of made-up ones keeps them waiting.
 */
export class LookUps<T> {
  readonly #known: Waiting<T> = new Map();
  readonly #strange: Waiting<T> = new Map();
  readonly #fetch: (names: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  #running = false;

  /** @param fetch one query: what is known of each of these names */
  constructor(fetch: (names: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#fetch = fetch;
  }

  /** What the database says of a name, asked after this call. Null: it does not know it. */
  ask(name: string, isKnown: boolean): Promise<T | null> {
    let waiting = this.#known.get(name) ?? this.#strange.get(name);
    if (waiting === undefined) {
      if (!isKnown && this.#strange.size >= KEYS_WAITING_MAX) {
        throw new Problem("overloaded", "Too many API keys wait to be looked up. Try again.", {
          headers: { "Retry-After": String(RETRY_AFTER_S) },
        });
      }
      waiting = Promise.withResolvers();
      (isKnown ? this.#known : this.#strange).set(name, waiting);
      if (!this.#running) this.#run();
    }
    return waiting.promise;
  }

  #take(): Waiting<T> {
    const batch: Waiting<T> = new Map();
    for (const queue of [this.#known, this.#strange]) {
      for (const [name, waiting] of queue) {
        if (batch.size === KEYS_PER_LOOK_UP_MAX) return batch;
        batch.set(name, waiting);
        queue.delete(name);
      }
    }
    return batch;
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let batch = this.#take(); batch.size > 0; batch = this.#take()) {
      try {
        const found = await this.#fetch([...batch.keys()]);
        for (const [name, waiting] of batch) waiting.resolve(found.get(name) ?? null);
      } catch (error) {
        for (const waiting of batch.values()) waiting.reject(error);
      }
    }
    this.#running = false;
  }
}
