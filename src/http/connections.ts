import {
  ANSWER_PROTECTED_MS,
  CONNECTION_HEAD_MS_MAX,
  CONNECTION_IDLE_MS_MAX,
  CONNECTION_LINGER_MS_MAX,
  CONNECTION_PROTECTED_MS,
  REPLY_SEND_MS_MAX,
} from "../limits.ts";
import { isLong } from "./long_reply.ts";
import { ownBytes } from "./reply_body.ts";
import { type ServeConnection, type Served } from "./serve_connection.ts";

export type Answer = (request: Request, peer: string) => Promise<Response>;

/** The most milliseconds that a connection may stay in each phase; null: no limit. */
export type PhaseLimits = Readonly<Record<Phase, number | null>>;

/** What a connection is doing. */
export type Phase =
  /** No complete request head has arrived yet. */
  | "silent"
  /** The last request was answered, and the next one has not arrived. */
  | "idle"
  /** A request is being read and answered, under its own limits. */
  | "answering"
  /** The reply is being sent, as fast as the client reads it. */
  | "sending"
  /** The reply is written while it is read, which lasts as long as its reader and its token. */
  | "streaming"
  /** The last reply was sent; the client may still be writing before it reads the reply. */
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
 * The phases whose connections are closed to make room, in this order, each with the least milliseconds
 * that a connection must have been in it: a new connection may have sent a head that is not read yet, and
 * the end of a reply may still be on its way.
 */
const MAKES_ROOM: readonly (readonly [Phase, number])[] = [
  ["closing", CONNECTION_PROTECTED_MS],
  ["silent", CONNECTION_PROTECTED_MS],
  ["idle", CONNECTION_PROTECTED_MS],
  ["sending", ANSWER_PROTECTED_MS],
  ["answering", ANSWER_PROTECTED_MS],
];

/** The phases of a request in progress; its connection is in the first of them that one of its requests is in. */
const REQUEST_PHASES = ["answering", "streaming", "sending"] as const;
type RequestPhase = typeof REQUEST_PHASES[number];

const CLOSING_POLL_MS = 20;

interface Connection {
  phase: Phase;
  sinceMs: number;
  /** How many requests in progress, of which only HTTP/2 has more than one, are in which phase. */
  readonly requests: Record<RequestPhase, number>;
  cut(): void;
}

/** A reply that its client has not taken wholly. */
interface SentReply {
  readonly connection: Connection;
  readonly sinceMs: number;
  /** What the server holds for it alone. */
  readonly bytes: number;
}

export interface ConnectionsOptions {
  readonly serve: ServeConnection;
  readonly answer: Answer;
  /** Makes the reply to a request whose answer fails. */
  readonly onError: (error: unknown) => Response;
  readonly limits: PhaseLimits;
  /**
   * The most replies that their clients have not taken. One of HTTP/2 holds up to 33 KB, and a connection has
   * some two hundred; beyond the most, the connection of the oldest is closed.
   */
  readonly untakenMax: number;
  /** The most bytes of large ones among them; beyond it, the connection of the oldest large one is closed. */
  readonly untakenBytesMax: number;
}

/** The open connections by phase, each phase in the order in which its connections entered it. */
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
  /** The replies that are being sent, the oldest first: other requests of a connection do not prolong their time. */
  readonly #replies = new Set<SentReply>();
  #untakenBytes = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return Object.values(this.#phases).reduce((sum, { size }) => sum + size, 0);
  }

  /** Serves a connection until it ends. */
  add(accepted: Deno.TcpConn): void {
    const { serve, answer, onError } = this.#options;
    const peer = accepted.remoteAddr.hostname;
    const connection: Connection = {
      phase: "silent",
      sinceMs: performance.now(),
      requests: { answering: 0, streaming: 0, sending: 0 },
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

  /** Closes the connections that have been in a phase for longer than its limit, and those of too many large replies. */
  sweep(): void {
    for (const phase of Object.keys(this.#phases) as Phase[]) {
      const msMax = this.#options.limits[phase];
      if (msMax === null) continue;
      while (this.#cutOldest(phase, msMax)) { /* the next one */ }
    }
    this.#boundBytes();
  }

  /** Closes the most expendable connection. @returns false if all are new or being answered */
  makeRoom(): boolean {
    return MAKES_ROOM.some(([phase, msMin]) => this.#cutOldest(phase, msMin));
  }

  /** Ends connections without a request at once, others when they are answered, and all after `msMax`. */
  async close(msMax: number): Promise<void> {
    const deadline = performance.now() + msMax;
    while (this.size > 0 && performance.now() < deadline) {
      while (this.#cutOldest("silent", 0)) { /* the next one */ }
      while (this.#cutOldest("idle", CONNECTION_PROTECTED_MS)) { /* the next one */ }
      await new Promise((resolve) => setTimeout(resolve, CLOSING_POLL_MS));
    }
    for (const connections of Object.values(this.#phases)) {
      connections.forEach((connection) => this.#cut(connection));
    }
  }

  async #answer(
    connection: Connection,
    { completed }: Served,
    answer: Promise<Response>,
  ): Promise<Response> {
    const { requests } = connection;
    let at: RequestPhase | null = "answering";
    let next: Phase = "idle";
    const enter = () =>
      this.#enter(connection, REQUEST_PHASES.find((phase) => requests[phase] > 0) ?? next);
    requests.answering++;
    enter();
    let reply: SentReply | null = null;
    const sent = () => {
      if (reply !== null) this.#forget(reply);
      if (at !== null) requests[at]--;
      at = null;
      enter();
    };
    completed.then(sent, sent);
    const response = await answer;
    if (response.headers.get("connection") === "close") next = "closing";
    // Null: the client did not wait for the reply.
    if (at !== null) {
      requests[at]--;
      at = isLong(response) ? "streaming" : "sending";
      requests[at]++;
      enter();
      reply = { connection, sinceMs: performance.now(), bytes: ownBytes(response) };
      if (at === "sending") this.#untaken(reply);
    }
    return response;
  }

  #enter(connection: Connection, phase: Phase): void {
    if (!this.#phases[connection.phase].delete(connection)) return;
    connection.phase = phase;
    connection.sinceMs = performance.now();
    this.#phases[phase].add(connection);
  }

  /** Notes a reply that is being sent, and makes room for it among those that are not taken. */
  #untaken(reply: SentReply): void {
    this.#replies.add(reply);
    this.#untakenBytes += reply.bytes;
    if (this.#replies.size > this.#options.untakenMax) this.#cutUntaken(CONNECTION_PROTECTED_MS);
    this.#boundBytes();
  }

  /** Cuts large replies while there are too many bytes of them. */
  #boundBytes(): void {
    const { untakenBytesMax } = this.#options;
    while (this.#untakenBytes > untakenBytesMax && this.#cutUntaken(ANSWER_PROTECTED_MS, 1)) {
      /* the next one */
    }
  }

  #forget(reply: SentReply): void {
    if (this.#replies.delete(reply)) this.#untakenBytes -= reply.bytes;
  }

  #cutOldest(phase: Phase, msMin: number): boolean {
    if (phase === "sending") return this.#cutUntaken(msMin);
    const [oldest] = this.#phases[phase];
    if (oldest === undefined || performance.now() - oldest.sinceMs < msMin) return false;
    this.#cut(oldest);
    return true;
  }

  /** Closes the connection of the reply, of so many bytes, that has been sent for longest. */
  #cutUntaken(msMin: number, bytesMin = 0): boolean {
    const oldest = this.#replies.values().find(({ bytes }) => bytes >= bytesMin);
    if (oldest === undefined || performance.now() - oldest.sinceMs < msMin) return false;
    const { connection } = oldest;
    for (const reply of this.#replies) if (reply.connection === connection) this.#forget(reply);
    this.#cut(connection);
    return true;
  }

  #cut(connection: Connection): void {
    this.#leave(connection);
    try {
      connection.cut();
    } catch {
      // The connection has just ended by itself.
    }
  }

  #leave(connection: Connection): void {
    this.#phases[connection.phase].delete(connection);
  }
}
