import { Problem } from "../problem.ts";

/** What one body may weigh and how long it may take. */
export interface BodyLimits {
  readonly wireBytesMax: number;
  readonly inflatedBytesMax: number;
  /** Longest silence between two bytes, and longest time in all. */
  readonly idleMsMax: number;
  readonly totalMsMax: number;
}

/** The client went away before its body was complete: there is nobody left to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/**
 * Bytes of all bodies held at once, so that many large requests cannot exhaust the memory; and the
 * means to give up the ones that are still arriving when the server stops.
 */
export class BodyBudget {
  #bytes = 0;
  readonly #closing = new AbortController();
  constructor(readonly bytesMax: number, readonly retryAfterS: number) {}

  /** Answers every body that is still arriving with `shutting_down`. */
  close(): void {
    this.#closing.abort();
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  take(bytes: number): void {
    if (this.#bytes + bytes > this.bytesMax) {
      throw new Problem(
        "overloaded",
        "Too many bodies are being read at once. Try again shortly.",
        {
          headers: { "Retry-After": String(this.retryAfterS) },
        },
      );
    }
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }
}

type Encoding = "identity" | "gzip" | "deflate";

/** After these the rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { "Connection": "close" } as const;

function contentEncoding(request: Request): Encoding {
  const named = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (named === "" || named === "identity") return "identity";
  if (named === "gzip" || named === "x-gzip") return "gzip";
  if (named === "deflate") return "deflate";
  throw new Problem(
    "unsupported_encoding",
    "Send the body as it is, or with Content-Encoding gzip or deflate.",
    { headers: { "Accept-Encoding": "gzip, deflate" } },
  );
}

function tooLarge(what: string, bytesMax: number): Problem {
  return new Problem(
    "body_too_large",
    `The body is larger than ${bytesMax} bytes ${what}. Send less in one request.`,
    { headers: CLOSE },
  );
}

/**
 * Reads the bytes as sent, within size and time. One timer serves both time limits: it wakes at the
 * earlier of them and goes back to sleep if bytes have come meanwhile.
 */
async function readWire(request: Request, limits: BodyLimits, held: Held): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > limits.wireBytesMax) throw tooLarge("on the wire", limits.wireBytesMax);
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const startedAt = performance.now();
  let lastByteAt = startedAt;
  let timedOut = false;
  const closing = held.budget.closing;
  const giveUp = () => void reader.cancel().catch(() => {});
  closing.addEventListener("abort", giveUp, { once: true });
  const check = () => {
    const now = performance.now();
    const leftMs = Math.min(
      lastByteAt + limits.idleMsMax - now,
      startedAt + limits.totalMsMax - now,
    );
    if (leftMs > 0) timer = setTimeout(check, leftMs);
    else {
      timedOut = true;
      giveUp();
    }
  };
  let timer = setTimeout(check, Math.min(limits.idleMsMax, limits.totalMsMax));
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (timedOut) throw timeout(limits);
      if (done && closing.aborted) throw stopping(held.budget);
      if (done) break;
      lastByteAt = performance.now();
      bytes += value.length;
      if (bytes > limits.wireBytesMax) {
        giveUp();
        throw tooLarge("on the wire", limits.wireBytesMax);
      }
      held.add(value.length);
      chunks.push(value);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (timedOut) throw timeout(limits);
    if (closing.aborted) throw stopping(held.budget);
    throw new ClientGone("The client closed the connection mid-body", { cause: error });
  } finally {
    clearTimeout(timer);
    closing.removeEventListener("abort", giveUp);
  }
  return chunks.length === 1 ? chunks[0]! : concat(chunks, bytes);
}

function stopping(budget: BodyBudget): Problem {
  return new Problem("shutting_down", "The server is stopping. Send the request again.", {
    headers: { ...CLOSE, "Retry-After": String(budget.retryAfterS) },
  });
}

function timeout(limits: BodyLimits): Problem {
  return new Problem(
    "body_timeout",
    `The body must keep coming (at most ${limits.idleMsMax / 1000} s of silence) and be complete ` +
      `within ${limits.totalMsMax / 1000} s.`,
    { headers: CLOSE },
  );
}

function concat(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** HTTP's "deflate" is zlib, yet some clients send it raw; a zlib header tells them apart (RFC 1950). */
function inflateFormat(encoding: "gzip" | "deflate", wire: Uint8Array): CompressionFormat {
  if (encoding === "gzip") return "gzip";
  const [cmf = 0, flg = 0] = wire;
  return (cmf & 0x0f) === 8 && ((cmf << 8) | flg) % 31 === 0 ? "deflate" : "deflate-raw";
}

/** What is inflated before anyone can count it: deflate makes at most 1,032 bytes of one, so 4 MiB. */
const INFLATE_STEP_BYTES = 4 * 1024;

function inSteps(wire: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < wire.length) {
        controller.enqueue(wire.slice(at, at + INFLATE_STEP_BYTES));
        at += INFLATE_STEP_BYTES;
      } else controller.close();
    },
  }, { highWaterMark: 0 });
}

/** Inflates step by step and stops at the limit: a bomb costs little more than that. */
async function inflate(
  wire: Uint8Array,
  encoding: "gzip" | "deflate",
  bytesMax: number,
  held: Held,
): Promise<Uint8Array> {
  const reader = inSteps(wire)
    .pipeThrough(new DecompressionStream(inflateFormat(encoding, wire))).getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      if (bytes > bytesMax) {
        reader.cancel().catch(() => {});
        throw tooLarge("when inflated", bytesMax);
      }
      held.add(value.length);
      chunks.push(value);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("invalid_encoding", `The body is not valid ${encoding}.`, { cause: error });
  }
  return concat(chunks, bytes);
}

/** What one request has taken from the budget, given back in one go. */
class Held {
  #bytes = 0;
  constructor(readonly budget: BodyBudget) {}

  add(bytes: number): void {
    this.budget.take(bytes);
    this.#bytes += bytes;
  }

  release(): void {
    this.budget.give(this.#bytes);
    this.#bytes = 0;
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a request's body as text and hands it to `use`; its bytes count against `budget` until
 * `use` is done. A byte order mark is dropped.
 *
 * Throws `unsupported_encoding`, `body_too_large`, `body_timeout`, `invalid_encoding`, `overloaded`,
 * and `ClientGone` when the connection breaks.
 */
export async function withBodyText<T>(
  request: Request,
  limits: BodyLimits,
  budget: BodyBudget,
  use: (text: string) => T | Promise<T>,
): Promise<T> {
  const encoding = contentEncoding(request);
  const held = new Held(budget);
  try {
    const wire = await readWire(request, limits, held);
    const bytes = encoding === "identity"
      ? wire
      : await inflate(wire, encoding, limits.inflatedBytesMax, held);
    return await use(decode(bytes));
  } finally {
    held.release();
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new Problem("invalid_encoding", "The body is not valid UTF-8.", { cause });
  }
}
