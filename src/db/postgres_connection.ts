import { once } from "node:events";
import { connect, type IpcNetConnectOpts, type Socket, type TcpNetConnectOpts } from "node:net";
import postgres from "postgres";
import { type BinaryRow, declareRows, FETCH_ROWS, plainBytes } from "./binary_rows.ts";
import type { PostgresTarget } from "../postgres_url.ts";
import { NO_RIGHT, refusal } from "./refusal.ts";
import { ROLE_SETTINGS, SESSION_SETTINGS, VALUE_PARSERS } from "./row_values.ts";
import { DatabaseUnavailable, type Param, type Row, textParams } from "./sql.ts";
import type { Session } from "./transaction.ts";
import {
  DATABASE_CONNECT_MS_MAX,
  DATABASE_IDLE_IN_TRANSACTION_MS_MAX,
  DATABASE_KEEP_ALIVE_S,
  DATABASE_STATEMENT_MARGIN_MS,
  PREPARED_STATEMENTS_PER_CONNECTION_MAX,
} from "../limits.ts";

export interface ConnectionOptions {
  readonly statementTimeoutMs: number;
  readonly applicationName: string;
  /** Called with the reason if the server, or a pooler in front of it, refuses `ROLE_SETTINGS`. */
  readonly onSettingsRefused?: (reason: string) => void;
}

/** The addresses of the URL, which the driver passes to a socket factory. */
interface Addresses {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/** A statement of the driver; once it is sent, it has what the server wants to know of whoever cancels it. */
interface SentStatement {
  readonly state?: { readonly pid: number; readonly secret: number } | null;
}

/** The code of PostgreSQL's CancelRequest, and its length in bytes. */
const CANCEL_REQUEST = 80_877_102;
const CANCEL_REQUEST_BYTES = 16;

/** Parameters and rows are sent in PostgreSQL's text format; only the rows are converted. */
const DRIVER_TYPES = Object.fromEntries(
  [...VALUE_PARSERS].map(([oid, parse]) => [
    `oid_${oid}`,
    { to: oid, from: [oid], serialize: (value: unknown) => String(value), parse },
  ]),
);

/**
 * One physical connection, never reopened.
 *
 * The driver would reconnect with the same handle: the rest of a transaction that lost its connection would run
 * outside of any transaction, on a connection that another caller may use. So any failure ends the connection for
 * good: all outstanding and later statements fail at once with `DatabaseUnavailable`.
 */
export class PostgresConnection implements Session {
  readonly openedAtMs = performance.now();
  #driver: postgres.Sql;
  #socket: Socket | null = null;
  #address: TcpNetConnectOpts | IpcNetConnectOpts | null = null;
  #statement: SentStatement | null = null;
  #everReady = false;
  #ending: Promise<void> | null = null;
  #fellSilent = false;
  #lost: DatabaseUnavailable | null = null;
  #rejectOutstanding = new Set<(error: DatabaseUnavailable) => void>();
  #texts = new Set<string>();
  #attempts = 0;
  #opening: ReturnType<typeof setTimeout>;
  #statementMs: number;

  constructor(target: PostgresTarget, options: ConnectionOptions, readonly onLost: () => void) {
    this.#statementMs = options.statementTimeoutMs + DATABASE_STATEMENT_MARGIN_MS;
    const settings: postgres.Options<Record<string, postgres.PostgresType>> & {
      socket: (addresses: Addresses) => Promise<Socket>;
    } = {
      max: 1,
      fetch_types: false,
      connect_timeout: 0,
      idle_timeout: 0,
      max_lifetime: null,
      types: DRIVER_TYPES,
      connection: {
        ...SESSION_SETTINGS,
        application_name: options.applicationName,
        statement_timeout: options.statementTimeoutMs,
        idle_in_transaction_session_timeout: DATABASE_IDLE_IN_TRANSACTION_MS_MAX,
      },
      onnotice: () => {},
      // Sent by the server once the login has succeeded.
      onparameter: () => {
        this.#everReady = true;
        clearTimeout(this.#opening);
      },
      onclose: () => this.lose("the connection was closed"),
      socket: (addresses) => this.#openSocket(addresses, target.ipv6),
      ...(target.ssl === undefined ? {} : { ssl: target.ssl }),
    };
    this.#driver = postgres(target.url, settings);
    this.#opening = setTimeout(
      () => this.lose(`no connection within ${DATABASE_CONNECT_MS_MAX} ms`),
      DATABASE_CONNECT_MS_MAX,
    );
    this.script(ROLE_SETTINGS).catch((error: Error) => {
      // If the connection fails, the next statement reports why.
      if (this.usable) options.onSettingsRefused?.(error.message);
    });
  }

  get usable(): boolean {
    return this.#lost === null;
  }

  /** False if the server never completed a login: other attempts would most likely fail as well. */
  get everReady(): boolean {
    return this.#everReady;
  }

  /** Whether it was lost because nothing answered: the network drops packets, or the server hangs. */
  get fellSilent(): boolean {
    return this.#fellSilent;
  }

  /** Resolves when its transaction has ended; null: none is ending. Until then nobody else may use the connection. */
  get ending(): Promise<void> | null {
    return this.#ending;
  }

  /** Whether to replace the connection: while it lives, the server keeps a plan of each distinct statement in memory. */
  get worn(): boolean {
    return this.#texts.size > PREPARED_STATEMENTS_PER_CONNECTION_MAX;
  }

  query<R extends Row = Row>(text: string, params: readonly Param[] = []): Promise<R[]> {
    this.#texts.add(text);
    const values = textParams(params);
    const answer = this.#run(
      async () =>
        (await this.#sent(this.#driver.unsafe<R[]>(text, values, PREPARED))).slice() as R[],
      this.#statementMs,
      BOUNDS_TRANSACTION.test(text),
    );
    if (text === COMMIT) {
      const over = () => {
        this.#ending = null;
      };
      this.#ending = answer.then(over, over);
    }
    return answer;
  }

  /** Notes what `cancel` needs: the driver has one state of a connection, which its first statement is given. */
  #sent<Statement extends PromiseLike<unknown>>(statement: Statement): Statement {
    this.#statement ??= statement as unknown as SentStatement;
    return withoutOrigin(statement);
  }

  async binary(text: string, params?: readonly Param[]): Promise<BinaryRow[]> {
    // Both are sent at once, so that no other statement comes between them.
    const declared = this.query(declareRows(text), params);
    const fetched = this.#run(
      async () => {
        // The driver makes a list of results only where several have rows.
        const rows = await withoutOrigin(this.#driver.unsafe(FETCH_ROWS).raw());
        return Array.from(rows as unknown as BinaryRow[], (row) => row.map(plainBytes));
      },
      this.#statementMs,
    );
    // If the first statement fails, this one does, too: the first one's error is thrown below.
    fetched.catch(() => {});
    await declared;
    return await fetched;
  }

  /** Runs without a deadline, since a migration may take long; only what takes no time has one. */
  script(text: string): Promise<void> {
    const msMax = SETS_OR_BEGINS.test(text) ? this.#statementMs : null;
    return this.#run(async () => void await this.#sent(this.#driver.unsafe(text)), msMax);
  }

  /**
   * Asks the server to cancel the running statement, if any, which then fails with 57014. Resolves once the server has
   * received the request, which has no effect on later statements, or cannot be reached.
   */
  async cancel(): Promise<void> {
    const key = this.#statement?.state ?? null;
    if (key === null || this.#address === null || this.#rejectOutstanding.size === 0) return;
    const request = new DataView(new ArrayBuffer(CANCEL_REQUEST_BYTES));
    [CANCEL_REQUEST_BYTES, CANCEL_REQUEST, key.pid, key.secret]
      .forEach((word, i) => request.setUint32(4 * i, word));
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect(this.#address, () => socket.write(new Uint8Array(request.buffer)));
    socket.setTimeout(DATABASE_CONNECT_MS_MAX, () => socket.destroy());
    socket.on("error", () => {}).on("close", () => resolve()).resume();
    await promise;
  }

  /** Ends the connection at once; all outstanding statements fail with the reason. */
  lose(reason: string | DatabaseUnavailable): void {
    if (this.#lost !== null) return;
    this.#lost = typeof reason === "string"
      ? new DatabaseUnavailable(`The database is not available: ${reason}`)
      : reason;
    clearTimeout(this.#opening);
    for (const reject of this.#rejectOutstanding) reject(this.#lost);
    this.#rejectOutstanding.clear();
    this.#driver.end({ timeout: 0 }).catch(() => {}).finally(() => this.#socket?.destroy());
    this.onLost();
  }

  /** Closes the connection in an orderly way. Call it when no statement is outstanding. */
  async close(): Promise<void> {
    if (this.#lost !== null) return;
    this.#lost = new DatabaseUnavailable("The connection has been closed");
    clearTimeout(this.#opening);
    await this.#driver.end({ timeout: 1 }).catch(() => {});
    this.#socket?.destroy();
  }

  /** @param isFinal whether the connection cannot be used again if the statement is refused */
  #run<T>(statement: () => Promise<T>, msMax: number | null, isFinal = false): Promise<T> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // The server cancels a statement in time; only a dead network lets this deadline pass.
    const deadline = msMax === null ? undefined : setTimeout(() => {
      this.#fellSilent = true;
      this.lose(`no answer within ${msMax} ms`);
    }, msMax);
    this.#rejectOutstanding.add(reject);
    statement().then(resolve, (error) => {
      const failure = this.#failure(error);
      if (failure instanceof DatabaseUnavailable && !isMissingRight(error)) this.lose(failure);
      reject(failure);
      if (isFinal) this.lose("a transaction could not be begun or ended");
    });
    return promise.finally(() => {
      clearTimeout(deadline);
      this.#rejectOutstanding.delete(reject);
    });
  }

  /** Converts an error of the driver, without the statement's parameters that it carries. */
  #failure(error: unknown): Error {
    if (this.#lost !== null) return this.#lost;
    if (!(error instanceof Error)) return new DatabaseUnavailable(String(error));
    if (error instanceof postgres.PostgresError) {
      // A prepared plan outdated by a migration: a new connection plans anew.
      if (error.routine === "RevalidateCachedQuery") {
        return new DatabaseUnavailable(`The database has changed: ${error.message}`);
      }
      return refusal(error.message, error.code);
    }
    return new DatabaseUnavailable(`The database is not available: ${error.message}`);
  }

  /** Tries each address once, then gives up; the driver itself would try for ever. */
  async #openSocket(addresses: Addresses, ipv6?: string): Promise<Socket> {
    for (;;) {
      const attempt = this.#attempts++;
      const host = ipv6 ?? addresses.host[attempt] ?? "localhost";
      const port = addresses.port[attempt] ?? 5432;
      if (this.#lost !== null || attempt >= Math.max(1, addresses.host.length)) {
        this.lose("the server closed the connection before the login was complete");
        throw this.#lost;
      }
      const address = addresses.path === false ? { host, port } : { path: addresses.path };
      const socket = connect(address);
      this.#socket = socket;
      // A second error of the same socket must not end the process.
      socket.on("error", () => {});
      try {
        await once(socket, "connect");
      } catch (error) {
        socket.destroy();
        if (attempt + 1 < addresses.host.length) continue;
        this.lose(error instanceof Error ? error.message : String(error));
        throw error;
      }
      // By its address: of a name with several, another server could be asked to cancel.
      this.#address = "path" in address ? address : { host: socket.remoteAddress ?? host, port };
      socket.setNoDelay(true);
      socket.setKeepAlive(true, DATABASE_KEEP_ALIVE_S * 1000);
      // The certificate must be for the name in `host`, which the driver reads; for an IP address, TLS reads `_host`,
      // and would otherwise expect `localhost`.
      return Object.assign(socket, { host, port, _host: host });
    }
  }
}

/**
 * Statements whose refusal leaves the session in an unknown transaction: a COMMIT that is cancelled (57014) leaves a
 * failed one, which refuses every further statement.
 */
const BOUNDS_TRANSACTION = /^(BEGIN|COMMIT|ROLLBACK)/;
/** Nothing but settings and beginnings of transactions. */
const SETS_OR_BEGINS = /^(?:(?:SET|BEGIN)\b[^;]*(?:;\s*|$))+$/;
const COMMIT = "COMMIT";

/**
 * Whether the role lacks a right, in which case a new connection would not help. It may help if the server is
 * read-only: another server may have become the primary.
 */
function isMissingRight(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === NO_RIGHT;
}

/** `prepare` is left to the URL (`?prepare=false` behind a transaction pooler); `simple` off keeps it one statement. */
const PREPARED = { prepare: true, simple: false } as postgres.UnsafeQueryOptions;

const NO_ORIGIN = { value: "" };

/**
 * Removes a statement's origin. To find it, the driver would create an error with a call stack for each statement
 * (1 % of the server's time under full load), and keep those of failed statements for ever.
 */
function withoutOrigin<Statement extends PromiseLike<unknown>>(statement: Statement): Statement {
  return Object.defineProperty(statement, "origin", NO_ORIGIN);
}
