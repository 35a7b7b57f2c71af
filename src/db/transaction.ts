import type { BinaryRow } from "./binary_rows.ts";
import { type Param, type Row, type Sql, StatementRefused } from "./sql.ts";

/**
 * One session of an engine, used by one caller: statements run in the order of the calls. It is in a transaction where
 * it returns rows in binary.
 */
export type Session = Omit<Sql, "transaction">;

/** Whether a statement was refused only because an earlier one of its transaction had failed. */
function isAfterFailure(error: unknown): boolean {
  return error instanceof StatementRefused && error.sqlState === "25P02";
}

/**
 * A transaction, or a savepoint in one, while its work runs. It remembers the first statement that failed:
 * PostgreSQL answers COMMIT of a failed transaction with a silent rollback, so work that caught the error
 * must not seem to be stored.
 */
class Scope implements Sql {
  #outstanding = new Set<Promise<unknown>>();
  #failure: { error: unknown } | null = null;
  #over = false;

  constructor(readonly session: Session, readonly depth: number) {}

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#track(() => this.session.query<R>(text, params));
  }

  binary(text: string, params?: readonly Param[]): Promise<BinaryRow[]> {
    return this.#track(() => this.session.binary(text, params));
  }

  script(text: string): Promise<void> {
    return this.#track(() => this.session.script(text));
  }

  /** Runs work in a savepoint: a failure undoes only this work. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#over) return Promise.reject(new Error("This transaction is over"));
    return runScope(new Scope(this.session, this.depth + 1), work);
  }

  async settle(): Promise<void> {
    await Promise.allSettled(this.#outstanding);
    this.#over = true;
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #track<T>(run: () => Promise<T>): Promise<T> {
    if (this.#over) throw new Error("This transaction is over");
    const running = run();
    this.#outstanding.add(running);
    try {
      return await running;
    } catch (error) {
      this.#failure ??= { error };
      throw isAfterFailure(error) ? this.#failure.error : error;
    } finally {
      this.#outstanding.delete(running);
    }
  }
}

async function runScope<T>(
  scope: Scope,
  work: (sql: Sql) => Promise<T>,
  settings: readonly string[] | null = null,
): Promise<T> {
  const savepoint = `nested_${scope.depth}`;
  const [begin, commit, rollback] = scope.depth === 0 ? ["BEGIN", "COMMIT", "ROLLBACK"] : [
    `SAVEPOINT ${savepoint}`,
    `RELEASE SAVEPOINT ${savepoint}`,
    `ROLLBACK TO SAVEPOINT ${savepoint}`,
  ];
  if (settings === null) await scope.session.query(begin!);
  // A failure is that of the transaction: `settle` throws it.
  else scope.script([begin, ...settings].join("; ")).catch(() => {});
  let result: T;
  try {
    result = await work(scope);
    await scope.settle();
  } catch (error) {
    await scope.settle().catch(() => {});
    await scope.session.query(rollback!);
    throw error;
  }
  const committed = scope.session.query(commit!);
  if (settings === null) await committed;
  else committed.catch(() => {});
  return result;
}

/**
 * Runs `work` in one transaction of `session`: committed when it resolves, rolled back when it
 * throws or when any of its statements failed.
 *
 * @param settings null: it may write. Else it only reads, so that nothing is at stake: these statements and its
 * beginning are sent ahead of its first statement, and its end is not awaited, which saves two round trips
 * @throws What `work` threw, or the failure of its first failed statement. If the rollback itself
 * fails, that failure: the session is then in an unknown state and must not be used again.
 */
export function runTransaction<T>(
  session: Session,
  work: (sql: Sql) => Promise<T>,
  settings: readonly string[] | null,
): Promise<T> {
  return runScope(new Scope(session, 0), work, settings);
}
