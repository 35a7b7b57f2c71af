import { z } from "zod";
import type { Principal } from "../auth/access.ts";
import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { type BodyBudget, type BodyLimits, withBodyText } from "../http/body.ts";
import { originMatches } from "../http/cors.ts";
import type { RateLimit } from "../http/rate_limit.ts";
import { json } from "../http/reply.ts";
import type { Exchange } from "../http/router.ts";
import { parseJson } from "../json_text.ts";
import {
  BODY_IDLE_MS_MAX,
  BODY_INFLATED_BYTES_MAX,
  BODY_TOTAL_MS_MAX,
  BODY_WIRE_BYTES_MAX,
  EVENTS_PER_REQUEST_MAX,
  IDENTIFIER_LENGTH_MAX,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import type { EventRow } from "./event_row.ts";
import {
  EventSchema,
  type Members,
  readEvent,
  RejectedEvent,
  type Rejection,
  REJECTION_CODES,
  type Suspicion,
  suspicionOf,
} from "./event_schema.ts";
import { type Arrival, enrich, type Enrichment } from "./pipeline.ts";
import { clockOffset } from "./timestamp.ts";
import { Writer } from "./writer.ts";

export interface IngestServices {
  readonly keys: KeyDirectory;
  readonly writer: Writer;
  readonly enrichment: Enrichment;
  readonly budget: BodyBudget;
  readonly rateLimit: RateLimit | null;
  readonly ipStorage: "full" | "truncated" | "none";
  readonly clientAddress: (peer: string | null, headers: Headers) => string | null;
  /** The peer that a fully trusted caller speaks for (demo data), else the socket's. */
  readonly peerOf: (exchange: Exchange<Principal | null>) => Promise<string | null>;
  readonly now: () => number;
  readonly observe: (
    outcome: { accepted: number; duplicates: number; rejected: readonly Rejection[] },
  ) => void;
}

/** Body of `POST /v1/events`, for the OpenAPI document. */
export const IngestBody = z.looseObject({
  events: z.array(EventSchema).max(EVENTS_PER_REQUEST_MAX),
  sentAt: z.union([z.string(), z.number()]).optional().meta({
    description:
      "The client's clock as it sends: more than 5 minutes off, timestamps are corrected",
  }),
  apiKey: z.string().optional().meta({
    description: "A public key, where the X-API-Key header cannot be sent",
  }),
});

/** Reply of `POST /v1/events`. */
export const IngestReply = z.object({
  accepted: z.int().meta({ description: "Valid events, those stored before included" }),
  duplicates: z.int().meta({ description: "Accepted events that were stored before" }),
  rejected: z.array(z.object({
    index: z.int(),
    eventId: z.string().nullable(),
    code: z.enum(REJECTION_CODES),
    field: z.string().optional(),
    message: z.string(),
  })),
});

const LIMITS: BodyLimits = {
  wireBytesMax: BODY_WIRE_BYTES_MAX,
  inflatedBytesMax: BODY_INFLATED_BYTES_MAX,
  idleMsMax: BODY_IDLE_MS_MAX,
  totalMsMax: BODY_TOTAL_MS_MAX,
};

interface Envelope {
  readonly events: readonly unknown[];
  readonly sentAt: unknown;
}

const CONTENT_TYPE =
  /^(?:application\/json|text\/plain)\s*(?:;\s*charset\s*=\s*"?(?:utf-8|utf8|us-ascii)"?\s*)?;?\s*$/i;

function checkContentType(request: Request): void {
  const type = request.headers.get("content-type");
  if (type === null || type.trim() === "" || CONTENT_TYPE.test(type.trim())) return;
  throw new Problem(
    "unsupported_media_type",
    "Send Content-Type application/json or text/plain (UTF-8), or none.",
    { headers: { "Accept": "application/json, text/plain" } },
  );
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Problem("invalid_json", "The body must be one JSON document.");
  }
}

/** The body's members where it is an object at all; anything else has none. */
function membersOf(body: unknown): Members {
  return typeof body === "object" && body !== null ? body as Members : {};
}

function readEnvelope(body: unknown): Envelope {
  const { events, sentAt } = membersOf(body);
  if (!Array.isArray(events)) {
    throw new Problem("invalid_envelope", 'Send `{ "events": [ … ] }`.');
  }
  if (events.length > EVENTS_PER_REQUEST_MAX) {
    throw new Problem(
      "too_many_events",
      `Send at most ${EVENTS_PER_REQUEST_MAX} events in one request.`,
    );
  }
  return { events, sentAt };
}

/** A key outside the header may be seen by proxies and browsers' histories: public ones only. */
async function authenticateOpenly(
  keys: KeyDirectory,
  url: URL,
  body: unknown,
): Promise<ApiKey> {
  const named = url.searchParams.get("key") || membersOf(body).apiKey;
  if (typeof named !== "string" || named === "") {
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

function checkOrigin(key: ApiKey, origin: string | null): void {
  if (origin === null || key.allowedOrigins.length === 0) return;
  if (originMatches(origin, key.allowedOrigins)) return;
  throw new Problem(
    "origin_not_allowed",
    "Add this origin to the project's allowedOrigins, or send from one that is there.",
  );
}

function checkRate(limit: RateLimit | null, key: ApiKey, events: number): void {
  const waitSeconds = limit?.take(key.keyId, events) ?? 0;
  if (waitSeconds === 0) return;
  throw new Problem("rate_limited", `Try again in ${waitSeconds} s.`, {
    headers: { "Retry-After": String(waitSeconds) },
  });
}

function rejectionAt(index: number, event: unknown, error: RejectedEvent): Rejection {
  const named = (event as Members | null)?.eventId;
  const printable = typeof named === "string" && named.length <= IDENTIFIER_LENGTH_MAX;
  return {
    index,
    eventId: printable ? named.toWellFormed() : null,
    code: error.code,
    ...(error.field === undefined ? {} : { field: error.field }),
    message: error.message,
  };
}

interface Batch {
  readonly rows: EventRow[];
  /** The index in the request of each row. */
  readonly indexes: number[];
  readonly rejected: Rejection[];
}

/** Validates and enriches each event on its own: a bad one never spoils its batch. */
async function readBatch(
  events: readonly unknown[],
  suspicion: Suspicion,
  arrival: Arrival,
  enrichment: Enrichment,
): Promise<Batch> {
  const batch: Batch = { rows: [], indexes: [], rejected: [] };
  for (const [index, event] of events.entries()) {
    try {
      batch.rows.push(await enrich(readEvent(event, suspicion), arrival, enrichment));
      batch.indexes.push(index);
    } catch (error) {
      if (!(error instanceof RejectedEvent)) throw error;
      batch.rejected.push(rejectionAt(index, event, error));
    }
  }
  return batch;
}

/** Adds what only the database could see; `rejected` stays in the order of the request. */
function withRefused(batch: Batch, refused: ReadonlySet<string>): Rejection[] {
  if (refused.size === 0) return batch.rejected;
  const late = batch.rows.flatMap((row, i): Rejection[] =>
    refused.has(row.event_id)
      ? [{
        index: batch.indexes[i]!,
        eventId: row.event_id,
        code: "refused",
        message: "The database cannot hold this event.",
      }]
      : []
  );
  return [...batch.rejected, ...late].sort((a, b) => a.index - b.index);
}

async function store(
  services: IngestServices,
  batch: Batch,
  bytes: number,
): Promise<Response> {
  const { duplicates, refused } = await services.writer.write(batch.rows, bytes);
  const rejected = withRefused(batch, refused);
  const accepted = batch.rows.length + batch.rejected.length - rejected.length;
  services.observe({ accepted, duplicates, rejected });
  if (accepted === 0 && rejected.length > 0) {
    throw new Problem("invalid_events", "No event of this batch can be stored; see `errors`.", {
      errors: rejected,
    });
  }
  return json({ accepted, duplicates, rejected });
}

/**
 * `POST /v1/events`: answers after the transaction that holds the batch has committed.
 * 401 and 403 make a client stop for good, so they are said only of a key that is certainly bad.
 */
export async function ingestEvents(
  services: IngestServices,
  exchange: Exchange<Principal | null>,
): Promise<Response> {
  const { request, url } = exchange;
  const receivedAtMs = services.now();
  checkContentType(request);
  const header = request.headers.get("x-api-key");
  const early = header === null || header === "" ? null : await services.keys.authenticate(header);
  if (services.writer.full) throw Writer.overloaded();

  return await withBodyText(request, LIMITS, services.budget, async (text) => {
    const body = parseBody(text);
    const key = early ?? await authenticateOpenly(services.keys, url, body);
    const envelope = readEnvelope(body);
    checkOrigin(key, request.headers.get("origin"));
    checkRate(services.rateLimit, key, envelope.events.length);
    const arrival: Arrival = {
      projectId: key.projectId,
      projectPublicId: key.projectPublicId,
      receivedAtMs,
      clockOffsetMs: clockOffset(envelope.sentAt, receivedAtMs),
      ip: services.clientAddress(await services.peerOf(exchange), request.headers),
      userAgent: request.headers.get("user-agent"),
      fromBackend: key.kind === "secret",
      ipStorage: key.projectIpStorage ?? services.ipStorage,
    };
    const suspicion = suspicionOf(text);
    const batch = await readBatch(envelope.events, suspicion, arrival, services.enrichment);
    return await store(services, batch, text.length);
  });
}
