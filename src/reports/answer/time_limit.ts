import { type Database, DatabaseUnavailable, type Sql, StatementRefused } from "../../db/sql.ts";
import { RETRY_AFTER_S } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { ScanLost } from "../../scans/scan_pool.ts";
import { damageTold } from "./damaged_read.ts";

/** SQLSTATE of a statement that was cancelled, and of a reader in the way of a replica's recovery. */
const CANCELLED = "57014";
const RECOVERY_CONFLICT = "40001";

const TOO_SLOW = "The read took too long. Ask for a shorter range or fewer filters, or try again.";

function readTimeout(): Problem {
  return new Problem("read_timeout", TOO_SLOW, {
    headers: { "Retry-After": String(RETRY_AFTER_S) },
  });
}

/** When a read must have ended, on the clock that never jumps. */
class Deadline {
  readonly #endsAtMs: number;
  readonly #over = new AbortController();

  constructor(msMax: number, readonly gone?: AbortSignal) {
    this.#endsAtMs = performance.now() + msMax;
  }

  /**
   * Whole milliseconds, at least one: zero would mean no limit. Throws `read_timeout` once over, or
   * once nobody waits any more.
   */
  leftMs(): number {
    const left = this.#endsAtMs - performance.now();
    if (left <= 0 || this.gone?.aborted) throw readTimeout();
    return Math.ceil(left);
  }

  /** Aborted once it is over, or once nobody waits any more. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** What `work` comes to, or `read_timeout` when the time is over. */
  async of<T>(work: Promise<T>): Promise<T> {
    // What goes on past the deadline, or once nobody waits, fails with nobody to hear it.
    work.catch(() => {});
    const { promise, reject } = Promise.withResolvers<never>();
    const end = () => this.#over.abort(readTimeout());
    const timer = setTimeout(() => {
      end();
      reject(readTimeout());
    }, this.leftMs());
    this.gone?.addEventListener("abort", end);
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
      this.gone?.removeEventListener("abort", end);
    }
  }
}

/** The engine's own settings of one read. */
const SETTINGS = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
  // Compiling took longer than any read that it made faster.
  "SET LOCAL jit = off",
  "SET LOCAL work_mem = '64MB'",
  // What is asked for decides which plan is good.
  "SET LOCAL plan_cache_mode = force_custom_plan",
];

/** Runs `work` on one read-only snapshot of the database, for as long as it takes. */
export async function atOneMoment<T>(
  database: Database,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return await database.transaction(async (sql) => {
    await sql.script(SETTINGS.join("; "));
    return await work(sql);
  });
}

/** Each statement of a snapshot may take what is left of the read's time; the first one's is set. */
function timed(sql: Sql, deadline: Deadline): Sql {
  let isFirst = true;
  const limit = async () => {
    const leftMs = deadline.leftMs();
    if (!isFirst) await sql.script(`SET LOCAL statement_timeout = ${leftMs}`);
    isFirst = false;
  };
  return {
    async query(text, params) {
      await limit();
      return await sql.query(text, params);
    },
    async script(text) {
      await limit();
      await sql.script(text);
    },
    transaction: (work) => sql.transaction((inner) => work(timed(inner, deadline))),
  };
}

/** Whether what failed may succeed a little later, with nothing changed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ScanLost || error instanceof DatabaseUnavailable) return true;
  return error instanceof StatementRefused &&
    (error.sqlState === CANCELLED || error.sqlState === RECOVERY_CONFLICT);
}

/** What a read's failure means to whoever asks: a Problem, where it is more than a mistake of ours. */
export function readFailure(error: unknown): unknown {
  if (error instanceof ScanLost) {
    return new Problem("overloaded", "The read needed more than the server can hold. Try again.", {
      headers: { "Retry-After": String(RETRY_AFTER_S) },
    });
  }
  if (!(error instanceof StatementRefused)) return damageTold(error);
  if (error.sqlState === CANCELLED) return readTimeout();
  return error.sqlState === RECOVERY_CONFLICT ? new DatabaseUnavailable(error.message) : error;
}

/**
 * Runs `work` on one read-only snapshot of the database, within `msMax` milliseconds. The database is
 * told to cancel what takes longer, and what nobody waits for once `gone` is aborted: no statement
 * follows then, and scans end that are given the signal.
 * @throws Problem `read_timeout`, and what `work` throws.
 */
export async function withinTime<T>(
  reads: Database,
  msMax: number,
  work: (sql: Sql, signal: AbortSignal) => Promise<T>,
  gone?: AbortSignal,
): Promise<T> {
  const deadline = new Deadline(msMax, gone);
  try {
    return await deadline.of(reads.transaction(async (sql) => {
      const timeout = `SET LOCAL statement_timeout = ${deadline.leftMs()}`;
      await sql.script([...SETTINGS, timeout].join("; "));
      return await work(timed(sql, deadline), deadline.signal);
    }, gone));
  } catch (error) {
    throw readFailure(error);
  }
}
