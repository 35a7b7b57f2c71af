import { z } from "zod";
import type { Principal } from "../auth/access.ts";
import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { type BodyLimits, contentEncoding, withBody } from "../http/body.ts";
import { assertContentType } from "../http/content_type.ts";
import { queryValue } from "../http/query_value.ts";
import { json } from "../http/reply.ts";
import type { Exchange } from "../http/router.ts";
import { EVENTS_PER_REQUEST_MAX, KEYED_BODY_BYTES_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { BodyInspection } from "./envelope.ts";
import { EventSchema, type Taken } from "./event_schema.ts";
import {
  afterPause,
  assertMaySend,
  assertVisit,
  EVENT_BODY_LIMITS,
  type IngestServices,
  takeEvents,
} from "./take_events.ts";
import { Writer } from "./writer.ts";

/** Body of `POST /v1/events`, for the OpenAPI document. */
export const IngestBody = z.looseObject({
  events: z.array(EventSchema).max(EVENTS_PER_REQUEST_MAX),
  sentAt: z.union([z.string(), z.number()]).optional().meta({
    description:
      "The client's clock as it sends: more than 5 minutes off, timestamps are corrected",
  }),
  apiKey: z.string().optional().meta({
    description: "A public key, where the X-API-Key header cannot be sent: in a body of at most " +
      `${KEYED_BODY_BYTES_MAX} bytes that is not compressed`,
  }),
});

/** The limits of a body that is read before its sender is authenticated. */
const KEYED_LIMITS: BodyLimits = {
  ...EVENT_BODY_LIMITS,
  wireBytesMax: KEYED_BODY_BYTES_MAX,
  inflatedBytesMax: KEYED_BODY_BYTES_MAX,
  advice: "A larger one needs its key in the X-API-Key header, or a public one as ?key=.",
};

const CONTENT_TYPES = new Set(["application/json", "text/plain"]);

/** Authenticates a key that is not in the header. Proxies and histories may show it, so it must be a public key. */
async function authenticateOpenly(keys: KeyDirectory, named: string | null): Promise<ApiKey> {
  if (named === null || named === "") {
    throw new Problem(
      "missing_api_key",
      "Send the key in the X-API-Key header (a public one also as ?key= or `apiKey`).",
    );
  }
  const key = await keys.authenticate(named);
  if (key.kind === "secret") {
    throw new Problem("key_not_allowed_here", "Send a secret key only in the X-API-Key header.");
  }
  return key;
}

/** Authenticates the key in the header or the address; null if only the body can contain one. */
async function authenticateEarly(
  keys: KeyDirectory,
  request: Request,
  url: URL,
): Promise<ApiKey | null> {
  const header = request.headers.get("x-api-key");
  if (header !== null && header !== "") return await keys.authenticate(header);
  const named = queryValue(url, "key");
  return named === null ? null : await authenticateOpenly(keys, named);
}

/** Refuses a compressed body of an unknown sender, as it is not to be decompressed. */
function checkKeyedEncoding(request: Request): void {
  if (contentEncoding(request) === "identity") return;
  throw new Problem(
    "unsupported_encoding",
    "Send the key of a compressed body in the X-API-Key header, or a public one as ?key=.",
    { headers: { "Accept-Encoding": "identity" } },
  );
}

function replyTo({ accepted, duplicates, rejected }: Taken): Response {
  if (accepted === 0 && rejected.length > 0) {
    throw new Problem("invalid_events", "No event of this batch can be stored; see `errors`.", {
      errors: rejected,
    });
  }
  return json({ accepted, duplicates, rejected });
}

/**
 * `POST /v1/events`: replies after the transaction with the batch has committed. It does not read a body while
 * the queue is full, and parses none before the sender is known. 401 and 403 make a client stop for good, so
 * they are used only for a key that is certainly invalid.
 */
export async function ingestEvents(
  services: IngestServices,
  exchange: Exchange<Principal | null>,
): Promise<Response> {
  const { request, url } = exchange;
  const receivedAtMs = services.now();
  assertVisit(request);
  const advice = "Send Content-Type application/json or text/plain (UTF-8), or none.";
  assertContentType(request, CONTENT_TYPES, advice, "application/json, text/plain");
  const early = await authenticateEarly(services.keys, request, url);
  if (early === null) checkKeyedEncoding(request);
  const { writer } = services;
  if (early === null ? writer.full : writer.isFullFor(early.projectId)) throw Writer.overloaded();

  const limits = early === null ? KEYED_LIMITS : EVENT_BODY_LIMITS;
  const budget = early === null ? services.budget.keyed : services.budget;
  const inspection = new BodyInspection(early !== null);
  const inspect = (part: Uint8Array) => inspection.push(part);
  const reply = withBody(request, limits, budget, inspect, async (bytes) => {
    const key = early ?? await authenticateOpenly(services.keys, inspection.apiKey);
    const envelope = inspection.read(bytes);
    assertMaySend(services, exchange, key, envelope.count);
    const userAgent = request.headers.get("user-agent");
    const parts = [{ key, envelope }];
    const sent = { exchange, parts, receivedAtMs, userAgent, bytes: bytes.length };
    return replyTo(await takeEvents(services, sent));
  });
  return await afterPause(reply, inspection, services.budget.closing);
}
