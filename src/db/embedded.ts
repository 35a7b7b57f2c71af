import { join, resolve } from "node:path";
import { DATABASE_CLOSE_MS_MAX, DATABASE_PING_MS_MAX, DATABASE_TURN_MS_MAX } from "../limits.ts";
import { EngineThread } from "./engine_thread.ts";
import { type FolderLock, lockFolder } from "./folder_lock.ts";
import { type Database, DatabaseUnavailable, type Param, type Row, type Sql } from "./sql.ts";
import { runTransaction } from "./transaction.ts";

/** The embedded engine, with a count that only it has. */
export interface EmbeddedDatabase extends Database {
  readonly engine: "embedded";
  /** How often the engine has made the operating system write to the disk since it was opened. */
  fsyncCount(): Promise<number>;
}

export interface EmbeddedOptions {
  /** The session's `statement_timeout`: 0 for none. A transaction may set another. */
  readonly statementTimeoutMs?: number;
  readonly turnMsMax?: number;
}

/**
 * Opens the embedded PostgreSQL in `<dataDir>/database`, made on first use, in a thread of its own.
 * A resolved statement or transaction is on the disk. It has one session: statements and
 * transactions take turns, in the order in which they were asked for. What has not begun after
 * `turnMsMax` never will: it is refused with DatabaseUnavailable.
 *
 * An engine that fails, or that a statement holds past its time, is left and a new one is started on
 * the folder: what was under way fails with DatabaseUnavailable, what waits goes on.
 *
 * @throws FolderInUse if another process (or another open database of this one) has the folder;
 * FolderUnusable if it cannot be written; DatabaseUnavailable if the engine cannot start on it.
 */
export async function openEmbedded(
  dataDir: string,
  { statementTimeoutMs = 0, turnMsMax = DATABASE_TURN_MS_MAX }: EmbeddedOptions = {},
): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir);
  const lock = await lockFolder(folder);
  const start = async () => {
    const engine = new EngineThread();
    try {
      await engine.open(join(folder, "database"), statementTimeoutMs);
      return engine;
    } catch (error) {
      engine.end("it could not start");
      await engine.left();
      throw error;
    }
  };
  try {
    return new SingleSessionDatabase(await start(), start, lock, turnMsMax);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class SingleSessionDatabase implements EmbeddedDatabase {
  readonly engine = "embedded";
  #turn: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | null = null;

  constructor(
    public thread: EngineThread,
    readonly start: () => Promise<EngineThread>,
    readonly lock: FolderLock,
    readonly turnMsMax: number,
  ) {}

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#inTurn((thread) => thread.query<R>(text, params));
  }

  script(text: string): Promise<void> {
    return this.#inTurn((thread) => thread.script(text));
  }

  transaction<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#inTurn(async (thread) => {
      const cancel = () => thread.cancel();
      signal?.addEventListener("abort", cancel);
      try {
        return await runTransaction(thread, work);
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    });
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
    await this.thread.left().catch(() => {});
    this.lock.release();
  }

  #inTurn<T>(run: (thread: EngineThread) => Promise<T>): Promise<T> {
    if (this.#closed !== null) {
      return Promise.reject(new DatabaseUnavailable("The database has been closed"));
    }
    const { promise: late, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new DatabaseUnavailable(`The embedded database was busy for ${this.turnMsMax} ms`));
    }, this.turnMsMax);
    const mine = this.#turn.then(async () => {
      if (this.thread.lost !== null) await this.#startAgain();
      clearTimeout(timer);
      return await (isLate ? late : run(this.thread));
    }).finally(() => clearTimeout(timer));
    this.#turn = mine.catch(() => {});
    return Promise.race([mine, late]);
  }

  /** Everything acknowledged is on the disk: the new engine recovers it from the log. */
  async #startAgain(): Promise<void> {
    await this.thread.left();
    this.thread = await this.start();
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
