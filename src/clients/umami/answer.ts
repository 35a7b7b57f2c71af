import { json } from "../../http/reply.ts";
import type { Problem } from "../../problem.ts";
import type { ClientOutcome, ClientRequest } from "../client_event.ts";

const BAD_REQUEST = 400;
const CACHE_HEADER = "x-umami-cache";
/** Older trackers (that of 2.10) send back the whole text of the reply. */
const OWN_CACHE =
  /^(?:\{"cache":")?([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?:".*)?$/;

/**
 * What Umami's tracker keeps and sends back with its next event. Sessions are cut by time here, so it
 * only names the page's visit, and says the same for as long as the page sends it back.
 */
function visitOf({ headers }: ClientRequest): string {
  const known = headers.get(CACHE_HEADER) ?? "";
  return OWN_CACHE.exec(known)?.[1] ?? crypto.randomUUID();
}

interface Refusal {
  readonly message: string;
  readonly code: string;
}

function refusal({ message, code }: Refusal, status: number): Record<string, unknown> {
  return { error: { message, code, status } };
}

/** The reply to `/api/send`: its one event is stored, or it is refused. */
export function sent({ rejected }: ClientOutcome, request: ClientRequest): Response {
  const [wrong] = rejected;
  if (wrong !== undefined) return json(refusal(wrong, BAD_REQUEST), BAD_REQUEST);
  const visit = visitOf(request);
  return json({ cache: visit, sessionId: visit, visitId: visit });
}

/** The reply to `/api/batch`: how many were taken, and what is wrong with the others. */
export function sentBatch({ accepted, rejected }: ClientOutcome): Response {
  return json({
    size: accepted + rejected.length,
    processed: accepted,
    errors: rejected.length,
    details: rejected.map(({ index, code, message }) => ({ index, response: { code, message } })),
  });
}

/** A refusal in Umami's shape: `error` with a message and a code. */
export function refused({ code, status, detail, options }: Problem): Response {
  return json(refusal({ message: detail, code }, status), status, options.headers);
}
