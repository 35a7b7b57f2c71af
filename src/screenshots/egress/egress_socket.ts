import { Buffer } from "node:buffer";
import { EGRESS_CHUNK_BYTES } from "../capture_limits.ts";

/** A head that does not end within what it may weigh. */
export class HeadTooLarge extends Error {}

/** One end of an exchange: a TCP connection that heads can be read from. Text is one character a byte. */
export class EgressSocket {
  readonly #connection: Deno.TcpConn;
  readonly #buffer = new Uint8Array(EGRESS_CHUNK_BYTES);
  /** Read together with a head, and not yet taken. */
  #ahead: Uint8Array | null = null;
  #isClosed = false;

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  /** The next bytes, good until the next call; null at the end. Throws when the connection breaks. */
  async read(): Promise<Uint8Array | null> {
    const ahead = this.#ahead;
    this.#ahead = null;
    if (ahead !== null) return ahead;
    const count = await this.#connection.read(this.#buffer);
    return count === null ? null : this.#buffer.subarray(0, count);
  }

  /**
   * A head, up to and with the blank line that `end` finds; null if the connection ends before.
   * Throws HeadTooLarge past `bytesMax`, and what read() throws.
   */
  async readHead(end: RegExp, bytesMax: number): Promise<string | null> {
    let text = "";
    for (;;) {
      const chunk = await this.read();
      if (chunk === null) return null;
      // What was searched before is not searched again, but for a blank line that arrived in part.
      const from = Math.max(0, text.length - 3);
      text += Buffer.from(chunk).toString("latin1");
      const found = end.exec(text.slice(from));
      const length = found === null ? text.length : from + found.index + found[0].length;
      if (length > bytesMax) throw new HeadTooLarge();
      if (found === null) continue;
      if (length < text.length) this.#ahead = Buffer.from(text.slice(length), "latin1");
      return text.slice(0, length);
    }
  }

  /** Resolves once the system has taken all of it. Throws when the connection breaks. */
  async write(data: Uint8Array | string): Promise<void> {
    let bytes: Uint8Array = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    while (bytes.length > 0) bytes = bytes.subarray(await this.#connection.write(bytes));
  }

  /** Tells the other side that nothing more comes; it may go on. */
  async endWriting(): Promise<void> {
    await this.#connection.closeWrite();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.close();
  }
}

/**
 * Resolves as `work` does, which is told by its signal when nobody waits any more.
 * Throws what it throws, or an error once `msMax` have passed or `signal` aborts; a value that it
 * brings after that goes to `discard`.
 */
export async function withinDeadline<T>(
  msMax: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  discard: (value: T) => void = () => {},
): Promise<T> {
  signal.throwIfAborted();
  const given = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () => {
    given.abort();
    reject(new Error("the deadline has passed"));
  };
  const timer = setTimeout(giveUp, msMax);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const working = work(given.signal);
    working.then((value) => given.signal.aborted && discard(value), () => {});
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
