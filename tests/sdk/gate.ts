import { pause } from "../support/server_process.ts";

// deno-lint-ignore no-explicit-any -- events are read as a server would
export type Event = any;

/** One `POST /v1/events` as it came in. */
export interface Post {
  readonly atMs: number;
  readonly events: readonly Event[];
  readonly bytes: number;
  readonly key: string | null;
  readonly contentType: string | null;
  /** What it was answered; 0 while, or because, it was not. */
  status: number;
  reply: Event;
}

/** Answers a request instead of the server, or null: the server shall. */
export type Fault = (post: Post) => Response | null | Promise<Response | null>;

/** What is no JSON is the server's to refuse. */
function bodyOf(text: string): Event {
  try {
    return JSON.parse(text);
  } catch {
    return { events: [] };
  }
}

/** Stands between the browser and the server: keeps a record, and misbehaves as it is told. */
export class Gate {
  readonly posts: Post[] = [];
  readonly preflights: string[] = [];
  fault: Fault = () => null;
  readonly #server: (request: Request) => Promise<Response>;

  constructor(server: (request: Request) => Promise<Response>) {
    this.#server = server;
  }

  reset(): void {
    this.posts.length = 0;
    this.preflights.length = 0;
    this.fault = () => null;
  }

  /** Of every post, or of those with this status, the events in the order of their arrival. */
  events(status?: number): Event[] {
    return this.posts.filter((post) => status === undefined || post.status === status)
      .flatMap((post) => post.events);
  }

  async handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "OPTIONS") this.preflights.push(pathname);
    if (request.method !== "POST") return await this.#server(request);
    let text = "";
    try {
      text = await request.text();
    } catch {
      return new Response(null, { status: 499 });
    }
    const body = bodyOf(text);
    const post: Post = {
      atMs: Date.now(),
      events: body.events,
      bytes: new TextEncoder().encode(text).length,
      key: request.headers.get("x-api-key") ?? body.apiKey ?? null,
      contentType: request.headers.get("content-type"),
      status: 0,
      reply: null,
    };
    this.posts.push(post);
    const { url, method, headers } = request;
    const answer = await this.fault(post) ??
      await this.#server(new Request(url, { method, headers, body: text }));
    post.status = answer.status;
    post.reply = await answer.clone().json().catch(() => null);
    answer.headers.set("Access-Control-Allow-Origin", "*");
    answer.headers.set("Access-Control-Expose-Headers", "Retry-After");
    return answer;
  }
}

export const refusal = (status: number, headers: HeadersInit = {}) => () =>
  Response.json({ code: "of_a_test", status }, { status, headers });

/** Holds the answer back until long after the SDK's patience. */
export const hang = async (): Promise<Response> => {
  await pause(4_000);
  return new Response(null, { status: 504 });
};

/**
 * A door of raw TCP in front of `port`. While `dropsAnswers`, the server hears each POST to its
 * end, and its answer is cut off by closing the connection.
 */
export class Door implements AsyncDisposable {
  dropsAnswers = false;
  dropped = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections = new Set<Deno.Conn>();
  readonly #done: Promise<void>;

  constructor(readonly target: number) {
    this.#done = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#connections) this.#close(connection);
    await this.#done;
  }

  async #accept(): Promise<void> {
    const all: Promise<void>[] = [];
    try {
      for await (const client of this.#listener) all.push(this.#serve(client));
    } catch {
      // Closed.
    }
    await Promise.all(all);
  }

  #close(connection: Deno.Conn): void {
    if (!this.#connections.delete(connection)) return;
    connection.close();
  }

  async #serve(client: Deno.Conn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: this.target });
    this.#connections.add(client).add(server);
    let isPost = false;
    const close = () => {
      this.#close(client);
      this.#close(server);
    };
    const pump = async (from: Deno.Conn, to: Deno.Conn) => {
      const chunk = new Uint8Array(65_536);
      try {
        for (let n; (n = await from.read(chunk)) !== null;) {
          const part = chunk.subarray(0, n);
          if (from === client) {
            const head = new TextDecoder().decode(part.subarray(0, 5));
            if (/^(?:POST|GET |HEAD|OPTIO)/.test(head)) isPost = head.startsWith("POST");
          } else if (isPost && this.dropsAnswers) {
            this.dropped++;
            break;
          }
          for (let sent = 0; sent < n;) sent += await to.write(part.subarray(sent));
        }
      } catch {
        // The other direction closed it.
      }
      close();
    };
    await Promise.all([pump(client, server), pump(server, client)]);
  }
}
