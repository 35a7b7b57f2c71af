import { createHash } from "node:crypto";
import { json } from "../http/reply.ts";

/**
 * The reply to a read: `{ query, asOf, …result }` with a weak ETag over the query and the result
 * without `asOf` and `volatile` members; 304 where the caller has that already.
 */
export function readReply(
  request: Request,
  asOf: Date,
  query: Readonly<Record<string, unknown>>,
  result: Readonly<Record<string, unknown>>,
  volatile: Readonly<Record<string, unknown>> = {},
): Response {
  const digest = createHash("sha256").update(JSON.stringify([query, result])).digest("base64url");
  const etag = `W/"${digest.slice(0, 27)}"`;
  const headers = { "ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization" };
  const known = request.headers.get("if-none-match");
  if (known !== null && known.split(",").some((tag) => tag.trim() === etag)) {
    return new Response(null, { status: 304, headers });
  }
  return json({ query, asOf: asOf.toISOString(), ...result, ...volatile }, 200, headers);
}
