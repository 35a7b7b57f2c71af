import { createHash } from "node:crypto";
import { hasCopy } from "./known_copy.ts";
import { jsonText } from "./reply.ts";

/** What a reply says of the moment at which it was made, and what changes with it. */
interface ReplyMoment {
  readonly asOf: Date;
  readonly pending: number;
  /** When the range that an unfinished one is compared with ends: as much later as `asOf` is. Null: it stays. */
  readonly comparedTo?: Date | null;
}

type Members = Readonly<Record<string, unknown>>;

/** Returns the members of an object's JSON, each behind a comma. */
const membersOf = (text: string): string => text === "{}" ? "" : `,${text.slice(1, -1)}`;

/**
 * Makes the reply to a read: `{ query, asOf, pending, …result }` with a weak ETag over all of it but
 * `asOf`, `comparedTo` and the `volatile` members; 304 where the caller has that reply already. The result, of
 * which some have a hundred thousand points, is made to text once.
 */
export function readReply(
  request: Request,
  { asOf, pending, comparedTo }: ReplyMoment,
  query: Members,
  result: Members,
  volatile: Members = {},
): Response {
  const moving = comparedTo?.toISOString();
  const queryText = JSON.stringify(query);
  const resultText = JSON.stringify(result);
  const all = [queryText, pending, resultText].join("\n");
  // A text that holds the same has its quotes escaped.
  const told = moving === undefined ? all : all.replaceAll(`"to":"${moving}"`, "");
  const digest = createHash("sha256").update(told).digest("base64url");
  const etag = `W/"${digest.slice(0, 27)}"`;
  const headers = {
    "ETag": etag,
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization, Accept",
  };
  if (hasCopy(request, etag)) return new Response(null, { status: 304, headers });
  const head = `{"query":${queryText},"asOf":"${asOf.toISOString()}","pending":${pending}`;
  const members = membersOf(resultText) + membersOf(JSON.stringify(volatile));
  return jsonText(`${head}${members}}`, 200, headers);
}
