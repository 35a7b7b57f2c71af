import { Buffer } from "node:buffer";
import { EGRESS_CHUNK_BYTES } from "../capture_limits.ts";

/** A head is longer than allowed. */
export class HeadTooLarge extends Error {}

/** A TCP connection from which heads can be read. Texts have one character per byte. */
export class EgressSocket {
  readonly #connection: Deno.TcpConn;
  readonly #buffer = new Uint8Array(EGRESS_CHUNK_BYTES);
  /** Bytes that were received together with a head and are not read yet. */
  #ahead: Uint8Array | null = null;
  #isClosed = false;

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  /** Returns the next bytes, valid until the next call; null at the end. Throws if the connection fails. */
  async read(): Promise<Uint8Array | null> {
    const ahead = this.#ahead;
    this.#ahead = null;
    if (ahead !== null) return ahead;
    const count = await this.#connection.read(this.#buffer);
    return count === null ? null : this.#buffer.subarray(0, count);
  }

  /**
   * Reads a head, up to and including the blank line that `end` matches; null if the connection ends before.
   * Throws HeadTooLarge beyond `bytesMax`, and what read() throws.
   */
  async readHead(end: RegExp, bytesMax: number): Promise<string | null> {
    let text = "";
    for (;;) {
      const chunk = await this.read();
      if (chunk === null) return null;
      // Searches only what is new, and the three characters before it, where a blank line may have begun.
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

  /** Resolves once the system has accepted all of the data. Throws if the connection fails. */
  async write(data: Uint8Array | string): Promise<void> {
    let bytes: Uint8Array = typeof data === "string" ? Buffer.from(data, "latin1") : data;
    while (bytes.length > 0) bytes = bytes.subarray(await this.#connection.write(bytes));
  }

  /** Closes this direction; the other side may still send. */
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
 * Resolves as `work` does. Throws what it throws, or an error once `msMax` have passed or `signal` aborts: then the
 * signal of `work` aborts too, and a value that it still returns goes to `discard`.
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
