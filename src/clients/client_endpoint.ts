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

/** Whether one of these is a key that may send. Throws where that cannot be known (503). */
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

/** Of a body whose key is not known before it is read. */
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

/** What has no value is absent, in the event and one level below. */
function presentEvent(event: Members): Members {
  const said = present(event);
  for (const name of ["properties", "context"]) {
    if (isMembers(said[name])) said[name] = present(said[name]);
  }
  return said;
}

/** A batch as the pipeline reads it, event by event. */
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
      // How large an event has become is known when it is measured.
      const suspicion = { size: true, text: isSuspect || isDecoded };
      return { event: { ...presentEvent(event), eventId }, suspicion };
    },
  };
}

/** Does some work, whose refusals are told as problem+json where `isPlain`. */
async function told<T>(isPlain: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isPlain && error instanceof Problem ? error.plainly() : error;
  }
}

/**
 * A request of a foreign client on its way through the pipeline of `POST /v1/events`: it is answered
 * after the transaction that holds its events has committed.
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
    return await told(route.isPlain?.(value) ?? false, async () => {
      const batch = route.read(value, clientRequest);
      const keys = early === null ? await authenticateAll(services.keys, batch) : [early];
      // Of several sites all get it or none: what was stored of some would be stored again.
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

/** The key; as a Problem, that no project has it. Throws as `authenticateClient` does for any other. */
async function keyOrUnknown(keys: KeyDirectory, key: ClientKey | null): Promise<ApiKey | Problem> {
  try {
    return await authenticateClient(keys, key);
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_api_key") return error;
    throw error;
  }
}

/**
 * One key of each project. Keys that no project has are passed over while another is known; all others
 * must be good before anything is stored.
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
  /** Where clients reach this server, as a request tells. */
  readonly ownAddress: (request: Request, peer: string | null) => { readonly url: string };
}

/** A request of a foreign client that nothing is stored of. */
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
