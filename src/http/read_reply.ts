import { createHash } from "node:crypto";
import { gzippedJsonText } from "./gzipped_json.ts";
import { hasCopy } from "./known_copy.ts";

/** The moment of a reply, and what changes with it. */
interface ReplyMoment {
  readonly asOf: Date;
  readonly pending: number;
  /** The end of the range that an unfinished range is compared with, which moves with `asOf`; null: it does not move. */
  readonly comparedTo?: Date | null;
}

/** Shorter replies are plain: the round trip takes longer than their bytes. */
const PAGE_PLAIN_LENGTH_MAX = 2 * 1024;

/**
 * Whether a page asks, as browsers say over https and on loopback. It may be far away, and its replies become
 * 0.06 to 0.1 of their size in 0.1 to 0.9 ms; a program beside the server has them sooner plain.
 */
const isOfPage = ({ headers }: Request): boolean => headers.has("sec-fetch-site");

type Members = Readonly<Record<string, unknown>>;

/** Returns the members of an object's JSON, each after a comma. */
const membersOf = (text: string): string => text === "{}" ? "" : `,${text.slice(1, -1)}`;

/**
 * Makes the reply to a read: `{ query, asOf, pending, …result }` with a weak ETag of all of it except `asOf`,
 * `comparedTo` and the `volatile` members; 304 if the caller has that reply already. The result is serialised
 * only once, as it may have a hundred thousand points.
 */
export async function readReply(
  request: Request,
  { asOf, pending, comparedTo }: ReplyMoment,
  query: Members,
  result: Members,
  volatile: Members = {},
): Promise<Response> {
  const moving = comparedTo?.toISOString();
  const queryText = JSON.stringify(query);
  const resultText = JSON.stringify(result);
  const all = [queryText, pending, resultText].join("\n");
  // This never matches inside a text, whose quotes are escaped.
  const lasting = moving === undefined ? all : all.replaceAll(`"to":"${moving}"`, "");
  const digest = createHash("sha256").update(lasting).digest("base64url");
  const etag = `W/"${digest.slice(0, 27)}"`;
  const headers = {
    "ETag": etag,
    "Cache-Control": "private, no-cache",
    "Vary": "Authorization, Accept, Accept-Encoding",
  };
  if (hasCopy(request, etag)) return new Response(null, { status: 304, headers });
  const head = `{"query":${queryText},"asOf":"${asOf.toISOString()}","pending":${pending}`;
  const members = membersOf(resultText) + membersOf(JSON.stringify(volatile));
  const plainLengthMax = isOfPage(request) ? PAGE_PLAIN_LENGTH_MAX : Infinity;
  return await gzippedJsonText(request, `${head}${members}}`, plainLengthMax, headers);
}
