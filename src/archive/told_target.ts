import {
  type Database,
  DatabaseRefuses,
  DatabaseUnavailable,
  DiskFull,
  type Sql,
} from "../db/sql.ts";
import { TargetRefused } from "./move_target.ts";

/** Returns the TargetRefused for a failure of the target's database, and any other error unchanged. */
function stopped(error: unknown, to: string): unknown {
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

function toldSql(sql: Sql, to: string): Sql {
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw stopped(error, to);
    }
  };
  return {
    query: (text, params) => told(sql.query(text, params)),
    binary: (text, params) => told(sql.binary(text, params)),
    script: (text) => told(sql.script(text)),
    transaction: (work) => told(sql.transaction((inner) => work(toldSql(inner, to)))),
  };
}

/**
 * Returns the target of a move with errors that name the target and say what to do, since the source's
 * database throws the same errors: TargetRefused in place of DatabaseUnavailable.
 * @param to the address without user and password
 */
export function toldTarget(database: Database, to: string): Database {
  return {
    ...toldSql(database, to),
    engine: database.engine,
    ping: () => database.ping(),
    close: () => database.close(),
  };
}
