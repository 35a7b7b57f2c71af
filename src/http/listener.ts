import { descriptorsFree } from "./descriptors.ts";
import {
  ACCEPT_PAUSE_MS,
  CONNECTION_SWEEP_MS,
  CONNECTIONS_MAX,
  DESCRIPTORS_RESERVED,
  SHUTDOWN_CONNECTIONS_MS_MAX,
} from "../limits.ts";
import { UNTAKEN_BYTES_MAX } from "./connection_limits.ts";
import { type Answer, Connections, PHASE_LIMITS, type PhaseLimits } from "./connections.ts";
import type { Log } from "./log.ts";
import { type ServeConnection, serveConnection } from "./serve_connection.ts";

export interface ListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly answer: Answer;
  readonly onError: (error: unknown) => Response;
  readonly log: Pick<Log, "warn">;
  /** Absent: as many connections as the process has descriptors for, up to CONNECTIONS_MAX. */
  readonly connectionsMax?: number;
  readonly untakenBytesMax?: number;
  readonly limits?: PhaseLimits;
  readonly sweepMs?: number;
  /** Null: behave as in a version of Deno that cannot serve a single connection. */
  readonly serve?: ServeConnection | null;
}

export interface Listener {
  readonly addr: Deno.NetAddr;
  /** The number of open connections. */
  readonly connections: number;
  /** Accepts no more connections, and ends the open ones within SHUTDOWN_CONNECTIONS_MS_MAX. */
  close(): Promise<void>;
}

/** The least milliseconds between two log lines about connections that are closed to make room. */
const WARNING_PAUSE_MS = 60_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * The number of connections for which any process has descriptors. How many more it has is found out only
 * when this many are open, because that takes a tenth of a second.
 */
const CONNECTIONS_CERTAIN = 32;

/**
 * Returns how many connections may be open; leaves descriptors for the database and files, half if there are
 * few.
 */
function connectionsThatFit(): number {
  const free = descriptorsFree(CONNECTIONS_MAX + DESCRIPTORS_RESERVED);
  if (free === null) return CONNECTIONS_MAX;
  return Math.max(1, free - Math.min(DESCRIPTORS_RESERVED, Math.ceil(free / 2)));
}

/** Accepts connections up to a limit, and closes others to make room. */
class BoundedListener implements Listener {
  readonly #listener: Deno.TcpListener;
  readonly #connections: Connections;
  #connectionsMax: number | null;
  readonly #log: ListenerOptions["log"];
  readonly #sweeping: ReturnType<typeof setInterval>;
  #isClosed = false;
  #warnedAtMs = -Infinity;

  constructor(options: ListenerOptions, serve: ServeConnection) {
    const { hostname, port, answer, onError, limits = PHASE_LIMITS } = options;
    this.#listener = Deno.listen({ hostname, port });
    this.#connectionsMax = options.connectionsMax ?? null;
    // No more than HTTP/1.1 can have: one on each connection.
    const untakenMax = options.connectionsMax ?? CONNECTIONS_MAX;
    const { untakenBytesMax = UNTAKEN_BYTES_MAX } = options;
    this.#connections = new Connections({
      ...{ serve, answer, onError, limits },
      ...{ untakenMax, untakenBytesMax },
    });
    this.#log = options.log;
    this.#sweeping = setInterval(
      () => this.#connections.sweep(),
      options.sweepMs ?? CONNECTION_SWEEP_MS,
    );
    void this.#accept();
  }

  get addr(): Deno.NetAddr {
    return this.#listener.addr;
  }

  get connections(): number {
    return this.#connections.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeping);
    this.#listener.close();
    await this.#connections.close(SHUTDOWN_CONNECTIONS_MS_MAX);
  }

  async #accept(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#admit(await this.#listener.accept());
      } catch (error) {
        if (!this.#isClosed) await this.#recover(error);
      }
    }
  }

  /** Serves the connection as soon as there is room for it; no other is accepted until then. */
  async #admit(accepted: Deno.TcpConn): Promise<void> {
    while (this.#isFull()) {
      this.#warn("as many connections as there is room for");
      if (!this.#connections.makeRoom()) await pause(ACCEPT_PAUSE_MS);
    }
    if (this.#isClosed) accepted.close();
    else this.#connections.add(accepted);
  }

  #isFull(): boolean {
    const { size } = this.#connections;
    if (size < CONNECTIONS_CERTAIN) {
      return this.#connectionsMax !== null && size >= this.#connectionsMax;
    }
    return size >=
      (this.#connectionsMax ??= Math.min(CONNECTIONS_MAX, size + connectionsThatFit()));
  }

  /** Handles a failed `accept`: descriptors have run out, or a client left before it was accepted. */
  async #recover(error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    this.#warn("a connection could not be accepted", reason);
    for (let i = Math.ceil(this.#connections.size / 8); i > 0; i--) this.#connections.makeRoom();
    await pause(ACCEPT_PAUSE_MS);
  }

  #warn(message: string, reason?: string): void {
    if (performance.now() - this.#warnedAtMs < WARNING_PAUSE_MS) return;
    this.#warnedAtMs = performance.now();
    this.#log.warn(`${message}; those that wait longest for nothing are closed`, {
      connections: this.#connections.size,
      connectionsMax: this.#connectionsMax,
      reason,
    });
  }
}

/** Listens with plain `Deno.serve`, which neither bounds connections nor closes silent ones. */
function listenUnbounded({ hostname, port, answer, onError, log }: ListenerOptions): Listener {
  log.warn("this version of Deno cannot bound connections; put a reverse proxy in front of it", {
    version: Deno.version.deno,
  });
  const server = Deno.serve(
    { hostname, port, onListen: () => {}, onError },
    (request, info) => answer(request, info.remoteAddr.hostname),
  );
  return {
    addr: server.addr,
    connections: 0,
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, SHUTDOWN_CONNECTIONS_MS_MAX);
      await Promise.race([server.shutdown(), promise]);
      clearTimeout(timer);
    },
  };
}

/** Listens for HTTP. Throws what `Deno.listen` throws. */
export function listen(options: ListenerOptions): Listener {
  const serve = options.serve === undefined ? serveConnection : options.serve;
  return serve === null ? listenUnbounded(options) : new BoundedListener(options, serve);
}
