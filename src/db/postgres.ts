import type { BinaryRow } from "./binary_rows.ts";
import { ping } from "./deadline.ts";
import { type ConnectionOptions, PostgresConnection } from "./postgres_connection.ts";
import { type PostgresTarget, postgresTarget } from "../postgres_url.ts";
import {
  type Database,
  DatabaseUnavailable,
  type Param,
  type Row,
  type Settings,
  type Sql,
} from "./sql.ts";
import { runTransaction } from "./transaction.ts";
import { DATABASE_CLOSE_MS_MAX, DATABASE_CONNECTION_AGE_MS_MAX } from "../limits.ts";

export interface PostgresOptions extends ConnectionOptions {
  readonly connectionsMax: number;
}

/**
 * Opens a PostgreSQL server with a pool of at most `connectionsMax` connections. The first statement connects, so
 * opening cannot fail. While the server is away, each call fails within 3 s (at once if the port is closed); the
 * next call after its return succeeds.
 *
 * @param url `postgres://user:password@host:port/database`, with libpq's `sslmode`, `sslrootcert` and
 * several hosts; `?prepare=false` for transaction poolers.
 */
export function openPostgres(url: string, options: PostgresOptions): Database {
  return new PostgresDatabase(postgresTarget(url), options);
}

class PostgresDatabase implements Database {
  readonly engine = "postgres";
  #idle: PostgresConnection[] = [];
  #all = new Set<PostgresConnection>();
  #waiting: PromiseWithResolvers<PostgresConnection>[] = [];
  #closing = false;
  #emptied = Promise.withResolvers<void>();

  constructor(readonly target: PostgresTarget, readonly options: PostgresOptions) {}

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<R[]> {
    return this.#with((connection) => connection.query<R>(text, params));
  }

  binary(text: string, params?: readonly Param[]): Promise<BinaryRow[]> {
    return this.transaction((sql) => sql.binary(text, params));
  }

  script(text: string): Promise<void> {
    return this.#with((connection) => connection.script(text));
  }

  transaction<T>(
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
    settings?: Settings,
  ): Promise<T> {
    return this.#with(async (connection) => {
      let cancelled: Promise<void> | null = null;
      const cancel = () => {
        cancelled = connection.cancel();
      };
      signal?.addEventListener("abort", cancel);
      try {
        return await runTransaction(connection, work, settings?.() ?? null);
      } finally {
        signal?.removeEventListener("abort", cancel);
        // Only then can it not end a statement of the next caller.
        await cancelled;
      }
    });
  }

  ping(): Promise<void> {
    return ping(this);
  }

  /** Refuses new calls, waits for running statements (5 s at most), and closes every connection. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#refuseWaiting(new DatabaseUnavailable("The database is being closed"));
    for (const connection of this.#idle.splice(0)) this.#retire(connection);
    if (this.#all.size === 0) return;
    const timer = setTimeout(() => {
      for (const connection of this.#all) connection.lose("it is being closed");
    }, DATABASE_CLOSE_MS_MAX);
    await this.#emptied.promise;
    clearTimeout(timer);
  }

  async #with<T>(use: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire();
    try {
      return await use(connection);
    } finally {
      // A read's end is not awaited: were it refused, it would fail the next caller's statements.
      if (connection.ending === null) this.#release(connection);
      else connection.ending.then(() => this.#release(connection));
    }
  }

  #acquire(): Promise<PostgresConnection> {
    if (this.#closing) {
      return Promise.reject(new DatabaseUnavailable("The database has been closed"));
    }
    const idle = this.#idle.pop();
    if (idle !== undefined) return Promise.resolve(idle);
    if (this.#all.size < this.options.connectionsMax) return Promise.resolve(this.#open());
    const waiter = Promise.withResolvers<PostgresConnection>();
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.reject(new DatabaseUnavailable("Every database connection is busy"));
    }, this.options.statementTimeoutMs);
    this.#waiting.push(waiter);
    return waiter.promise.finally(() => clearTimeout(timer));
  }

  #open(): PostgresConnection {
    const connection: PostgresConnection = new PostgresConnection(
      this.target,
      this.options,
      () => this.#remove(connection),
    );
    this.#all.add(connection);
    return connection;
  }

  #release(connection: PostgresConnection): void {
    if (!connection.usable) return;
    const old = performance.now() - connection.openedAtMs > DATABASE_CONNECTION_AGE_MS_MAX;
    if (this.#closing || connection.worn || old) return this.#retire(connection);
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#idle.push(connection);
    else waiter.resolve(connection);
  }

  #retire(connection: PostgresConnection): void {
    connection.close().finally(() => this.#remove(connection));
  }

  /** Removes a connection from the pool, and gives its place to the next waiter. */
  #remove(connection: PostgresConnection): void {
    if (!this.#all.delete(connection)) return;
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
    // The other idle ones are most likely dead, too, and their next callers would wait as long.
    if (connection.fellSilent) { for (const other of this.#idle.splice(0)) this.#retire(other); }
    if (this.#closing) {
      if (this.#all.size === 0) this.#emptied.resolve();
    } else if (!connection.usable && !connection.everReady) {
      // The server accepts no connection: all waiters fail now, not after one attempt each.
      this.#refuseWaiting(new DatabaseUnavailable("The database cannot be reached"));
    } else this.#waiting.shift()?.resolve(this.#open());
  }

  #refuseWaiting(error: DatabaseUnavailable): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }
}
