import { type Felt, feltOf } from "./row.ts";
import type { Taken, ToUsers, UsersOrder } from "./users_worker.ts";

/** What users got in one span of time, writing and reading. */
export interface FeltByUsers {
  readonly writes: Felt;
  readonly reads: Felt;
}

/** Legitimate users at work, until they are told to finish. */
export class Users implements Disposable {
  readonly #worker = new Worker(new URL("users_worker.ts", import.meta.url), { type: "module" });

  constructor(order: UsersOrder) {
    this.#tell({ kind: "start", order });
  }

  /** From now on they talk to the server at `url`. */
  target(url: string): void {
    this.#tell({ kind: "target", url });
  }

  /** What they got since this was asked last. */
  async felt(): Promise<FeltByUsers> {
    const { writes, reads } = await this.#ask<Taken>({ kind: "take" });
    return { writes: feltOf(writes), reads: feltOf(reads) };
  }

  /** They begin nothing new. @returns the ids of all acknowledged events */
  finish(): Promise<string[]> {
    return this.#ask({ kind: "finish" });
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }

  #tell(message: ToUsers): void {
    this.#worker.postMessage(message);
  }

  #ask<T>(message: ToUsers): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = (event: MessageEvent<T>) => resolve(event.data);
      this.#worker.onerror = (event) => reject(new Error(event.message));
      this.#tell(message);
    });
  }
}
