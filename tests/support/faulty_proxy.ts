import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import { Buffer } from "node:buffer";

/** What becomes of a request on its way: `lost` is stored, and its answer never arrives. */
export type Fault = "none" | "refused" | "cut" | "lost";

const LATIN1 = new TextDecoder("latin1");
const GZIP = 0x1f;
/** The ids that clients make for events: the first is what a retry of the same batch has in common with it. */
const IDS = /"(?:messageId|uuid|insert_id|\$insert_id|eventId)"\s*:\s*"([^"]+)"/g;
/** Of so many batches the first few meet a fault, each a different one, at their first try alone. */
const FAULTS: readonly Fault[] = ["none", "refused", "none", "cut", "none", "lost"];
const BATCHES_PER_ROUND = 7;

export interface FaultyOptions {
  /** The paths whose posts meet faults; absent: all. */
  readonly posts?: (path: string) => boolean;
  /** A client that sends each event alone meets fewer: three in so many posts. */
  readonly batchesPerRound?: number;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function textOf(body: Buffer): string {
  return LATIN1.decode(body[0] === GZIP ? gunzipSync(body) : body);
}

function idsOf(text: string): string[] {
  return [...text.matchAll(IDS)].map(([, id = ""]) => id);
}

/**
 * Stands between a client and the server: breaks connections before and after the server has heard
 * a batch, and answers 503 in its place. Each batch meets one fault at most, so that every client's
 * patience suffices.
 */
export class FaultyProxy implements AsyncDisposable {
  readonly counts: Record<Fault, number> = { none: 0, refused: 0, cut: 0, lost: 0 };
  /** Statuses that the server itself answered to posts, and what it was sent. */
  readonly statuses = new Map<number, number>();
  readonly bodies: string[] = [];
  /** Of the events that it answered 200 for, with whatever became of the answer. */
  readonly ids = new Set<string>();
  readonly preflights: { path: string; asked: string | null }[] = [];
  readonly #seen = new Set<string>();
  readonly #http: Server;
  #batches = 0;

  private constructor(
    readonly answer: (request: Request, peer: string) => Promise<Response>,
    readonly options: FaultyOptions,
  ) {
    this.#http = createServer((request, reply) => void this.#serve(request, reply));
  }

  static async start(
    answer: (request: Request, peer: string) => Promise<Response>,
    options: FaultyOptions = {},
  ): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(answer, options);
    await new Promise<void>((resolve) => proxy.#http.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    const address = this.#http.address();
    if (address === null || typeof address === "string") throw new Error("It does not listen");
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }

  #faultOf(text: string): Fault {
    const [id] = idsOf(text);
    if (id !== undefined) {
      if (this.#seen.has(id)) return "none";
      this.#seen.add(id);
    }
    const { batchesPerRound = BATCHES_PER_ROUND } = this.options;
    return FAULTS[this.#batches++ % batchesPerRound] ?? "none";
  }

  async #serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    try {
      await this.#pass(request, reply, await bodyOf(request));
    } catch (error) {
      if (!request.socket.destroyed) {
        reply.writeHead(502).end(String(error));
      }
    }
  }

  async #pass(request: IncomingMessage, reply: ServerResponse, body: Buffer): Promise<void> {
    const { method = "GET", url: path = "/" } = request;
    const { posts = () => true } = this.options;
    const isPost = method === "POST" && posts(path.split("?")[0]!);
    if (method === "OPTIONS") {
      const asked = request.headers["access-control-request-headers"] ?? null;
      this.preflights.push({ path, asked });
    }
    const fault = isPost ? this.#faultOf(textOf(body)) : "none";
    if (isPost) this.counts[fault]++;
    if (fault === "cut") return void request.socket.destroy();
    const origin = { "access-control-allow-origin": "*", "access-control-expose-headers": "*" };
    if (fault === "refused") {
      reply.writeHead(503, { ...origin, "content-length": "0" }).end();
      return;
    }
    const response = await this.#forward(request, path, body);
    if (isPost) {
      const text = textOf(body);
      this.bodies.push(text);
      if (response.ok) { for (const id of idsOf(text)) this.ids.add(id); }
      this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1);
    }
    const answered = Buffer.from(await response.arrayBuffer());
    if (fault === "lost") return void request.socket.destroy();
    reply.writeHead(response.status, [...response.headers].flat()).end(answered);
  }

  async #forward(request: IncomingMessage, path: string, body: Buffer): Promise<Response> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (name !== "transfer-encoding" && name !== "connection") headers.set(name, String(value));
    }
    const { method = "GET" } = request;
    return await this.answer(
      new Request(`${this.url}${path}`, {
        method,
        headers,
        ...(method === "GET" || method === "HEAD" || body.length === 0
          ? {}
          : { body: new Uint8Array(body) }),
      }),
      request.socket.remoteAddress ?? "127.0.0.1",
    );
  }
}
