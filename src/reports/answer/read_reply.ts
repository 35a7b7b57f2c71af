import { createHash } from "node:crypto";
import { z } from "zod";
import { hasCopy } from "../../http/known_copy.ts";
import { json } from "../../http/reply.ts";

/** The schema of `pending`, the number of events that a reply leaves out. */
export const PendingShown = z.int().meta({
  description:
    "Events that are stored and not counted yet: 0 as a rule. A read waits for them for " +
    "at most a second",
});

/** What a reply says of the moment at which it was made, and what changes with it. */
interface ReplyMoment {
  readonly asOf: Date;
  readonly pending: number;
  /** When the range that an unfinished one is compared with ends: as much later as `asOf` is. Null: it stays. */
  readonly comparedTo?: Date | null;
}

/**
 * Makes the reply to a read: `{ query, asOf, pending, …result }` with a weak ETag over all of it but
 * `asOf`, `comparedTo` and the `volatile` members; 304 where the caller has that reply already.
 */
export function readReply(
  request: Request,
  { asOf, pending, comparedTo }: ReplyMoment,
  query: Readonly<Record<string, unknown>>,
  result: Readonly<Record<string, unknown>>,
  volatile: Readonly<Record<string, unknown>> = {},
): Response {
  const moving = comparedTo?.toISOString();
  const asTold = [query, pending, result];
  // Calling a function for each member takes a millisecond for a page of events.
  const told = moving === undefined ? JSON.stringify(asTold) : JSON.stringify(
    asTold,
    (name, value) => name === "to" && value === moving ? undefined : value,
  );
  const digest = createHash("sha256").update(told).digest("base64url");
  const etag = `W/"${digest.slice(0, 27)}"`;
  const headers = {
    "ETag": etag,
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization, Accept",
  };
  if (hasCopy(request, etag)) return new Response(null, { status: 304, headers });
  return json({ query, asOf: asOf.toISOString(), pending, ...result, ...volatile }, 200, headers);
}
