import { KEYS_PER_LOOK_UP_MAX, KEYS_WAITING_MAX } from "../limits.ts";
import { retryable } from "../problem.ts";

type Waiting<T> = Map<string, PromiseWithResolvers<T | null>>;

/**
 * Looks names up with one query at a time. Names that arrive meanwhile are gathered into the next query, those
 * known from before first, so that a flood of made-up names does not delay them.
 */
export class LookUps<T> {
  readonly #known: Waiting<T> = new Map();
  readonly #unknown: Waiting<T> = new Map();
  readonly #fetch: (names: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  #running = false;

  /** @param fetch finds these names with one query */
  constructor(fetch: (names: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#fetch = fetch;
  }

  /**
   * Looks a name up with a query that is sent after this call. Null: there is no such name.
   * @param isKnown whether the name existed at the last look-up
   */
  ask(name: string, isKnown: boolean): Promise<T | null> {
    let waiting = this.#known.get(name) ?? this.#unknown.get(name);
    if (waiting === undefined) {
      if (!isKnown && this.#unknown.size >= KEYS_WAITING_MAX) {
        throw retryable("overloaded", "Too many API keys wait to be looked up. Try again.");
      }
      waiting = Promise.withResolvers();
      (isKnown ? this.#known : this.#unknown).set(name, waiting);
      if (!this.#running) this.#run();
    }
    return waiting.promise;
  }

  #take(): Waiting<T> {
    const batch: Waiting<T> = new Map();
    for (const queue of [this.#known, this.#unknown]) {
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
