import { type Database, DatabaseRefuses, DatabaseUnavailable, DiskFull } from "../db/sql.ts";
import { statementsRunBy } from "../db/wrapped_sql.ts";
import { TargetRefused } from "./target_refused.ts";

/** Returns a TargetRefused for a failure of the target's database, and any other error unchanged. */
function targetError(error: unknown, to: string): unknown {
  if (!(error instanceof DatabaseUnavailable)) return error;
  const why = error instanceof DiskFull
    ? `The disk of the database at ${to} is full: make room there`
    : error instanceof DatabaseRefuses
    ? `At ${to}: ${error.message}`
    : `The database at ${to} does not answer any more (${error.message}): see that PostgreSQL runs there`;
  return new TargetRefused(
    `${why}, and run the same command again. The server goes on as before with all that it has.`,
    { cause: error },
  );
}

/**
 * Returns the target of a move so that it throws TargetRefused instead of DatabaseUnavailable, which the source's
 * database throws, too: the message names the target, and says what to do.
 * @param to the address without user and password
 */
export function withTargetErrors(database: Database, to: string): Database {
  const withErrors = async <T>(statement: () => Promise<T>): Promise<T> => {
    try {
      return await statement();
    } catch (error) {
      throw targetError(error, to);
    }
  };
  return {
    ...statementsRunBy(database, withErrors),
    transaction: (work, ...others) =>
      withErrors(() =>
        database.transaction((tx) => work(statementsRunBy(tx, withErrors)), ...others)
      ),
    engine: database.engine,
    ping: () => database.ping(),
    close: () => database.close(),
  };
}
