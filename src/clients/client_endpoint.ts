import type { ApiExchange } from "../auth/access.ts";
import type { ApiKey, KeyDirectory } from "../auth/keys.ts";
import { foreignEventId } from "../event_id.ts";
import { type BodyLimits, withUnlabelledBody } from "../http/body.ts";
import type { Envelope } from "../ingest/envelope.ts";
import { RejectedEvent } from "../ingest/event_schema.ts";
import {
  afterPause,
  assertMaySend,
  assertVisit,
  EVENT_BODY_LIMITS,
  type IngestServices,
  takeEvents,
} from "../ingest/take_events.ts";
import { Writer } from "../ingest/writer.ts";
import { EVENTS_PER_REQUEST_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { isMembers, type Members } from "../json_text.ts";
import { ClientBody } from "./client_body.ts";
import type {
  ClientBatch,
  ClientKey,
  ClientReply,
  ClientRequest,
  ClientRoute,
  ProtocolName,
} from "./client_event.ts";
import { authenticateClient, basicKey, keysWithin } from "./client_key.ts";
import { UNKNOWN_BODY_BYTES_MAX } from "./client_limits.ts";
import { present } from "./fields.ts";
import { visitorAgent } from "./sender_agent.ts";

/** Whether one of these keys may send. Throws if that cannot be known (503). */
async function isAnyGood(keys: KeyDirectory, tried: readonly ClientKey[]): Promise<boolean> {
  for (const key of tried) {
    try {
      await authenticateClient(keys, key);
      return true;
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
    }
  }
  return false;
}

/** The limits of a body whose key is not known before it is read. */
function unknownLimits(
  { keys, budget }: IngestServices,
  body: ClientBody,
  protocol: ProtocolName,
): BodyLimits {
  return {
    ...EVENT_BODY_LIMITS,
    wireBytesMax: UNKNOWN_BODY_BYTES_MAX,
    inflatedBytesMax: UNKNOWN_BODY_BYTES_MAX,
    advice: "A larger one needs its key in front of its events, or outside the body.",
    async beyond(begin) {
      if (!await isAnyGood(keys, keysWithin(begin, protocol))) return null;
      body.trust();
      return { inflatedBytesMax: EVENT_BODY_LIMITS.inflatedBytesMax, budget };
    },
  };
}

function requestOf({ request, url, params }: ApiExchange, receivedAtMs: number): ClientRequest {
  return { headers: request.headers, url, params, receivedAtMs };
}

/** The event without members that have no value, also in its context. A property's value may be null. */
function presentEvent(event: Members): Members {
  const said = present(event);
  if (isMembers(said.context)) said.context = present(said.context);
  return said;
}

/** A batch for the pipeline, event by event. */
function envelopeOf(
  { items, sentAt }: ClientBatch,
  { protocol, projectPublicId, isSuspect }: {
    readonly protocol: ProtocolName;
    readonly projectPublicId: string;
    readonly isSuspect: boolean;
  },
): Envelope {
  return {
    sentAt,
    count: items.length,
    isSmall: true,
    eventAt(index) {
      if (index >= EVENTS_PER_REQUEST_MAX) {
        const most = `The first ${EVENTS_PER_REQUEST_MAX} events of a request are taken.`;
        throw new RejectedEvent("too_many_events", `${most} Send this one in another.`);
      }
      const item = items[index]!;
      if ("refused" in item) throw new RejectedEvent("invalid_event", item.refused);
      const { id, event, isDecoded = false } = item;
      const eventId = id === null
        ? crypto.randomUUID()
        : foreignEventId(protocol, projectPublicId, id);
      // Its size has changed, and is measured later.
      const suspicion = { size: true, text: isSuspect || isDecoded };
      return { event: { ...presentEvent(event), eventId }, suspicion };
    },
  };
}

/** Does some work. If `isPlain`, its refusals become problem+json. */
async function withPlainRefusals<T>(isPlain: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isPlain && error instanceof Problem ? error.plainly() : error;
  }
}

/**
 * Passes a request of another product's client through the pipeline of `POST /v1/events`: it is answered
 * after the transaction with its events has committed.
 */
export async function takeClientEvents(
  services: IngestServices,
  route: ClientRoute,
  exchange: ApiExchange,
): Promise<Response> {
  const receivedAtMs = services.now();
  assertVisit(exchange.request);
  const clientRequest = requestOf(exchange, receivedAtMs);
  const named = basicKey(clientRequest.headers) ?? route.keyOf?.(clientRequest) ?? null;
  const early = named === null ? null : await authenticateClient(services.keys, named);
  const { writer } = services;
  if (early === null ? writer.full : writer.isFullFor(early.projectId)) throw Writer.overloaded();

  const budget = early === null ? services.budget.keyed : services.budget;
  const body = new ClientBody(early !== null);
  const limits = early === null ? unknownLimits(services, body, route.protocol) : EVENT_BODY_LIMITS;
  const look = (part: Uint8Array) => body.push(part);
  const reply = withUnlabelledBody(exchange.request, limits, budget, look, async (bytes) => {
    const { value, isSuspect } = await body.read(bytes, clientRequest.url.search, budget.turns);
    return await withPlainRefusals(route.isPlain?.(value) ?? false, async () => {
      const batch = route.read(value, clientRequest);
      const keys = early === null ? await authenticateAll(services.keys, batch) : [early];
      // All of several sites store it, or none: a retry would store it twice in some.
      for (const key of keys) assertMaySend(services, exchange, key, batch.items.length);
      const protocol = batch.protocol ?? route.protocol;
      const userAgent = visitorAgent(clientRequest.headers);
      const { length } = bytes;
      const parts = keys.map((key) => {
        const { projectPublicId } = key;
        return { key, envelope: envelopeOf(batch, { protocol, projectPublicId, isSuspect }) };
      });
      const sent = { exchange, parts, receivedAtMs, userAgent, bytes: length };
      const taken = await takeEvents(services, sent);
      const { projectPublicId } = keys[0]!;
      const outcome = { ...taken, protocol, bytes: length, receivedAtMs, projectPublicId };
      return route.answer(outcome, clientRequest);
    });
  });
  return await afterPause(reply, body, services.budget.closing);
}

/** The key, or the Problem that no project has it. Throws other problems as `authenticateClient` does. */
async function keyOrUnknown(keys: KeyDirectory, key: ClientKey | null): Promise<ApiKey | Problem> {
  try {
    return await authenticateClient(keys, key);
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_api_key") return error;
    throw error;
  }
}

/**
 * One key of each project. Unknown keys are ignored if another is known; all others must be valid before
 * anything is stored.
 */
async function authenticateAll(
  keys: KeyDirectory,
  { key, moreKeys = [] }: ClientBatch,
): Promise<ApiKey[]> {
  const found = await Promise.all([key, ...moreKeys].map((one) => keyOrUnknown(keys, one)));
  const known = found.flatMap((one) => one instanceof Problem ? [] : [one]);
  if (known.length === 0) throw found[0];
  return [...new Map(known.map((key) => [key.projectId, key])).values()];
}

export interface ReplyServices extends Pick<IngestServices, "keys" | "now"> {
  /** The address by which clients reach this server, from a request. */
  readonly ownAddress: (request: Request, peer: string | null) => { readonly url: string };
}

/** Answers a request of another product's client that stores nothing. */
export async function replyToClient(
  services: ReplyServices,
  route: ClientReply,
  exchange: ApiExchange,
): Promise<Response> {
  const clientRequest = requestOf(exchange, services.now());
  return await route.reply(clientRequest, {
    authenticate: (key) =>
      authenticateClient(services.keys, basicKey(clientRequest.headers) ?? key),
    ownUrl: services.ownAddress(exchange.request, exchange.peer).url,
  });
}
