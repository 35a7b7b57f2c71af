import assert from "node:assert/strict";
import {
  type EgressOptions,
  EgressProxy,
  egressSiteOf,
} from "../../src/screenshots/egress/egress_proxy.ts";
import { within } from "../support/server_process.ts";

/** Long enough for a busy machine; nothing is expected to take it. */
export const WAIT_MS_MAX = 20_000;
/** What a browser is told once its tunnel is there. */
export const OPENED = "HTTP/1.1 200 Connection Established\r\n\r\n";
const LATIN1 = new TextDecoder("latin1");
const ENCODER = new TextEncoder();

/** One end of a TCP connection, one character a byte. */
export class Peer implements Disposable {
  #received = "";

  readonly #waitMsMax: number;

  constructor(readonly socket: Deno.TcpConn, waitMsMax = WAIT_MS_MAX) {
    this.#waitMsMax = waitMsMax;
  }

  /** Stops where the other side takes no more. */
  async send(data: string | Uint8Array): Promise<void> {
    let bytes = typeof data === "string" ? ENCODER.encode(data) : data;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(await this.socket.write(bytes));
    } catch {
      // The test looks at what came of it.
    }
  }

  /** All up to and with `mark`; what follows stays. */
  async until(mark: string): Promise<string> {
    while (!this.#received.includes(mark)) {
      const more = await this.#more();
      const start = this.#received.slice(0, 500);
      assert(more, `the connection ended before ${JSON.stringify(mark)}: ${start}`);
    }
    const length = this.#received.indexOf(mark) + mark.length;
    const text = this.#received.slice(0, length);
    this.#received = this.#received.slice(length);
    return text;
  }

  /** All up to the end of the connection, however it comes. */
  async rest(): Promise<string> {
    while (await this.#more());
    const text = this.#received;
    this.#received = "";
    return text;
  }

  [Symbol.dispose](): void {
    try {
      this.socket.close();
    } catch {
      // The test closed it.
    }
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(64 * 1024);
    const reading = this.socket.read(buffer).catch(() => null);
    const count = await within(this.#waitMsMax, reading, "Reading");
    if (count === null) return false;
    this.#received += LATIN1.decode(buffer.subarray(0, count));
    return true;
  }
}

/** A TCP server that counts, and does with each connection what a test says. */
export class Listener implements AsyncDisposable {
  connections = 0;
  readonly #listener: Deno.TcpListener;
  readonly #peers = new Set<Peer>();
  readonly #work = new Set<Promise<void>>();
  readonly #accepting: Promise<void>;

  /** @param serve the connection is closed once it has ended */
  constructor(serve: (peer: Peer) => Promise<void>, hostname = "127.0.0.1") {
    this.#listener = Deno.listen({ hostname, port: 0 });
    this.#accepting = this.#accept(serve);
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const peer of this.#peers) peer[Symbol.dispose]();
    await this.#accepting;
    await Promise.all(this.#work);
  }

  async #accept(serve: (peer: Peer) => Promise<void>): Promise<void> {
    for await (const socket of this.#listener) {
      this.connections++;
      // Longer than whoever tests: a server that gives up first would end what the proxy must end.
      const peer = new Peer(socket, 3 * WAIT_MS_MAX);
      this.#peers.add(peer);
      const work = serve(peer).catch(() => {}).finally(() => {
        peer[Symbol.dispose]();
        this.#work.delete(work);
      });
      this.#work.add(work);
    }
  }
}

/** Answers the one request of each connection, whose head it keeps, with 200 and closes it. */
export class Site extends Listener {
  readonly heads: string[];

  constructor(body = "hello", hostname?: string) {
    const heads: string[] = [];
    super(async (peer) => {
      heads.push(await peer.until("\r\n\r\n"));
      await peer.send(
        `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await peer.rest();
    }, hostname);
    this.heads = heads;
  }
}

export interface ProxyOptions extends Partial<Omit<EgressOptions, "site">> {
  readonly siteUrl?: string;
}

/** A proxy for a site; without one, for a site that nothing here has to do with. */
export function startProxy({ siteUrl, ...options }: ProxyOptions = {}): Promise<EgressProxy> {
  return EgressProxy.start({
    site: egressSiteOf(siteUrl ?? "https://site.example"),
    blockedHosts: () => false,
    resolve: () => Promise.reject(new Error("no name is looked up here")),
    ...options,
  });
}

/** A proxy whose site is this listener. */
export function proxyFor(site: Listener, options: ProxyOptions = {}): Promise<EgressProxy> {
  return startProxy({ siteUrl: urlOf(site), ...options });
}

export function urlOf(site: Listener): string {
  return `http://127.0.0.1:${site.port}`;
}

export async function connect(proxy: EgressProxy): Promise<Peer> {
  return new Peer(
    await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(proxy.url).port) }),
  );
}

/** Says something to the proxy. @returns all it says until it closes */
export async function ask(proxy: EgressProxy, text: string): Promise<string> {
  using peer = await connect(proxy);
  await peer.send(text);
  return await peer.rest();
}

export function get(target: string, ...fields: string[]): string {
  return [`GET ${target} HTTP/1.1`, "Host: whatever.example", ...fields, "", ""].join("\r\n");
}

export function tunnel(authority: string): string {
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
}

/** Dials a listener of the test whatever the address, and keeps what was dialled. */
export class Dialler {
  readonly dialled: string[] = [];
  readonly #port: (address: string, port: number) => number | null;

  /** @param port of the loopback; null: nothing is there */
  constructor(port: (address: string, port: number) => number | null) {
    this.#port = port;
  }

  readonly dial = async (address: string, port: number): Promise<Deno.TcpConn> => {
    this.dialled.push(`${address} ${port}`);
    const own = this.#port(address, port);
    if (own === null) throw new Deno.errors.ConnectionRefused("nothing is there");
    return await Deno.connect({ hostname: "127.0.0.1", port: own });
  };
}

/** The last entry's outcome. */
export function outcomeOf(proxy: EgressProxy): string | undefined {
  return proxy.log().at(-1)?.outcome;
}
