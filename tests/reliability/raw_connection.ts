import { API_KEY, within } from "../support/server_process.ts";

export interface RawReply {
  readonly status: number;
  readonly headers: Headers;
  /** The `code` of a problem, or null. */
  readonly code: string | null;
  readonly text: string;
}

const HEAD_END = "\r\n\r\n";
const ENCODER = new TextEncoder();
/** One character a byte, so that lengths are byte counts. */
const LATIN1 = new TextDecoder("latin1");

/** The head of a `POST /v1/events`; `headers` say how long the body is. */
export function postHead(headers: Readonly<Record<string, string | number>>): string {
  const all = { "Host": "footfall.test", "X-API-Key": API_KEY, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/events HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** A whole `POST /v1/events`. */
export function post(body: string): string {
  return postHead({ "Content-Length": ENCODER.encode(body).length }) + body;
}

/** A connection on which a test says exactly the bytes that it wants to say. */
export class RawConnection implements Disposable {
  #received = "";

  private constructor(readonly socket: Deno.TcpConn) {}

  static async open(port: number): Promise<RawConnection> {
    return new RawConnection(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** @returns false if the server has closed the connection before all was written */
  async send(data: string | Uint8Array): Promise<boolean> {
    let bytes = typeof data === "string" ? ENCODER.encode(data) : data;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(await this.socket.write(bytes));
      return true;
    } catch {
      return false;
    }
  }

  /** The next reply on this connection. Replies to several requests come one after another. */
  async reply(msMax = 20_000): Promise<RawReply> {
    return await within(msMax, this.#reply(), "A reply");
  }

  [Symbol.dispose](): void {
    try {
      this.socket.close();
    } catch {
      // It was closed by the test itself.
    }
  }

  async #reply(): Promise<RawReply> {
    while (!this.#received.includes(HEAD_END)) {
      if (!await this.#more()) throw new Error("The connection ended without a reply");
    }
    const at = this.#received.indexOf(HEAD_END);
    const [statusLine = "", ...lines] = this.#received.slice(0, at).split("\r\n");
    const headers = new Headers(lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }));
    const bodyAt = at + HEAD_END.length;
    const bytes = Number(headers.get("content-length") ?? "0");
    while (this.#received.length < bodyAt + bytes) {
      if (!await this.#more()) throw new Error("The connection ended within a reply");
    }
    const text = this.#received.slice(bodyAt, bodyAt + bytes);
    this.#received = this.#received.slice(bodyAt + bytes);
    const problem = headers.get("content-type")?.includes("problem+json") ?? false;
    const code = problem ? String(JSON.parse(text).code) : null;
    return { status: Number(statusLine.split(" ")[1]), headers, code, text };
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(64 * 1024);
    const count = await this.socket.read(buffer).catch(() => null);
    if (count === null) return false;
    this.#received += LATIN1.decode(buffer.subarray(0, count));
    return true;
  }
}
