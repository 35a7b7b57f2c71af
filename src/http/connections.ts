import {
  ANSWER_PROTECTED_MS,
  CONNECTION_HEAD_MS_MAX,
  CONNECTION_IDLE_MS_MAX,
  CONNECTION_LINGER_MS_MAX,
  CONNECTION_PROTECTED_MS,
  REPLY_SEND_MS_MAX,
} from "../limits.ts";
import { type ServeConnection, type Served } from "./serve_connection.ts";

export type Answer = (request: Request, peer: string) => Promise<Response>;

/** How long a connection may stand in each phase; null: as long as the server runs. */
export type PhaseLimits = Readonly<Record<Phase, number | null>>;

/** Where a connection stands. */
export type Phase =
  /** Nothing was asked on it yet: no head has arrived in full. */
  | "silent"
  /** A request was answered, and the next one has not arrived. */
  | "idle"
  /** A request is being read and answered: the request's own limits hold. */
  | "answering"
  /** The reply is on its way, and the client takes its time. */
  | "sending"
  /** The reply is a stream, which lasts as long as its reader and its token. */
  | "streaming"
  /** The last reply was sent; the client may still be writing, and reads it first. */
  | "closing";

export const PHASE_LIMITS: PhaseLimits = {
  silent: CONNECTION_HEAD_MS_MAX,
  idle: CONNECTION_IDLE_MS_MAX,
  answering: null,
  sending: REPLY_SEND_MS_MAX,
  streaming: null,
  closing: CONNECTION_LINGER_MS_MAX,
};

/**
 * Who makes room for others when there is none, and after how long in that phase: a new connection
 * may have sent a head that is not read yet, and the end of a reply may still be on its way.
 */
const MAKES_ROOM: readonly (readonly [Phase, number])[] = [
  ["closing", CONNECTION_PROTECTED_MS],
  ["silent", CONNECTION_PROTECTED_MS],
  ["idle", CONNECTION_PROTECTED_MS],
  ["sending", ANSWER_PROTECTED_MS],
  ["answering", ANSWER_PROTECTED_MS],
];

const CLOSING_LOOK_MS = 20;
const STREAMS = ["text/event-stream", "application/x-ndjson"];

function isStream({ headers }: Response): boolean {
  const type = headers.get("content-type") ?? "";
  return STREAMS.some((stream) => type.startsWith(stream));
}

interface Connection {
  phase: Phase;
  sinceMs: number;
  /** More than one only in HTTP/2. */
  requests: number;
  cut(): void;
}

export interface ConnectionsOptions {
  readonly serve: ServeConnection;
  readonly answer: Answer;
  /** The reply to a request whose answer fails. */
  readonly onError: (error: unknown) => Response;
  readonly limits: PhaseLimits;
}

/** The open connections, each phase's in the order in which they came into it. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #phases: Readonly<Record<Phase, Set<Connection>>> = {
    silent: new Set(),
    idle: new Set(),
    answering: new Set(),
    sending: new Set(),
    streaming: new Set(),
    closing: new Set(),
  };

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return Object.values(this.#phases).reduce((sum, { size }) => sum + size, 0);
  }

  /** Serves this connection until it ends. */
  add(accepted: Deno.TcpConn): void {
    const { serve, answer, onError } = this.#options;
    const peer = accepted.remoteAddr.hostname;
    const connection: Connection = {
      phase: "silent",
      sinceMs: performance.now(),
      requests: 0,
      cut: () => {},
    };
    const server = serve(
      accepted,
      { addEventListener: (_type, cut) => connection.cut = cut },
      (request, served) => this.#answer(connection, served, answer(request, peer)),
      onError,
      () => {},
    );
    this.#phases.silent.add(connection);
    const left = () => this.#leave(connection);
    server.finished.then(left, left);
  }

  /** Closes whoever has stood in a phase for longer than its limit. */
  sweep(): void {
    for (const phase of Object.keys(this.#phases) as Phase[]) {
      const msMax = this.#options.limits[phase];
      if (msMax === null) continue;
      while (this.#cutOldest(phase, msMax)) { /* the next one */ }
    }
  }

  /** Closes the connection that is missed least. @returns false where all are new or being answered */
  makeRoom(): boolean {
    return MAKES_ROOM.some(([phase, msMin]) => this.#cutOldest(phase, msMin));
  }

  /** Ends those without a request at once, the others when they are answered, all after `msMax`. */
  async close(msMax: number): Promise<void> {
    const deadline = performance.now() + msMax;
    while (this.size > 0 && performance.now() < deadline) {
      while (this.#cutOldest("silent", 0)) { /* the next one */ }
      while (this.#cutOldest("idle", CONNECTION_PROTECTED_MS)) { /* the next one */ }
      await new Promise((resolve) => setTimeout(resolve, CLOSING_LOOK_MS));
    }
    for (const connections of Object.values(this.#phases)) {
      connections.forEach((connection) => this.#cut(connection));
    }
  }

  async #answer(
    connection: Connection,
    { completed }: Served,
    reply: Promise<Response>,
  ): Promise<Response> {
    connection.requests++;
    this.#enter(connection, "answering");
    let next: Phase = "idle";
    const sent = () => {
      if (--connection.requests === 0) this.#enter(connection, next);
    };
    completed.then(sent, sent);
    const response = await reply;
    if (response.headers.get("connection") === "close") next = "closing";
    if (connection.requests === 1) {
      this.#enter(connection, isStream(response) ? "streaming" : "sending");
    }
    return response;
  }

  #enter(connection: Connection, phase: Phase): void {
    if (!this.#phases[connection.phase].delete(connection)) return;
    connection.phase = phase;
    connection.sinceMs = performance.now();
    this.#phases[phase].add(connection);
  }

  #cutOldest(phase: Phase, msMin: number): boolean {
    const [oldest] = this.#phases[phase];
    if (oldest === undefined || performance.now() - oldest.sinceMs < msMin) return false;
    this.#cut(oldest);
    return true;
  }

  #cut(connection: Connection): void {
    this.#leave(connection);
    try {
      connection.cut();
    } catch {
      // It has just ended by itself.
    }
  }

  #leave(connection: Connection): void {
    this.#phases[connection.phase].delete(connection);
  }
}
