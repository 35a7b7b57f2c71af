import {
  EGRESS_ADDRESSES_DIALLED_MAX,
  EGRESS_BYTES_MAX,
  EGRESS_CONNECT_MS_MAX,
  EGRESS_CONNECTIONS_AT_ONCE_MAX,
  EGRESS_CONNECTIONS_MAX,
  EGRESS_HEAD_BYTES_MAX,
  EGRESS_HEAD_MS_MAX,
  EGRESS_IDLE_MS_MAX,
  EGRESS_LINGER_MS_MAX,
  EGRESS_RESOLVE_MS_MAX,
} from "../capture_limits.ts";
import { resolveHost } from "../../http/resolve_host.ts";
import { type Passage, passRequest, passTunnel } from "./egress_exchange.ts";
import { EgressRoutes, isLiteralHost, withoutDot } from "./egress_route.ts";
import { EgressSocket, HeadTooLarge, withinDeadline } from "./egress_socket.ts";
import {
  type EgressRequest,
  parseRequestHead,
  REFUSAL_HEADER,
  REQUEST_HEAD_END,
} from "./request_head.ts";

/** The configured site: its host and port may be outside the public Internet, and outside ports 80 and 443. */
export interface EgressSite {
  /** As URL writes it: lower case, IPv4 in decimal, IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether the host is an address or `localhost`: only then may it be outside the public Internet. */
  readonly isLiteral: boolean;
}

/** A connection or request that the browser asked for, and its outcome. */
export interface EgressEntry {
  /** As URL writes it: `new URL(…).hostname` of the requested address. */
  readonly host: string;
  readonly port: number;
  /** `too_much`: refused, or ended while it was open, because the capture had reached its limits. */
  readonly outcome:
    | "open"
    | "blocked_address"
    | "blocked_host"
    | "blocked_port"
    | "unresolved"
    | "unreachable"
    | "too_much";
  /** The bytes in both directions so far. */
  readonly bytes: number;
}

export interface EgressOptions {
  readonly site: EgressSite;
  /** Whether a host, without a final dot, is blocked: browser vendors, analytics. */
  readonly blockedHosts: (host: string) => boolean;
  /** Default: the system's resolver, which includes /etc/hosts. */
  readonly resolve?: (host: string) => Promise<string[]>;
  /** Connects to an address that was checked. */
  readonly dial?: (address: string, port: number, signal: AbortSignal) => Promise<Deno.TcpConn>;
  readonly bytesMax?: number;
  readonly connectionsMax?: number;
  readonly connectionsAtOnceMax?: number;
  readonly headMsMax?: number;
  readonly resolveMsMax?: number;
  readonly connectMsMax?: number;
  readonly idleMsMax?: number;
}

type Refusal = Exclude<EgressEntry["outcome"], "open">;
type Entry = { -readonly [Key in keyof EgressEntry]: EgressEntry[Key] };

/** The pause after a failed accept, such as with too many open files. */
const ACCEPT_PAUSE_MS = 100;
/** An empty page, but not an empty body: for a 403 without a body, Chromium shows its own error page. */
const REFUSAL_BODY = "<!doctype html>";

/** Returns the host and port of a site. Throws TypeError if its URL is not http or https. */
export function egressSiteOf(siteUrl: string): EgressSite {
  const { protocol, hostname, port } = new URL(siteUrl);
  if (!/^https?:$/.test(protocol)) throw new TypeError("A site has an address of http or https");
  return {
    host: hostname,
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    isLiteral: isLiteralHost(withoutDot(hostname)),
  };
}

async function dialByTcp(address: string, port: number, signal: AbortSignal) {
  return await Deno.connect({ hostname: address, port, signal });
}

/**
 * The forward proxy, on a loopback port, that makes all connections of a capture's browser. It looks each host up
 * once, checks every address, and connects to one of these. Its log is the only proof of a refusal, as a header of
 * a response could be the site's own.
 */
export class EgressProxy implements AsyncDisposable {
  readonly #options: Required<EgressOptions>;
  readonly #listener: Deno.TcpListener;
  readonly #stop = new AbortController();
  readonly #entries: Entry[] = [];
  readonly #sockets = new Set<EgressSocket>();
  readonly #serving = new Set<Promise<void>>();
  readonly #passages = new Map<Entry, Passage>();
  readonly #routes: EgressRoutes;
  readonly #accepting: Promise<void>;
  #requests = 0;
  #bytes = 0;
  #isExhausted = false;

  private constructor(options: EgressOptions) {
    this.#options = {
      resolve: resolveHost,
      dial: dialByTcp,
      bytesMax: EGRESS_BYTES_MAX,
      connectionsMax: EGRESS_CONNECTIONS_MAX,
      connectionsAtOnceMax: EGRESS_CONNECTIONS_AT_ONCE_MAX,
      headMsMax: EGRESS_HEAD_MS_MAX,
      resolveMsMax: EGRESS_RESOLVE_MS_MAX,
      connectMsMax: EGRESS_CONNECT_MS_MAX,
      idleMsMax: EGRESS_IDLE_MS_MAX,
      ...options,
    };
    this.#routes = new EgressRoutes(this.#options);
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#accepting = this.#accept();
  }

  /** Starts to listen. Rejects if the system has no port left. */
  static start(options: EgressOptions): Promise<EgressProxy> {
    return new Promise((resolve) => resolve(new EgressProxy(options)));
  }

  /** The value of the browser's `proxyServer`. */
  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** Returns a copy of the entries so far, in the order in which they were decided. */
  log(): readonly EgressEntry[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  /** Ends every connection and stops listening. The log stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#stop.abort();
      this.#listener.close();
      for (const socket of this.#sockets) socket.close();
    }
    await this.#accepting;
    await Promise.all(this.#serving);
  }

  async #accept(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        // Further connections wait in the system's queue.
        while (this.#serving.size >= this.#options.connectionsAtOnceMax) {
          await Promise.race(this.#serving);
        }
        const connection = await this.#listener.accept();
        const serving = this.#serve(connection).finally(() => this.#serving.delete(serving));
        this.#serving.add(serving);
      } catch {
        await this.#pause();
      }
    }
  }

  async #pause(): Promise<void> {
    const forever = () => new Promise<never>(() => {});
    await withinDeadline(ACCEPT_PAUSE_MS, this.#stop.signal, forever).catch(() => {});
  }

  /** Answers one request and closes the connection. Never rejects. */
  async #serve(connection: Deno.TcpConn): Promise<void> {
    const client = this.#watch(connection);
    try {
      const request = await this.#readRequest(client);
      if (request !== null) await this.#answer(client, request);
    } catch {
      // The browser has closed the connection, took too long, or was cut off, so there is nobody to reply to.
    } finally {
      this.#close(client);
    }
  }

  #watch(connection: Deno.TcpConn): EgressSocket {
    const socket = new EgressSocket(connection);
    this.#sockets.add(socket);
    if (this.#stop.signal.aborted) socket.close();
    return socket;
  }

  #close(socket: EgressSocket): void {
    this.#sockets.delete(socket);
    socket.close();
  }

  /** Returns null for an invalid request, after refusing it, and for none. Rejects if the request takes too long. */
  async #readRequest(client: EgressSocket): Promise<EgressRequest | null> {
    const read = () => client.readHead(REQUEST_HEAD_END, EGRESS_HEAD_BYTES_MAX);
    try {
      const head = await withinDeadline(this.#options.headMsMax, this.#stop.signal, read);
      const request = head === null ? null : parseRequestHead(head);
      if (head !== null && request === null) await this.#refuse(client, "400 Bad Request");
      return request;
    } catch (error) {
      if (!(error instanceof HeadTooLarge)) throw error;
      await this.#refuse(client, "431 Request Header Fields Too Large");
      return null;
    }
  }

  async #answer(client: EgressSocket, request: EgressRequest): Promise<void> {
    if (++this.#requests > this.#options.connectionsMax) this.#exhaust();
    const reached = this.#isExhausted ? "too_much" : await this.#reach(request);
    if (typeof reached === "string") {
      // The proxy was stopped during the attempt, so nothing is known about the host.
      if (this.#stop.signal.aborted) return;
      this.#note(request, reached);
      await this.#refuse(client, statusOf(reached), reached);
      return;
    }
    const upstream = this.#watch(reached);
    const entry = this.#note(request, "open");
    const passage = {
      client,
      upstream,
      idleMsMax: this.#options.idleMsMax,
      signal: this.#stop.signal,
      count: (bytes: number) => this.#count(entry, bytes),
    };
    this.#passages.set(entry, passage);
    try {
      if (request.isTunnel) await passTunnel(passage);
      else await passRequest(passage, request, () => this.#unanswered(client, entry));
    } finally {
      this.#passages.delete(entry);
      this.#close(upstream);
    }
  }

  /** Connects to the requested host, or returns why not. Never rejects. */
  async #reach({ host, port }: EgressRequest): Promise<Deno.TcpConn | Refusal> {
    const { signal } = this.#stop;
    const found = await this.#routes.to(host, port, signal);
    if (typeof found === "string") return found;
    const { dial, connectMsMax } = this.#options;
    for (const address of found.slice(0, EGRESS_ADDRESSES_DIALLED_MAX)) {
      try {
        const dialling = (signal: AbortSignal) => dial(address, port, signal);
        const connection = await withinDeadline(connectMsMax, signal, dialling, (c) => c.close());
        // The capture may have reached its limits meanwhile.
        if (!this.#isExhausted) return connection;
        connection.close();
        return "too_much";
      } catch {
        // The next address may answer.
      }
    }
    return "unreachable";
  }

  #note({ host, port }: EgressRequest, outcome: EgressEntry["outcome"]): Entry {
    const entry = { host, port, outcome, bytes: 0 };
    // Limited, as a page may continue to make requests after the limit.
    if (this.#entries.length < 2 * this.#options.connectionsMax) this.#entries.push(entry);
    return entry;
  }

  /** Counts bytes. Throws if the capture has reached its limits. */
  #count(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes > this.#options.bytesMax) this.#exhaust();
    if (this.#isExhausted) throw new Error("the capture has reached its limits");
  }

  /** Ends the open connections, and refuses all further requests. */
  #exhaust(): void {
    this.#isExhausted = true;
    for (const [entry, { client, upstream }] of this.#passages) {
      entry.outcome = "too_much";
      client.close();
      upstream.close();
    }
    this.#passages.clear();
  }

  async #unanswered(client: EgressSocket, entry: Entry): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (entry.outcome === "open") entry.outcome = "unreachable";
    await this.#refuse(client, statusOf("unreachable"), "unreachable");
  }

  /** Refuses a request, and reads until the browser closes: closing while it still sends would cut off the reply. */
  async #refuse(client: EgressSocket, status: string, reason?: Refusal): Promise<void> {
    const head = [
      `HTTP/1.1 ${status}`,
      ...(reason === undefined ? [] : [`${REFUSAL_HEADER}: ${reason}`]),
      "Content-Type: text/html; charset=utf-8",
      `Content-Length: ${REFUSAL_BODY.length}`,
      "Cache-Control: no-store",
      "Connection: close",
    ];
    await client.write(`${head.join("\r\n")}\r\n\r\n${REFUSAL_BODY}`);
    await client.endWriting();
    const drain = async () => {
      while (await client.read() !== null);
    };
    await withinDeadline(EGRESS_LINGER_MS_MAX, this.#stop.signal, drain);
  }
}

function statusOf(refusal: Refusal): string {
  const isFailure = refusal === "unresolved" || refusal === "unreachable";
  return isFailure ? "502 Bad Gateway" : "403 Forbidden";
}
