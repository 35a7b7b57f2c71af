import {
  createGunzip,
  createInflate,
  createInflateRaw,
  type Gunzip,
  type Inflate,
} from "node:zlib";
import { INFLATED_STEP_BYTES, LARGE_BODY_BYTES, SLICE_MS } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { ArrivalLimits } from "./arrivals.ts";
import { ClientGone } from "./client_gone.ts";
import { type BodyBudget, CLOSE } from "./body_budget.ts";

/** How large one body may be, and how long it may take. */
export interface BodyLimits extends ArrivalLimits {
  readonly wireBytesMax: number;
  readonly inflatedBytesMax: number;
  /** More advice for the problem `body_too_large`. */
  readonly advice?: string;
  /** Given the beginning of a larger body, returns the limit and budget that apply instead; null: none do. */
  readonly beyond?: (begin: Uint8Array<ArrayBuffer>) => Promise<
    { readonly inflatedBytesMax: number; readonly budget: BodyBudget } | null
  >;
}

type Encoding = "identity" | "gzip" | "deflate";

/** Returns the encoding that the header names. Throws `unsupported_encoding` for one that cannot be read. */
export function contentEncoding(request: Request): Encoding {
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

function tooLarge(what: string, bytesMax: number, advice = ""): Problem {
  return new Problem(
    "body_too_large",
    `The body is larger than ${bytesMax} bytes ${what}. Send less in one request. ${advice}`.trim(),
    { headers: CLOSE },
  );
}

/** Reads the bytes as they are sent, within the limits on size and time. */
async function readWire(
  request: Request,
  limits: BodyLimits,
  held: Held,
  inspect: Inspect,
): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  const { wireBytesMax, advice } = limits;
  if (declared > wireBytesMax) throw tooLarge("on the wire", wireBytesMax, advice);
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const { arrivals, closing } = held.budget;
  const giveUp = () => {
    held.release();
    reader.cancel().catch(() => {});
  };
  const arrival = arrivals.begin(limits, giveUp);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (arrival.givenUpFor !== null) throw givenUp(arrival.givenUpFor, limits, held.budget);
      if (done && closing.aborted) throw stopping(held.budget);
      if (done) break;
      arrival.noteBytes();
      bytes += value.length;
      if (bytes > wireBytesMax) throw tooLarge("on the wire", wireBytesMax, advice);
      held.add(value.length);
      inspect(value);
      chunks.push(value);
    }
  } catch (error) {
    if (error instanceof Problem) {
      giveUp();
      throw error;
    }
    if (arrival.givenUpFor !== null) throw givenUp(arrival.givenUpFor, limits, held.budget);
    if (closing.aborted) throw stopping(held.budget);
    throw new ClientGone("The client closed the connection mid-body", { cause: error });
  } finally {
    arrivals.end(arrival);
  }
  return concat(chunks);
}

function stopping(budget: BodyBudget): Problem {
  return new Problem("shutting_down", "The server is stopping. Send the request again.", {
    headers: { ...CLOSE, "Retry-After": String(budget.retryAfterS) },
  });
}

function givenUp(reason: "time" | "room", limits: BodyLimits, budget: BodyBudget): Problem {
  if (reason === "room") return budget.overloaded();
  return new Problem(
    "body_timeout",
    `The body must keep coming (at most ${limits.idleMsMax / 1000} s of silence) and be complete ` +
      `within ${limits.totalMsMax / 1000} s.`,
    { headers: CLOSE },
  );
}

/** Concatenates the chunks. */
export function concat(chunks: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const ZLIB_METHOD = 8;
const ZLIB_CHECK = 31;
const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** Whether the bytes begin with a zlib header (RFC 1950); no JSON and no form does. */
function isZlib([cmf = 0, flg = 0]: Uint8Array): boolean {
  return (cmf & 0x0f) === ZLIB_METHOD && ((cmf << 8) | flg) % ZLIB_CHECK === 0;
}

/** Makes a decompressor. HTTP's "deflate" is zlib, but some clients send raw deflate, without a zlib header. */
function decompressor(encoding: "gzip" | "deflate", wire: Uint8Array): Gunzip | Inflate {
  // Unlike DecompressionStream this reads all members of a gzip file (RFC 1952), in 0.5 to 1.0 of its processor time.
  if (encoding === "gzip") return createGunzip();
  return isZlib(wire) ? createInflate() : createInflateRaw();
}

/** Returns the encoding by the first bytes, or by the header if they do not show it (raw deflate). */
function actualEncoding(request: Request, wire: Uint8Array): Encoding {
  if (wire[0] === GZIP_MAGIC[0] && wire[1] === GZIP_MAGIC[1]) return "gzip";
  if (isZlib(wire)) return "deflate";
  const named = contentEncoding(request);
  return named === "gzip" ? "identity" : named;
}

/** The most bytes that one byte of deflate can inflate to. */
const INFLATION_MAX = 1_032;
const WIRE_STEP_BYTES_MAX = 4 * 1024;

/**
 * Inflates in steps that each yield about INFLATED_STEP_BYTES, judged by the growth so far. A step is at most
 * twice the one before, since a body that begins like text may continue as a bomb. Throws if the wire bytes end
 * early, or go on after the end.
 */
async function* inflatedParts(
  wire: Uint8Array,
  encoding: "gzip" | "deflate",
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const stream = decompressor(encoding, wire);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  stream.on("data", ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>) => {
    parts.push(new Uint8Array(buffer, byteOffset, length));
    bytes += length;
  });
  stream.once("end", resolve).once("error", reject);
  // It may fail while a step is waited for, which then fails, too.
  ended.catch(() => {});
  try {
    let step = INFLATED_STEP_BYTES / INFLATION_MAX;
    for (let at = 0; at < wire.length;) {
      if (at > 0) {
        const growth = Math.max(1, bytes / at);
        step = Math.min(2 * step, WIRE_STEP_BYTES_MAX, INFLATED_STEP_BYTES / growth);
      }
      const end = Math.min(Math.ceil(at + step), wire.length);
      const taken = new Promise<void>((done) => stream.write(wire.subarray(at, end), () => done()));
      await Promise.race([taken, ended]);
      if (stream.bytesWritten !== end) throw new Error("Bytes follow the end");
      at = end;
      yield* parts.splice(0);
    }
    stream.end();
    await ended;
    yield* parts;
  } finally {
    stream.destroy();
  }
}

/**
 * Inflates step by step and stops at the limit, so that a bomb costs little more than the limit. Large
 * bodies are inflated one at a time, and none blocks the event loop for long.
 */
async function inflate(
  wire: Uint8Array,
  encoding: "gzip" | "deflate",
  limits: BodyLimits,
  held: Held,
  inspect: Inspect,
): Promise<Uint8Array<ArrayBuffer>> {
  const { beyond, advice } = limits;
  let bytesMax = limits.inflatedBytesMax;
  let bytes = 0;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let sliceStartedAt = performance.now();
  try {
    for await (const value of inflatedParts(wire, encoding)) {
      bytes += value.length;
      if (bytes > bytesMax && bytesMax === limits.inflatedBytesMax && beyond !== undefined) {
        const more = await beyond(concat(chunks));
        if (more !== null) held.moveTo(more.budget);
        bytesMax = more?.inflatedBytesMax ?? bytesMax;
      }
      if (bytes > bytesMax) throw tooLarge("when inflated", bytesMax, advice);
      held.add(value.length);
      inspect(value);
      chunks.push(value);
      if (bytes > LARGE_BODY_BYTES) await held.enterLane();
      if (performance.now() - sliceStartedAt > SLICE_MS) {
        await held.budget.turns.next();
        sliceStartedAt = performance.now();
      }
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("invalid_encoding", `The body is not valid ${encoding}.`, { cause: error });
  }
  const whole = concat(chunks);
  // A part is a view of 16 KiB of zlib's, which a short body would hold beyond what is counted.
  return whole.buffer.byteLength > 2 * whole.length ? whole.slice() : whole;
}

/** What a request uses of the shared budget: bytes, and the lane of large bodies. `release` returns both. */
class Held {
  #bytes = 0;
  #leave: (() => void) | null = null;
  constructor(public budget: BodyBudget) {}

  /** Moves the bytes in use to another budget. */
  moveTo(budget: BodyBudget): void {
    budget.take(this.#bytes, this.#bytes);
    this.budget.give(this.#bytes);
    this.budget = budget;
  }

  add(bytes: number): void {
    this.budget.take(bytes, this.#bytes + bytes);
    this.#bytes += bytes;
  }

  /** Waits for the lane of large bodies. Throws `shutting_down` if the server has begun to stop meanwhile. */
  async enterLane(): Promise<void> {
    if (this.#leave !== null) return;
    this.#leave = await this.budget.large.enter();
    if (this.budget.closing.aborted) throw stopping(this.budget);
  }

  release(): void {
    this.budget.give(this.#bytes);
    this.#bytes = 0;
    this.#leave?.();
  }
}

/** Receives each part of the body as it arrives, already inflated; throwing refuses the body. */
export type Inspect = (part: Uint8Array) => void;

/**
 * Reads a request's body and hands it to `use`; its bytes count against `budget` until `use` is done.
 *
 * Throws `unsupported_encoding`, `body_too_large`, `body_timeout`, `invalid_encoding`, `overloaded`,
 * and `ClientGone` when the connection breaks.
 */
export async function withBody<T>(
  request: Request,
  limits: BodyLimits,
  budget: BodyBudget,
  inspect: Inspect,
  use: (bytes: Uint8Array<ArrayBuffer>) => T | Promise<T>,
): Promise<T> {
  const encoding = contentEncoding(request);
  const held = new Held(budget);
  try {
    const wire = await readWire(request, limits, held, encoding === "identity" ? inspect : ignore);
    const bytes = encoding === "identity"
      ? wire
      : await inflate(wire, encoding, limits, held, inspect);
    return await use(bytes);
  } finally {
    held.release();
  }
}

/**
 * Does the same as `withBody` for clients whose header may name no encoding or a wrong one: the first bytes
 * of the body decide. `inspect` is called only once the whole body has arrived.
 */
export async function withUnlabelledBody<T>(
  request: Request,
  limits: BodyLimits,
  budget: BodyBudget,
  inspect: Inspect,
  use: (bytes: Uint8Array<ArrayBuffer>) => T | Promise<T>,
): Promise<T> {
  const held = new Held(budget);
  try {
    const wire = await readWire(request, limits, held, ignore);
    const encoding = actualEncoding(request, wire);
    if (encoding !== "identity") {
      return await use(await inflate(wire, encoding, limits, held, inspect));
    }
    inspect(wire);
    return await use(wire);
  } finally {
    held.release();
  }
}

function ignore(): void {}

/** Does the same as `withBody`, with the body as text. Drops a byte order mark. */
export function withBodyText<T>(
  request: Request,
  limits: BodyLimits,
  budget: BodyBudget,
  use: (text: string) => T | Promise<T>,
): Promise<T> {
  return withBody(request, limits, budget, ignore, (bytes) => use(decodeText(bytes)));
}

const WHOLE = new TextDecoder("utf-8", { fatal: true });
const WITHIN = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8; drops a byte order mark at the start of a whole body. Throws `invalid_encoding` (400). */
export function decodeText(bytes: Uint8Array, part: "whole" | "within" = "whole"): string {
  try {
    return (part === "whole" ? WHOLE : WITHIN).decode(bytes);
  } catch (cause) {
    throw new Problem("invalid_encoding", "The body is not valid UTF-8.", { cause });
  }
}
