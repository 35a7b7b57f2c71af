import { createHash } from "node:crypto";
import { z } from "zod";
import { json } from "../../http/reply.ts";

/** The schema of `pending`, the number of events that a reply leaves out. */
export const PendingShown = z.int().meta({
  description:
    "Events that are stored and not counted yet: 0 as a rule. A read waits for them for " +
    "at most a second",
});

/**
 * Makes the reply to a read: `{ query, asOf, pending, …result }` with a weak ETag over all of it but
 * `asOf` and the `volatile` members; 304 where the caller has that reply already.
 */
export function readReply(
  request: Request,
  { asOf, pending }: { readonly asOf: Date; readonly pending: number },
  query: Readonly<Record<string, unknown>>,
  result: Readonly<Record<string, unknown>>,
  volatile: Readonly<Record<string, unknown>> = {},
): Response {
  const digest = createHash("sha256").update(JSON.stringify([query, pending, result])).digest(
    "base64url",
  );
  const etag = `W/"${digest.slice(0, 27)}"`;
  const headers = {
    "ETag": etag,
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization, Accept",
  };
  const known = request.headers.get("if-none-match");
  if (known !== null && known.split(",").some((tag) => ["*", etag].includes(tag.trim()))) {
    return new Response(null, { status: 304, headers });
  }
  return json({ query, asOf: asOf.toISOString(), pending, ...result, ...volatile }, 200, headers);
}
