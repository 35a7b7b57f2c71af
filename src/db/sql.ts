import type { BinaryRow } from "./binary_rows.ts";
import type { DiskSpace } from "./disk_space.ts";

/**
 * The interface to the database, the same for both engines, which speak PostgreSQL. So that they agree exactly,
 * parameters are only strings, numbers, booleans and null, each cast in the SQL: JSON as `$1::text::jsonb`, arrays as
 * `$1::text::uuid[]` built with `arrayLiteral`, times as ISO text with `$1::timestamptz`.
 *
 * Rows hold `int2/int4/int8/float` as number, `numeric` as number, `timestamptz` as
 * `Date`, `date` as `YYYY-MM-DD`, `json/jsonb` parsed, `bytea` as Uint8Array, `uuid/inet/text` as
 * string, arrays of text as string[].
 */
export type Param = string | number | boolean | null;
export type Row = Record<string, unknown>;

/** The first statement of a read-only transaction whose statements all see the same moment. */
export const READ_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/** Returns statements that set something in a transaction. */
export type Settings = () => readonly string[];

export interface Sql {
  /** Runs one statement and returns its rows. Throws `DatabaseUnavailable` or `StatementRefused`. */
  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]>;
  /**
   * As `query`, for a SELECT without null values, which are returned in PostgreSQL's binary format: `bytea` as it is,
   * `int8` for `numberOf`.
   */
  binary(text: string, params?: readonly Param[]): Promise<BinaryRow[]>;
  /** Runs several statements, without parameters or rows (migrations). */
  script(text: string): Promise<void>;
  /** Runs `work` in one transaction on one connection, which is committed when it resolves. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

export interface Database extends Sql {
  readonly engine: "postgres" | "embedded";
  /**
   * As `Sql.transaction`. Aborting `signal` cancels the running statement (57014).
   * @param settings called once the transaction has its session: what to set in one that only reads. It begins and
   * ends without a round trip of its own
   */
  transaction<T>(
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
    settings?: Settings,
  ): Promise<T>;
  /**
   * Resolves when the database answers; throws `DatabaseUnavailable` when it does not within 2 s. Reads and writes
   * under way do not delay the embedded engine's answer.
   */
  ping(): Promise<void>;
  close(): Promise<void>;
  /** If the engine has a single session: resolves once it is idle, or after `msMax`. */
  rest?(msMax: number): Promise<void>;
  /** The disk that it writes to, if that is this machine's. */
  readonly disk?: DiskSpace;
}

/** The database cannot be reached, is stopping, or did not answer in time; the statement may be correct. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = "DatabaseUnavailable";
  /** The detail of the reply; the message is for the log. */
  readonly detail: string = "The database does not answer. Try again shortly.";
}

/** The database's disk is full: nothing can be stored until there is space; reads go on. */
export class DiskFull extends DatabaseUnavailable {
  override readonly name = "DiskFull";
  override readonly detail =
    "The disk of the database is full: nothing can be stored until space is freed. Reads go on. " +
    "Send the request again later.";
}

/** The database answers, but refuses what the server has to do: it is read-only, or the role lacks a right. */
export class DatabaseRefuses extends DatabaseUnavailable {
  override readonly name = "DatabaseRefuses";
  override readonly detail =
    "The database refuses this: it is read-only, or the server lacks a right there. Whoever runs the " +
    "server has to see to it. Try again later.";
}

/** The replica for reads is away, behind, or not a replica. */
export class ReplicaUnavailable extends DatabaseUnavailable {
  override readonly name: string = "ReplicaUnavailable";
  override readonly detail: string =
    "The replica that answers reads is away, or behind; events are taken in. Try again shortly.";
}

/** The database for reads has the events of another installation. */
export class ForeignReplica extends ReplicaUnavailable {
  override readonly name = "ForeignReplica";
  override readonly detail =
    "The database that is to answer reads is no replica of this server's. Whoever runs the server has " +
    "to see to DATABASE_READ_URL; events are taken in.";
}

/** The database answered, and refused the statement. `sqlState` is PostgreSQL's five-letter code. */
export class StatementRefused extends Error {
  override readonly name = "StatementRefused";
  constructor(message: string, readonly sqlState: string) {
    super(message);
  }
}

/** Returns parameters as the drivers send them. */
export function textParams(params: readonly Param[]): (string | null)[] {
  return params.map((value) => value === null ? null : String(value));
}

/** Whether a SELECT finds a row. */
export async function exists(sql: Sql, select: string, params: readonly Param[] = []) {
  return (await sql.query(select, params)).length > 0;
}

const isNumber = (value: Param): value is number => typeof value === "number";
const NEEDS_ESCAPE = /["\\]/;

/**
 * Returns a PostgreSQL array literal, for a text parameter that the SQL casts to an array. Text is always
 * quoted, so `NULL`, braces and commas in it stay text.
 */
export function arrayLiteral(values: readonly Param[]): string {
  if (values.every(isNumber)) return `{${values.join(",")}}`;
  const parts = new Array<string>(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value === null) parts[i] = "NULL";
    else if (typeof value === "string") {
      parts[i] = NEEDS_ESCAPE.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`;
    } else if (typeof value === "boolean") parts[i] = value ? "t" : "f";
    else parts[i] = String(value);
  }
  return `{${parts.join(",")}}`;
}

/** Returns an array literal for each of these members of the rows. */
export function arrayLiterals<N extends string>(
  names: readonly N[],
  rows: readonly { readonly [M in NoInfer<N>]: Param }[],
): string[] {
  return names.map((name) => arrayLiteral(rows.map((row) => row[name])));
}

/**
 * Returns the SQL condition that a column of a key has one of many values, so that these are looked up by the key, and
 * the array is read once. Otherwise PostgreSQL, without statistics of a table, may read all rows of a project, and the
 * array anew at each. Beside it the project is given as `(SELECT $1::int)`: as a value that the statistics do not know
 * it would have no rows, and any other index that begins with it be as good.
 * @param values the array's parameter with its casts
 */
export const isOneOf = (column: string, values: string): string =>
  `${column} = ANY (ARRAY(SELECT unnest(${values})))`;
