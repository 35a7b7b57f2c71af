import { type ClientHttp2Session, connect } from "node:http2";
import { within } from "../support/server_process.ts";

const HEAD_MS_MAX = 10_000;

/** A connection of HTTP/2 without TLS whose client takes the heads of replies, and no byte of their bodies. */
export class Http2Connection implements Disposable {
  readonly #session: ClientHttp2Session;
  /** Settles when the connection has ended. */
  readonly ended: Promise<void>;

  constructor(port: number) {
    this.#session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    // It ends with an error where the server closes it.
    this.#session.on("error", () => {});
    this.ended = new Promise((resolve) => this.#session.once("close", resolve));
  }

  /** Sends a GET. @returns the status, as soon as the head of the reply is there; rejects if none comes */
  async get(path: string): Promise<number> {
    const stream = this.#session.request({ ":path": path });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    stream.on("error", () => {});
    stream.once("close", () => reject(new Error(`${path} was closed`)));
    stream.once("response", ({ ":status": status }) => resolve(Number(status)));
    return await within(HEAD_MS_MAX, promise, `The head of ${path}`);
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}
