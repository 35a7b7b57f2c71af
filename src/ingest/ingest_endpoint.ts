import { z } from "zod";
import type { Principal } from "../auth/access.ts";
import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { type BodyBudget, type BodyLimits, contentEncoding, withBody } from "../http/body.ts";
import { originMatches } from "../http/cors.ts";
import type { RateLimit } from "../http/rate_limit.ts";
import { json } from "../http/reply.ts";
import type { Exchange } from "../http/router.ts";
import {
  API_KEY_LENGTH_MAX,
  BODY_IDLE_MS_MAX,
  BODY_INFLATED_BYTES_MAX,
  BODY_TOTAL_MS_MAX,
  BODY_WIRE_BYTES_MAX,
  CONTENT_TYPE_LENGTH_MAX,
  EVENTS_PER_REQUEST_MAX,
  EXCESS_PAUSE_MS,
  IDENTIFIER_LENGTH_MAX,
  KEYED_BODY_BYTES_MAX,
  SLICE_MS,
  USER_AGENT_LENGTH_MAX,
} from "../limits.ts";
import { pause } from "../pause.ts";
import { Problem } from "../problem.ts";
import { BodyLook, type Envelope } from "./envelope.ts";
import type { EventRow } from "../store/event_row.ts";
import type { Members } from "./event_input.ts";
import {
  EventSchema,
  readEvent,
  RejectedEvent,
  type Rejection,
  REJECTION_CODES,
} from "./event_schema.ts";
import { type Arrival, enricher, type Enrichment } from "./pipeline.ts";
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
    description: "A public key, where the X-API-Key header cannot be sent: in a body of at most " +
      `${KEYED_BODY_BYTES_MAX} bytes that is not compressed`,
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

/** Nobody is authenticated while such a body is read. */
const KEYED_LIMITS: BodyLimits = {
  ...LIMITS,
  wireBytesMax: KEYED_BODY_BYTES_MAX,
  inflatedBytesMax: KEYED_BODY_BYTES_MAX,
  advice: "A larger one needs its key in the X-API-Key header, or a public one as ?key=.",
};

const CONTENT_TYPE =
  /^(?:application\/json|text\/plain)\s*(?:;\s*charset\s*=\s*"?(?:utf-8|utf8|us-ascii)"?\s*)?;?\s*$/i;

function checkContentType(request: Request): void {
  const type = request.headers.get("content-type");
  if (type === null || type.trim() === "") return;
  // A longer one could make the expression try all ways to share its blanks out.
  if (type.length <= CONTENT_TYPE_LENGTH_MAX && CONTENT_TYPE.test(type.trim())) return;
  throw new Problem(
    "unsupported_media_type",
    "Send Content-Type application/json or text/plain (UTF-8), or none.",
    { headers: { "Accept": "application/json, text/plain" } },
  );
}

const NAMED_KEY = /[?&]key=([^&]*)/;
/** A longer one is none, however many of its characters are percent-encoded. */
const WRITTEN_KEY_LENGTH_MAX = 4 * API_KEY_LENGTH_MAX;

/** `?key=`, or null. */
function keyOfQuery({ search }: URL): string | null {
  // All parameters of a long query take 50 ms to read.
  const written = NAMED_KEY.exec(search)?.[1]?.slice(0, WRITTEN_KEY_LENGTH_MAX) ?? "";
  return new URLSearchParams(`key=${written}`).get("key") || null;
}

/** A key outside the header may be seen by proxies and browsers' histories: public ones only. */
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

/** The key that is known before the body is; null where only the body can bring one. */
async function authenticateEarly(
  keys: KeyDirectory,
  request: Request,
  url: URL,
): Promise<ApiKey | null> {
  const header = request.headers.get("x-api-key");
  if (header !== null && header !== "") return await keys.authenticate(header);
  const named = keyOfQuery(url);
  return named === null ? null : await authenticateOpenly(keys, named);
}

/** A body that nobody has vouched for is looked at as it is, or not at all. */
function checkKeyedEncoding(request: Request): void {
  if (contentEncoding(request) === "identity") return;
  throw new Problem(
    "unsupported_encoding",
    "Send the key of a compressed body in the X-API-Key header, or a public one as ?key=.",
    { headers: { "Accept-Encoding": "identity" } },
  );
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

/** Events of a small body between two looks at the clock, each of which takes 0.3 µs. */
const SMALL_EVENTS_PER_LOOK = 16;

/**
 * Validates and enriches each event on its own: a bad one never spoils its batch. Between two events
 * others have their turn.
 */
async function readBatch(
  services: IngestServices,
  envelope: Envelope,
  arrival: Arrival,
): Promise<Batch> {
  const batch: Batch = { rows: [], indexes: [], rejected: [] };
  const enriching = enricher(arrival, services.enrichment);
  const eventsPerLook = envelope.isSmall ? SMALL_EVENTS_PER_LOOK : 1;
  let sliceStartedAt = performance.now();
  for (let index = 0; index < envelope.count; index++) {
    if (index % eventsPerLook === 0 && performance.now() - sliceStartedAt > SLICE_MS) {
      await services.budget.turns.next();
      sliceStartedAt = performance.now();
    }
    let event: unknown = null;
    try {
      const read = envelope.eventAt(index);
      event = read.event;
      batch.rows.push(enriching.rowOf(readEvent(event, read.suspicion)));
      batch.indexes.push(index);
    } catch (error) {
      if (!(error instanceof RejectedEvent)) throw error;
      batch.rejected.push(rejectionAt(index, event, error));
    }
  }
  await enriching.complete();
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
 * `POST /v1/events`: answers after the transaction that holds the batch has committed. Nothing is
 * read of a body that cannot be taken, and nothing is parsed before the sender is known.
 * 401 and 403 make a client stop for good, so they are said only of a key that is certainly bad.
 */
export async function ingestEvents(
  services: IngestServices,
  exchange: Exchange<Principal | null>,
): Promise<Response> {
  const { request, url } = exchange;
  const receivedAtMs = services.now();
  checkContentType(request);
  const early = await authenticateEarly(services.keys, request, url);
  if (early === null) checkKeyedEncoding(request);
  if (services.writer.full) throw Writer.overloaded();

  const limits = early === null ? KEYED_LIMITS : LIMITS;
  const budget = early === null ? services.budget.keyed : services.budget;
  const look = new BodyLook(early !== null);
  const reply = withBody(request, limits, budget, (part) => look.push(part), async (bytes) => {
    const key = early ?? await authenticateOpenly(services.keys, look.apiKey);
    const envelope = look.read(bytes);
    checkOrigin(key, request.headers.get("origin"));
    checkRate(services.rateLimit, key, envelope.count);
    const arrival: Arrival = {
      projectId: key.projectId,
      projectPublicId: key.projectPublicId,
      receivedAtMs,
      clockOffsetMs: clockOffset(envelope.sentAt, receivedAtMs),
      ip: services.clientAddress(await services.peerOf(exchange), request.headers),
      // A header may have 400 KB, and would be hashed for each event.
      userAgent: request.headers.get("user-agent")?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      fromBackend: key.kind === "secret",
      ipStorage: key.projectIpStorage ?? services.ipStorage,
    };
    const batch = await readBatch(services, envelope, arrival);
    return await store(services, batch, bytes.length);
  });
  // Inflating 10 KB until they hold too much takes 0.6 ms. Fifty clients who did it as often as they
  // were answered took the p99 of the others from 9 to 92 ms: the next answer lets them wait.
  const { closing } = services.budget;
  return await reply.finally(() => look.isRefused ? pause(EXCESS_PAUSE_MS, closing) : null);
}
