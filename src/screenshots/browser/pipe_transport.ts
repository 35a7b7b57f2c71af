import type { Readable, Writable } from "node:stream";
import type { ConnectionTransport } from "puppeteer-core/lib/puppeteer/puppeteer-core-browser.js";

const END = 0;

/** The browser's protocol on two pipes: messages of JSON, each ended by a zero byte. */
export class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #out: Writable;
  readonly #in: Readable;
  readonly #decoder = new TextDecoder();
  #parts: Uint8Array[] = [];
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
    // A browser that has ended answers nothing: whoever waits is told by `onclose`.
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
      this.#parts.push(chunk.subarray(from, end));
      from = end + 1;
      const message = this.#decoder.decode(joined(this.#parts));
      this.#parts = [];
      this.onmessage?.(message);
    }
    if (from < chunk.length) this.#parts.push(chunk.subarray(from));
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
