import { join, resolve } from "node:path";
import {
  DATABASE_CLOSE_MS_MAX,
  DATABASE_IDLE_MS,
  DATABASE_LOG_BYTES_MAX,
  DATABASE_START_PAUSE_MS,
  DATABASE_TURN_MS_MAX,
  DISK_RESERVE_PAUSE_MS,
} from "../limits.ts";
import type { BinaryRow } from "./binary_rows.ts";
import { atMost, ping, promptly } from "./deadline.ts";
import { DiskReserve } from "./disk_reserve.ts";
import { type DiskProbe, DiskSpace } from "./disk_space.ts";
import { EngineThread } from "./engine_thread.ts";
import { EngineTurns, type TurnKind } from "./engine_turns.ts";
import { type FolderLock, lockFolder } from "./folder_lock.ts";
import {
  type Database,
  DatabaseUnavailable,
  DiskFull,
  type Param,
  type Row,
  type Settings,
  type Sql,
} from "./sql.ts";
import { runTransaction, type Session } from "./transaction.ts";

export interface EmbeddedDatabase extends Database {
  readonly engine: "embedded";
  readonly disk: DiskSpace;
  /** Counts the engine's syncs to the disk since it was opened. */
  fsyncCount(): Promise<number>;
}

export interface EmbeddedOptions {
  /** The session's `statement_timeout`; 0: none. A transaction may set another one. */
  readonly statementTimeoutMs?: number;
  readonly turnMsMax?: number;
  readonly probeDisk?: DiskProbe;
  /** The path of the template of a new cluster; null, or no such file: initdb makes an empty one. */
  readonly template?: string | null;
}

/**
 * Opens the embedded PostgreSQL in `<dataDir>/database`, made on first use, in its own thread. When a statement or
 * transaction resolves, it is on the disk. There is one session, for which statements and transactions take turns, as
 * `EngineTurns` says. One that has not begun after `turnMsMax` is refused with DatabaseUnavailable.
 *
 * An engine that fails, or that does not end a statement in time, is abandoned, and a new one starts on the
 * folder: the current turn fails with DatabaseUnavailable, waiting turns continue.
 *
 * While the disk is full, the session is read-only: writes fail with DiskFull, reads work. Checkpoints, for which
 * PGlite has no process, bound the size of the log.
 *
 * @throws FolderInUse if another process (or another open database of this one) has the folder;
 * FolderUnusable if it cannot be written; DatabaseUnavailable if the engine cannot start on it.
 */
export async function openEmbedded(
  dataDir: string,
  options: EmbeddedOptions = {},
): Promise<EmbeddedDatabase> {
  const { statementTimeoutMs = 0, turnMsMax = DATABASE_TURN_MS_MAX, probeDisk, template = null } =
    options;
  const folder = resolve(dataDir);
  const lock = lockFolder(folder);
  const reserve = new DiskReserve(folder);
  const tryStart = async (): Promise<EngineThread> => {
    const engine = new EngineThread();
    try {
      if (await engine.open(join(folder, "database"), statementTimeoutMs, template)) return engine;
      engine.end("it has made the database");
      return await tryStart();
    } catch (error) {
      engine.end("it could not start");
      await engine.left();
      throw error;
    }
  };
  const start = () =>
    tryStart().catch(async (error) => {
      if (!(error instanceof DiskFull) || !await reserve.giveUp()) throw error;
      return await tryStart();
    });
  try {
    const engine = await start();
    const disk = new DiskSpace(folder, probeDisk);
    await disk.look();
    return new SingleSessionDatabase(engine, start, { lock, disk, reserve }, turnMsMax);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class SingleSessionDatabase implements EmbeddedDatabase {
  readonly engine = "embedded";
  readonly #turns = new EngineTurns(() => this.#shortenLog());
  #closed: Promise<void> | null = null;
  readonly disk: DiskSpace;
  readonly #reserving: ReturnType<typeof setInterval>;
  #isReadOnly = false;
  /** Whether a turn was refused, and none has begun in time since. */
  #isRefusing = false;
  #startFailure: { readonly error: unknown; readonly atMs: number } | null = null;
  #checkpointFailedAtMs = -Infinity;

  constructor(
    private thread: EngineThread,
    readonly start: () => Promise<EngineThread>,
    readonly folder: { lock: FolderLock; disk: DiskSpace; reserve: DiskReserve },
    readonly turnMsMax: number,
  ) {
    this.disk = folder.disk;
    this.disk.onChange(() => this.#startFailure = null);
    this.#reserving = setInterval(() => {
      if (this.disk.reading.status === "ok") void folder.reserve.make();
    }, DISK_RESERVE_PAUSE_MS);
    Deno.unrefTimer(Number(this.#reserving));
  }

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#inTurn("other", (thread) => thread.query<R>(text, params));
  }

  binary(text: string, params?: readonly Param[]): Promise<BinaryRow[]> {
    return this.transaction((sql) => sql.binary(text, params));
  }

  script(text: string): Promise<void> {
    return this.#inTurn("other", (thread) => thread.script(text));
  }

  transaction<T>(
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
    settings?: Settings,
  ): Promise<T> {
    return this.#inTurn(settings === undefined ? "other" : "snapshot", async (thread) => {
      const cancel = () => thread.cancel();
      signal?.addEventListener("abort", cancel);
      try {
        return await runTransaction(this.#session(thread), work, settings?.() ?? null);
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    });
  }

  /**
   * Takes no turn: a read keeps its own for as long as it counts. An engine at work counts as one that answers, until
   * others are refused, or would be because of one statement.
   */
  async ping(): Promise<void> {
    const { thread: { lost, busyMs } } = this;
    const isLate = this.#isRefusing || (busyMs ?? 0) > this.turnMsMax;
    if (this.#closed !== null || lost !== null || isLate) {
      return await ping(this);
    }
    if (busyMs === null) await promptly(this.fsyncCount());
  }

  async rest(msMax: number): Promise<void> {
    const endsAtMs = performance.now() + msMax;
    const turns = this.#turns;
    for (let { asked } = turns; performance.now() < endsAtMs; asked = turns.asked) {
      await new Promise((resolve) => setTimeout(resolve, DATABASE_IDLE_MS));
      if (turns.asked === asked && turns.over === asked) return;
    }
  }

  async fsyncCount(): Promise<number> {
    const [row] = await this.thread.ask({ kind: "diagnostics" });
    return (row as { fsyncCount: number }).fsyncCount;
  }

  /** Waits for the turns asked for before (5 s at most), writes a checkpoint and frees the folder. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  async #close(): Promise<void> {
    clearInterval(this.#reserving);
    this.disk.close();
    const last = this.#turns.settled().then(() => this.thread.ask({ kind: "close" }));
    // A late or failed end loses nothing that was acknowledged: the next start recovers all from the log.
    await atMost(DATABASE_CLOSE_MS_MAX, last);
    this.thread.end("it has been closed");
    await this.thread.left().catch(() => {});
    this.folder.lock.release();
  }

  #inTurn<T>(kind: TurnKind, run: (thread: EngineThread) => Promise<T>): Promise<T> {
    if (this.#closed !== null) {
      return Promise.reject(new DatabaseUnavailable("The database has been closed"));
    }
    const { promise: late, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = this.#isRefusing = true;
      reject(new DatabaseUnavailable(`The embedded database was busy for ${this.turnMsMax} ms`));
    }, this.turnMsMax);
    const mine = this.#turns.take(kind, async () => {
      await this.#prepare();
      clearTimeout(timer);
      if (isLate) return await late;
      this.#isRefusing = false;
      return await this.#run(run);
    }).finally(() => clearTimeout(timer));
    return Promise.race([mine, late]);
  }

  /** Runs a turn. */
  async #run<T>(run: (thread: EngineThread) => Promise<T>): Promise<T> {
    try {
      return await run(this.thread);
    } catch (error) {
      if (error instanceof DiskFull) await this.disk.look();
      throw this.#asDiskFull(error);
    }
  }

  /** Returns DiskFull for a failure while the session is read-only, which only a full disk makes it. */
  #asDiskFull(error: unknown): unknown {
    return this.#isReadOnly && error instanceof DatabaseUnavailable && !(error instanceof DiskFull)
      ? new DiskFull("The disk of the embedded database is full", { cause: error })
      : error;
  }

  /**
   * Returns the session of a transaction. Its statements fail with DiskFull, too: a thread that borrows the
   * transaction sees the failure of the statement, not that of the turn.
   */
  #session(thread: EngineThread): Session {
    const rethrow = (error: unknown) => {
      throw this.#asDiskFull(error);
    };
    return {
      query: (text, params) => thread.query<never>(text, params).catch(rethrow),
      binary: (text, params) => thread.binary(text, params).catch(rethrow),
      script: (text) => thread.script(text).catch(rethrow),
    };
  }

  /**
   * Makes sure that the engine is usable, and read-only exactly while the disk is full. A full disk is read again for
   * every turn, so that freed space takes effect at once.
   */
  async #prepare(): Promise<void> {
    if (this.disk.reading.status === "full") await this.disk.look();
    if (this.thread.lost !== null) await this.#startAgain();
    const isFull = this.disk.reading.status === "full";
    if (isFull === this.#isReadOnly) return;
    await this.thread.script(`SET default_transaction_read_only = ${isFull ? "on" : "off"}`);
    this.#isReadOnly = isFull;
  }

  /** Starts a new engine. It recovers everything acknowledged from the log. */
  async #startAgain(): Promise<void> {
    const failed = this.#startFailure;
    if (failed !== null && performance.now() - failed.atMs < DATABASE_START_PAUSE_MS) {
      throw failed.error;
    }
    try {
      await this.thread.left();
      this.thread = await this.start();
      this.#isReadOnly = false;
      this.#startFailure = null;
    } catch (error) {
      this.#startFailure = { error, atMs: performance.now() };
      throw error;
    }
  }

  /** Writes a checkpoint if the log is long. A failure changes nothing: the log grows until one succeeds. */
  async #shortenLog(): Promise<void> {
    if (this.#closed !== null || this.thread.logBytes < DATABASE_LOG_BYTES_MAX) return;
    if (performance.now() - this.#checkpointFailedAtMs < DATABASE_START_PAUSE_MS) return;
    try {
      await this.thread.ask({ kind: "checkpoint" });
    } catch {
      this.#checkpointFailedAtMs = performance.now();
    }
  }
}
