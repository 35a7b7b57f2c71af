import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsGzip } from "./accept.ts";
import { JSON_TYPE, jsonText } from "./reply.ts";
import { COPIED_BYTES_MAX, replyOf } from "./reply_body.ts";

const gzipped = promisify(gzip);
/** A list of 10,000 projects becomes 0.16 of its size in 14 ms; level 1 makes it 0.23 in 6 ms, level 6 0.15 in 31. */
const GZIP_LEVEL = 4;

/** Makes a JSON reply, gzipped beside the main thread if it is large and the caller takes that. */
export async function gzippedJson(request: Request, body: unknown): Promise<Response> {
  const text = JSON.stringify(body);
  const vary = { "Vary": "Accept-Encoding" };
  if (text.length <= COPIED_BYTES_MAX || !acceptsGzip(request)) return jsonText(text, 200, vary);
  const bytes = new Uint8Array(await gzipped(text, { level: GZIP_LEVEL }));
  const headers = { ...vary, "Content-Type": JSON_TYPE, "Cache-Control": "no-store" };
  return replyOf(bytes, { headers: { ...headers, "Content-Encoding": "gzip" } });
}
