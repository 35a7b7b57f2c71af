import { pause } from "../turns/pause.ts";
import { callApi, type Connection, refusalOf } from "./connection.ts";

/** The visitor in whose name events are sent, as a server sees a browser. */
export interface Sender {
  /** Null: unknown. */
  readonly address: string | null;
  readonly userAgent: string | null;
}

export interface RejectedLine {
  readonly index: number;
  readonly eventId?: string | null;
  readonly code: string;
  readonly message: string;
}

/** The outcome of one batch. */
export interface BatchOutcome {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly RejectedLine[];
}

const ATTEMPTS_MAX = 8;
const PAUSE_MS_MAX = 30_000;
const RETRIED: ReadonlySet<number> = new Set([408, 429, 503]);
const KEY_HOURS_MAX = 24;

/** Returns the pause before the next attempt: the server's `Retry-After`, else twice the one before. */
function pauseMs(reply: Response, attempt: number): number {
  const seconds = Number(reply.headers.get("retry-after") ?? "");
  const ms = seconds > 0 ? seconds * 1000 : 250 * 2 ** attempt;
  return Math.min(PAUSE_MS_MAX, ms);
}

/**
 * Sends a request, again while the server is overloaded, ATTEMPTS_MAX times at most: events are stored once,
 * however often they are sent.
 * @returns the last reply
 */
export async function sendPatiently(
  send: () => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  for (let attempt = 1;; attempt++) {
    signal.throwIfAborted();
    const reply = await send();
    if (!RETRIED.has(reply.status) || attempt === ATTEMPTS_MAX) return reply;
    await reply.body?.cancel();
    await pause(pauseMs(reply, attempt), signal);
  }
}

/**
 * Posts one batch in the name of its sender, again while the server is overloaded.
 *
 * @param body `{"events":[…]}`
 * @throws RequestRefused if the server refuses the batch; the reason of `signal` if it aborts.
 */
export async function sendBatch(
  connection: Connection,
  key: string,
  sender: Sender,
  body: string,
  signal: AbortSignal,
): Promise<BatchOutcome> {
  const post = () =>
    connection.fetchAs(sender.address, "/v1/events", {
      method: "POST",
      headers: {
        "X-API-Key": key,
        "Content-Type": "application/json",
        "User-Agent": sender.userAgent ?? "",
      },
      body,
    });
  const reply = await sendPatiently(post, signal);
  if (reply.ok) return await reply.json();
  const refusal = await refusalOf(reply);
  if (refusal.code !== "invalid_events") throw refusal;
  const rejected = refusal.errors.map((part) => ({ ...part, index: part.index ?? 0 }));
  return { accepted: 0, duplicates: 0, rejected };
}

/** Makes a public key, runs `work`, and revokes the key, even if `work` fails. */
export async function withTemporaryKey<T>(
  connection: Connection,
  project: string,
  label: string,
  nowMs: number,
  work: (key: string) => Promise<T>,
): Promise<T> {
  const path = `/v1/projects/${encodeURIComponent(project)}/keys`;
  // If this process is killed, the key expires by itself.
  const expiresAt = new Date(nowMs + KEY_HOURS_MAX * 3_600_000).toISOString();
  const { id, key } = await callApi<{ id: string; key: string }>(connection, "POST", path, {
    kind: "public",
    label,
    expiresAt,
  });
  try {
    return await work(key);
  } finally {
    await callApi<null>(connection, "DELETE", `${path}/${id}`);
  }
}

/**
 * Runs `work` for each item, `atOnce` at a time, taking the next item only when there is room.
 * The first failure stops it once the work under way has ended.
 */
export async function forEachInFlight<T>(
  items: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    const one: Promise<void> = work(item)
      .catch((error) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= atOnce) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
