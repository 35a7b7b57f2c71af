import { ALL_ROWS_FETCHED } from "../../db/binary_rows.ts";
import { isRefused, unavailability } from "../../db/refusal.ts";
import { type Database, READ_SNAPSHOT, type Sql } from "../../db/sql.ts";
import { statementsRunBy } from "../../db/wrapped_sql.ts";
import { OwnerTurns, type TurnOwner } from "../../turns/owner_turns.ts";
import { Problem, retryable } from "../../problem.ts";
import { ScanLost } from "../../scans/scan_pool.ts";
import { DAMAGE_ADVICE, damageOf } from "../../store/damage.ts";
import { READ_CONNECTIONS_MAX } from "../../limits.ts";

const turns = new WeakMap<Database, OwnerTurns>();

/** Returns the turns of a database: as many at once as it has connections for reads. */
export function turnsOf(reads: Database): OwnerTurns {
  return turns.getOrInsertComputed(
    reads,
    () => new OwnerTurns(reads.engine === "postgres" ? READ_CONNECTIONS_MAX : 1),
  );
}

/** SQLSTATE of a cancelled statement. */
const CANCELLED = "57014";

const readTimeout = (): Problem =>
  retryable(
    "read_timeout",
    "The read took too long. Ask for a shorter range or fewer filters, or try again.",
  );

/** The end of a read's time, on the monotonic clock: after `msMax`, or when the caller is gone. */
function createDeadline(msMax: number, gone?: AbortSignal) {
  const endsAtMs = performance.now() + msMax;
  const over = new AbortController();

  /**
   * Returns the remaining time in whole milliseconds, at least one, because zero would mean no limit. Throws
   * `read_timeout` when the time is over or the caller is gone.
   */
  function leftMs(): number {
    const left = endsAtMs - performance.now();
    if (left <= 0 || gone?.aborted) throw readTimeout();
    return Math.ceil(left);
  }

  /** Awaits what `begin` begins; throws `read_timeout` when the time is over, or was before. */
  async function of<T>(begin: () => Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const end = () => over.abort(readTimeout());
    const timer = setTimeout(() => {
      end();
      reject(readTimeout());
    }, leftMs());
    gone?.addEventListener("abort", end);
    try {
      const work = begin();
      // After the deadline `work` is not awaited any more, and its failure must not be an unhandled rejection.
      work.catch(() => {});
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener("abort", end);
    }
  }

  // The signal is aborted when the time is over or the caller is gone.
  return { leftMs, of, signal: over.signal };
}

const SETTINGS = [
  READ_SNAPSHOT,
  // Compiling takes longer than it saves in any read.
  "SET LOCAL jit = off",
  "SET LOCAL work_mem = '64MB'",
  // Which plan is good depends on the parameters.
  "SET LOCAL plan_cache_mode = force_custom_plan",
  ALL_ROWS_FETCHED,
];

/** Runs `work` on one read-only snapshot of the database, for as long as it takes. */
export async function atOneMoment<T>(
  database: Database,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return await database.transaction(work, undefined, () => SETTINGS);
}

/** How much longer than its read a statement may run: setting the limit anew takes a round trip. */
const OVERTIME_MS_MAX = 100;

/**
 * Limits each statement of a snapshot to the read's remaining time.
 * @param setMs when its limit was set. Each inner transaction has a time of its own, since the limit that it sets ends
 * where it is rolled back
 */
function timed(snapshot: Sql, leftMs: () => number, setMs = performance.now()): Sql {
  const limited = statementsRunBy(snapshot, async (statement) => {
    const left = leftMs();
    if (performance.now() - setMs >= OVERTIME_MS_MAX) {
      setMs = performance.now();
      await snapshot.script(`SET LOCAL statement_timeout = ${left}`);
    }
    return await statement();
  });
  return {
    ...limited,
    transaction: (work) => snapshot.transaction((inner) => work(timed(inner, leftMs, setMs))),
  };
}

/** Whether a failed read may succeed a little later, unchanged. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ScanLost || unavailability(error) !== null;
}

/** Returns a read's failure as callers see it: a Problem if it is known, else the error itself. */
export function readFailure(error: unknown): unknown {
  if (error instanceof ScanLost) {
    return retryable("overloaded", "The read needed more than the server can hold. Try again.");
  }
  if (isRefused(error, CANCELLED)) return readTimeout();
  const why = damageOf(error);
  if (why === null) return error;
  const detail = `${why}. ${DAMAGE_ADVICE} ` +
    "`footfall export --skip-damaged` writes everything else, and names what it leaves out.";
  return new Problem("damaged_events", detail, { cause: error });
}

/**
 * Runs `work` on one read-only snapshot of the database, in the turn of its owner, and within `msMax`
 * milliseconds. The database cancels what takes longer, and what still runs when `gone` is aborted; after
 * that no statement follows, and scans with the signal end.
 * @throws Problem `read_timeout`, and what `work` throws.
 */
export async function withinTime<T>(
  reads: Database,
  msMax: number,
  owner: TurnOwner,
  work: (sql: Sql, signal: AbortSignal) => Promise<T>,
  gone?: AbortSignal,
): Promise<T> {
  const { leftMs, of, signal } = createDeadline(msMax, gone);
  try {
    return await of(() =>
      turnsOf(reads).take(owner, signal, () =>
        reads.transaction(
          (sql) => work(timed(sql, leftMs), signal),
          gone,
          () => [...SETTINGS, `SET LOCAL statement_timeout = ${leftMs()}`],
        ))
    );
  } catch (error) {
    throw readFailure(error);
  }
}
