import { pause } from "../pause.ts";
import { type Connection, refusalOf } from "./connection.ts";

const ATTEMPTS_MAX = 20;
const PAUSE_MS_MAX = 30_000;

/**
 * Posts one frame of an archive; where the server has no time, again: it is stored once, however often
 * it comes. Throws RequestRefused.
 */
export async function postFrame<T>(
  connection: Connection,
  query: Record<string, string>,
  content: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<T> {
  const path = `/v1/restorations/frames?${new URLSearchParams(query)}`;
  for (let attempt = 1;; attempt++) {
    signal.throwIfAborted();
    const headers = { "Content-Type": "application/octet-stream" };
    const reply = await connection.fetch(path, { method: "POST", headers, body: content, signal });
    if (reply.ok) return await reply.json();
    if (reply.status !== 503 || attempt === ATTEMPTS_MAX) throw await refusalOf(reply);
    await reply.body?.cancel();
    const seconds = Number(reply.headers.get("retry-after") ?? "1");
    await pause(Math.min(PAUSE_MS_MAX, 1000 * seconds), signal);
  }
}
