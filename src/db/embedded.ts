import { join, resolve } from "node:path";
import { DATABASE_CLOSE_MS_MAX, DATABASE_PING_MS_MAX, DATABASE_TURN_MS_MAX } from "../limits.ts";
import type { WorkerReply, WorkerRequest } from "./embedded_worker.ts";
import { type FolderLock, lockFolder } from "./folder_lock.ts";
import { refusal } from "./refusal.ts";
import { type Database, DatabaseUnavailable, type Param, type Row, type Sql } from "./sql.ts";
import { runTransaction, type Session } from "./transaction.ts";

/** The embedded engine, with a count that only it has. */
export interface EmbeddedDatabase extends Database {
  readonly engine: "embedded";
  /** How often the engine has made the operating system write to the disk since it was opened. */
  fsyncCount(): Promise<number>;
}

/**
 * Opens the embedded PostgreSQL in `<dataDir>/database`, made on first use, in a thread of its own.
 * A resolved statement or transaction is on the disk. It has one session: statements and
 * transactions take turns, in the order in which they were asked for. What has not begun after
 * `turnMsMax` never will: it is refused with DatabaseUnavailable.
 *
 * @throws FolderInUse if another process (or another open database of this one) has the folder;
 * FolderUnusable if it cannot be written; DatabaseUnavailable if the engine cannot start on it.
 */
export async function openEmbedded(
  dataDir: string,
  turnMsMax: number = DATABASE_TURN_MS_MAX,
): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir);
  const lock = await lockFolder(folder);
  const engine = new EngineThread();
  try {
    await engine.ask({ kind: "open", folder: join(folder, "database") });
  } catch (error) {
    engine.end("it could not start");
    lock.release();
    throw error;
  }
  return new SingleSessionDatabase(engine, lock, turnMsMax);
}

type Question = WorkerRequest extends infer R ? R extends { id: number } ? Omit<R, "id"> : never
  : never;

/** Questions to the worker and their answers. Once the worker is lost, every question fails. */
class EngineThread implements Session {
  #worker = new Worker(new URL("./embedded_worker.ts", import.meta.url), { type: "module" });
  #waiting = new Map<number, PromiseWithResolvers<readonly unknown[]>>();
  #lastId = 0;
  #lost: DatabaseUnavailable | null = null;

  constructor() {
    this.#worker.onmessage = (event: MessageEvent<WorkerReply>) => this.#answer(event.data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(event.message);
    };
  }

  ask(question: Question): Promise<readonly unknown[]> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const answer = Promise.withResolvers<readonly unknown[]>();
    const id = ++this.#lastId;
    this.#waiting.set(id, answer);
    this.#worker.postMessage({ ...question, id });
    return answer.promise;
  }

  async query<R extends Row = Row>(text: string, params: readonly Param[] = []): Promise<R[]> {
    const values = params.map((value) => value === null ? null : String(value));
    return await this.ask({ kind: "query", text, params: values }) as R[];
  }

  async script(text: string): Promise<void> {
    await this.ask({ kind: "script", text });
  }

  end(reason: string): void {
    if (this.#lost !== null) return;
    this.#lost = new DatabaseUnavailable(`The embedded database has stopped: ${reason}`);
    this.#worker.terminate();
    for (const answer of this.#waiting.values()) answer.reject(this.#lost);
    this.#waiting.clear();
  }

  #answer(reply: WorkerReply): void {
    const answer = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (answer === undefined) return;
    if ("rows" in reply) answer.resolve(reply.rows);
    else if (reply.sqlState !== null) answer.reject(refusal(reply.failure, reply.sqlState));
    else {
      // Not PostgreSQL spoke but what is around it: nothing that it would say now can be relied on.
      answer.reject(new DatabaseUnavailable(`The embedded database failed: ${reply.failure}`));
      this.end(reply.failure);
    }
  }
}

class SingleSessionDatabase implements EmbeddedDatabase {
  readonly engine = "embedded";
  #turn: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | null = null;

  constructor(
    readonly thread: EngineThread,
    readonly lock: FolderLock,
    readonly turnMsMax: number,
  ) {}

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#inTurn(() => this.thread.query<R>(text, params));
  }

  script(text: string): Promise<void> {
    return this.#inTurn(() => this.thread.script(text));
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(() => runTransaction(this.thread, work));
  }

  async ping(): Promise<void> {
    const late = new DatabaseUnavailable(`No answer within ${DATABASE_PING_MS_MAX} ms`);
    await within(DATABASE_PING_MS_MAX, this.query("SELECT 1"), late);
  }

  async fsyncCount(): Promise<number> {
    const [row] = await this.thread.ask({ kind: "diagnostics" });
    return (row as { fsyncCount: number }).fsyncCount;
  }

  /** Lets what was asked before come to its end (5 s at most), writes a checkpoint, frees the folder. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    const late = new DatabaseUnavailable("The embedded database did not close in time");
    const last = this.#turn.catch(() => {}).then(() => this.thread.ask({ kind: "close" }));
    // A late or failed end loses nothing that was acknowledged: the next start recovers it from the log.
    await within(DATABASE_CLOSE_MS_MAX, last, late).catch(() => {});
    this.thread.end("it has been closed");
    this.lock.release();
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) {
      return Promise.reject(new DatabaseUnavailable("The database has been closed"));
    }
    const { promise: late, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new DatabaseUnavailable(`The embedded database was busy for ${this.turnMsMax} ms`));
    }, this.turnMsMax);
    const mine = this.#turn.then(() => {
      clearTimeout(timer);
      return isLate ? late : run();
    });
    this.#turn = mine.catch(() => {});
    return Promise.race([mine, late]);
  }
}

async function within<T>(ms: number, work: Promise<T>, late: Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
