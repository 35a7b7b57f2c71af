import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsGzip } from "./accept.ts";
import { JSON_TYPE, jsonText } from "./reply.ts";
import { COPIED_BYTES_MAX, replyOf } from "./reply_body.ts";

const gzipped = promisify(gzip);
/** A list of 10,000 projects becomes 0.16 of its size in 14 ms; level 1 makes it 0.23 in 6 ms, level 6 0.15 in 31. */
const GZIP_LEVEL = 4;

type Headers = Readonly<Record<string, string>>;

/** Makes a reply of serialised JSON, gzipped beside the main thread if it is longer and the caller takes that. */
export async function gzippedJsonText(
  request: Request,
  text: string,
  plainLengthMax: number,
  headers: Headers,
): Promise<Response> {
  if (text.length <= plainLengthMax || !acceptsGzip(request)) return jsonText(text, 200, headers);
  const bytes = new Uint8Array(await gzipped(text, { level: GZIP_LEVEL }));
  const type = { "Content-Type": JSON_TYPE, "Content-Encoding": "gzip" };
  return replyOf(bytes, { headers: { ...type, ...headers } });
}

/** Makes a JSON reply, gzipped if it is large and the caller takes that. */
export async function gzippedJson(request: Request, body: unknown): Promise<Response> {
  const headers = { "Vary": "Accept-Encoding", "Cache-Control": "no-store" };
  return await gzippedJsonText(request, JSON.stringify(body), COPIED_BYTES_MAX, headers);
}
