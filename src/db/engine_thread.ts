import { DATABASE_FENCE_MS_MAX, DATABASE_STATEMENT_MARGIN_MS } from "../limits.ts";
import { FENCE_CLOSED, FENCE_INSIDE, FENCE_WORDS } from "./embedded_fence.ts";
import type { BinaryRow } from "./binary_rows.ts";
import { takeEngineWorker } from "./engine_worker.ts";
import type { OpenedEngine, WorkerReply, WorkerRequest } from "./embedded_worker.ts";
import { refusal } from "./refusal.ts";
import { DatabaseUnavailable, DiskFull, type Param, type Row, textParams } from "./sql.ts";
import type { Session } from "./transaction.ts";

type Question = WorkerRequest extends infer R ? R extends { id: number } ? Omit<R, "id"> : never
  : never;

interface Waiting {
  readonly question: Question;
  readonly answer: PromiseWithResolvers<readonly unknown[]>;
}

/** How often the cancel flags are set again, since between two messages of a statement they have no effect. */
const CANCEL_AGAIN_MS = 20;
/** Statements that end a transaction are never cancelled: the session could stay in the transaction. */
const ENDS_TRANSACTION = /^(COMMIT|ROLLBACK)/;

const CANCELLABLE: ReadonlySet<Question["kind"]> = new Set(["query", "binary", "script"]);

/**
 * One engine in its own thread, which answers one question at a time. A statement past the session's
 * `statement_timeout` is cancelled by setting the flags that PostgreSQL's signal handlers would set; it ends
 * within milliseconds (57014). If it does not, the engine is abandoned. Once the engine is lost, every
 * question fails.
 */
export class EngineThread implements Session {
  #worker = takeEngineWorker();
  #fence = new Int32Array(new SharedArrayBuffer(4 * FENCE_WORDS));
  #waiting: Waiting[] = [];
  #current: Waiting | null = null;
  #currentSinceMs = 0;
  #lastId = 0;
  #limitMs = 0;
  #timers: ReturnType<typeof setTimeout>[] = [];
  #cancelFlags: (() => void) | null = null;
  #lost: DatabaseUnavailable | null = null;
  #logBytes = 0;

  constructor() {
    this.#worker.onmessage = (event: MessageEvent<WorkerReply>) => this.#answer(event.data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message);
    };
  }

  /** Why the engine can no longer be used; null while it can. */
  get lost(): DatabaseUnavailable | null {
    return this.#lost;
  }

  /** For how long the engine owes an answer; null: it owes none. */
  get busyMs(): number | null {
    return this.#current === null ? null : performance.now() - this.#currentSinceMs;
  }

  /** Bytes of the write-ahead log since the last checkpoint. */
  get logBytes(): number {
    return this.#logBytes;
  }

  /**
   * Starts the engine on a folder. A missing cluster is made, from the template if there is one.
   * @returns false: it was made without a template, and another thread must open it
   */
  async open(
    folder: string,
    statementTimeoutMs: number,
    template: string | null,
  ): Promise<boolean> {
    const fence = this.#fence;
    const [row] = await this.ask({ kind: "open", folder, fence, statementTimeoutMs, template });
    if (row === undefined) return false;
    const { memory, queryCancelPendingAt, interruptPendingAt } = row as OpenedEngine;
    const words = new Int32Array(memory);
    this.#cancelFlags = () => {
      Atomics.store(words, queryCancelPendingAt >> 2, 1);
      Atomics.store(words, interruptPendingAt >> 2, 1);
    };
    return true;
  }

  ask(question: Question): Promise<readonly unknown[]> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const answer = Promise.withResolvers<readonly unknown[]>();
    this.#waiting.push({ question, answer });
    if (this.#current === null) this.#next();
    return answer.promise;
  }

  async query<R extends Row = Row>(text: string, params: readonly Param[] = []): Promise<R[]> {
    try {
      return await this.ask({ kind: "query", text, params: textParams(params) }) as R[];
    } catch (error) {
      if (text.startsWith("ROLLBACK")) this.end("a transaction could not be undone");
      throw error;
    }
  }

  async binary(text: string, params: readonly Param[] = []): Promise<BinaryRow[]> {
    return await this.ask({ kind: "binary", text, params: textParams(params) }) as BinaryRow[];
  }

  async script(text: string): Promise<void> {
    await this.ask({ kind: "script", text });
  }

  /** Cancels the statement that runs now, if any. Repeated calls change nothing. */
  cancel(): void {
    const question = this.#current?.question;
    if (question === undefined || !CANCELLABLE.has(question.kind)) return;
    if (question.kind === "query" && ENDS_TRANSACTION.test(question.text)) return;
    this.#clearTimers();
    const late = () => this.end("a statement could not be stopped");
    this.#timers = [
      setInterval(() => this.#cancelFlags?.(), CANCEL_AGAIN_MS),
      setTimeout(late, DATABASE_STATEMENT_MARGIN_MS),
    ];
    this.#cancelFlags?.();
  }

  end(reason: string, diskIsFull = false): void {
    if (this.#lost !== null) return;
    const Lost = diskIsFull ? DiskFull : DatabaseUnavailable;
    this.#lost = new Lost(`The embedded database has stopped: ${reason}`);
    this.#clearTimers();
    Atomics.store(this.#fence, FENCE_CLOSED, 1);
    this.#worker.terminate();
    this.#current?.answer.reject(this.#lost);
    for (const { answer } of this.#waiting) answer.reject(this.#lost);
    this.#current = null;
    this.#waiting = [];
  }

  /** Resolves once an ended engine cannot change its folder any more, even if its thread still runs. */
  async left(): Promise<void> {
    const until = performance.now() + DATABASE_FENCE_MS_MAX;
    while (Atomics.load(this.#fence, FENCE_INSIDE) > 0) {
      if (performance.now() > until) {
        throw new DatabaseUnavailable("The embedded database waits for its disk");
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #next(): void {
    this.#current = this.#waiting.shift() ?? null;
    if (this.#current === null) return;
    const { question } = this.#current;
    this.#currentSinceMs = performance.now();
    this.#worker.postMessage({ ...question, id: ++this.#lastId });
    if (this.#limitMs > 0) this.#timers = [setTimeout(() => this.cancel(), this.#limitMs)];
  }

  #answer(reply: WorkerReply): void {
    const current = this.#current;
    if (current === null) return;
    this.#clearTimers();
    this.#limitMs = reply.limitMs;
    this.#logBytes = reply.logBytes;
    if ("rows" in reply) current.answer.resolve(reply.rows);
    else if (reply.sqlState !== null) current.answer.reject(refusal(reply.failure, reply.sqlState));
    else {
      // The engine around PostgreSQL failed: none of its answers can be trusted from now on.
      this.end(reply.failure, reply.diskIsFull);
      return;
    }
    this.#current = null;
    this.#next();
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }
}
