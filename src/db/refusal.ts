import { DatabaseRefuses, DatabaseUnavailable, DiskFull, StatementRefused } from "./sql.ts";

/**
 * Classes and codes of errors that are the server's, not the statement's: connection (08), login (28, 3D000), a
 * transaction ended for idling (25P03), resources (53), operator intervention (57P), system (58), configuration file
 * (F0), internal (XX).
 */
const NOT_THE_STATEMENT = /^(08|28|53|57P|58|F0|XX|25P03|3D000)/;

/** read_only_sql_transaction, insufficient_privilege. */
export const READ_ONLY = "25006";
export const NO_RIGHT = "42501";

/** What the operator has to do about a refusal that is not the statement's fault. */
const REMEDIES: Readonly<Record<string, string>> = {
  [READ_ONLY]:
    "it is a standby, or default_transaction_read_only is on; DATABASE_URL has to name one " +
    "that takes writes",
  [NO_RIGHT]:
    "the role of the URL lacks a right; let it own Footfall's tables, and the database until " +
    "they are there",
};

/** Data exceptions: their messages quote the value, which may be personal data. */
const ABOUT_A_VALUE = /^22/;
/** disk_full. */
const DISK_FULL = "53100";

/** Returns the error to throw for PostgreSQL's message and its five-letter code, `sqlState`. */
export function refusal(
  message: string,
  sqlState: string,
): DatabaseUnavailable | StatementRefused {
  if (sqlState === DISK_FULL) return new DiskFull(`The database's disk is full: ${message}`);
  const remedy = REMEDIES[sqlState];
  if (remedy !== undefined) {
    return new DatabaseRefuses(`The database refuses this: ${message} (${sqlState}): ${remedy}`);
  }
  return NOT_THE_STATEMENT.test(sqlState)
    ? new DatabaseUnavailable(`The database cannot serve now: ${message} (${sqlState})`)
    : new StatementRefused(
      ABOUT_A_VALUE.test(sqlState) ? message.replace(/".*"/s, '"…"') : message,
      sqlState,
    );
}

/** A row with the same key exists already. */
export const UNIQUE_VIOLATION = "23505";

/** Whether PostgreSQL refused a statement with this code. */
export function isRefused(error: unknown, sqlState: string): boolean {
  return error instanceof StatementRefused && error.sqlState === sqlState;
}

/**
 * Codes of failures after which the same statements may succeed a little later: serialization failures, such as a
 * replica's recovery that conflicts with a read, deadlocks, locks that are not free, cancelled statements.
 */
const TRANSIENT = new Set(["40001", "40P01", "55P03", "57014"]);

/** Returns the error as DatabaseUnavailable if a later retry may succeed; else null. */
export function unavailability(error: unknown): DatabaseUnavailable | null {
  if (error instanceof DatabaseUnavailable) return error;
  if (!(error instanceof StatementRefused && TRANSIENT.has(error.sqlState))) return null;
  return new DatabaseUnavailable(`${error.message} (${error.sqlState})`, { cause: error });
}
