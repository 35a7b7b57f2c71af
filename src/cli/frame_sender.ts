import { sendPatiently } from "./event_sender.ts";
import { type Connection, refusalOf } from "./connection.ts";

/**
 * Posts one frame of an archive, again while the server is overloaded: a frame is stored once, however often
 * it is sent. Throws RequestRefused.
 */
export async function postFrame<T>(
  connection: Connection,
  query: Record<string, string>,
  content: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<T> {
  const path = `/v1/restorations/frames?${new URLSearchParams(query)}`;
  const headers = { "Content-Type": "application/octet-stream" };
  const post = () => connection.fetch(path, { method: "POST", headers, body: content, signal });
  const reply = await sendPatiently(post, signal);
  if (!reply.ok) throw await refusalOf(reply);
  return await reply.json();
}
