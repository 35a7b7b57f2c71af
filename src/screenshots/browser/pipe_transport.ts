import type { Readable, Writable } from "node:stream";
import type { ConnectionTransport } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";
import { CAPTURE_MESSAGE_BYTES_MAX } from "../capture_limits.ts";

const END = 0;

/**
 * The browser's protocol over two pipes: JSON messages, each ended by a zero byte. A message that is larger than any
 * picture must be a page's doing, and ends the connection, and with it the browser.
 */
export class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #out: Writable;
  readonly #in: Readable;
  readonly #decoder = new TextDecoder();
  #parts: Uint8Array[] = [];
  #partsBytes = 0;
  #isClosed = false;

  constructor(out: Writable, incoming: Readable) {
    this.#out = out;
    this.#in = incoming;
    incoming.on("data", (chunk: Uint8Array) => this.#take(chunk));
    incoming.on("close", () => this.#ended());
    incoming.on("error", () => this.#ended());
    out.on("error", () => this.#ended());
  }

  send(message: string): void {
    // A browser that has ended does not answer: `onclose` rejects what waits for it.
    if (!this.#isClosed) this.#out.write(`${message}\0`);
  }

  close(): void {
    this.#ended();
    this.#out.destroy();
    this.#in.destroy();
  }

  #ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #take(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(END); end !== -1; end = chunk.indexOf(END, from)) {
      if (!this.#add(chunk.subarray(from, end))) return;
      from = end + 1;
      const message = this.#decoder.decode(joined(this.#parts));
      this.#parts = [];
      this.#partsBytes = 0;
      this.onmessage?.(message);
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  /** Adds a part of the current message. @returns false if the message is too large, or the connection closed */
  #add(part: Uint8Array): boolean {
    if (this.#isClosed) return false;
    this.#partsBytes += part.length;
    this.#parts.push(part);
    if (this.#partsBytes <= CAPTURE_MESSAGE_BYTES_MAX) return true;
    this.#parts = [];
    this.close();
    return false;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
