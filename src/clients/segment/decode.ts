import { Problem } from "../../problem.ts";
import type { ClientBatch, ClientKey, ClientRequest, ProtocolName } from "../client_event.ts";
import { membersOf, textOf } from "../fields.ts";
import { isMembers, type Members } from "../../json_text.ts";
import { eventOf, type MessageType } from "./map.ts";

/** Adds to a message the context that its batch gives for all messages. */
function withDefaults(message: unknown, { context }: Members): unknown {
  if (!isMembers(message) || !isMembers(context)) return message;
  return { ...message, context: { ...context, ...membersOf(message.context) } };
}

const RUDDER = /rudder/i;
/** RudderStack's Node library calls itself as an older one of Segment's, and says its channel, too. */
const SHARED_NAME = "analytics-node";

/**
 * Which of the two protocols it is, by what tells RudderStack's libraries: `rudder` in the user agent
 * or in the library's name in the context of the first message, `analytics-node` there with a
 * `channel`, or the header `AnonymousId` of their browser library. Everything else is Segment's.
 */
export function protocolOf(headers: Headers, first: unknown): ProtocolName {
  const message = membersOf(first);
  const library = textOf(membersOf(membersOf(message.context).library).name) ?? "";
  const isRudder = headers.has("anonymousid") || RUDDER.test(headers.get("user-agent") ?? "") ||
    RUDDER.test(library) || library === SHARED_NAME && message.channel !== undefined;
  return isRudder ? "rudder" : "segment";
}

/** `writeKey`, in the body or in its first message. */
function keyOf(body: Members, first: unknown): ClientKey | null {
  const value = textOf(body.writeKey) ?? textOf(membersOf(first).writeKey);
  return value === undefined ? null : { value, from: "body" };
}

function batchOf(
  { headers }: ClientRequest,
  body: Members,
  messages: readonly unknown[],
  type: MessageType | null,
): ClientBatch {
  const [first] = messages;
  const protocol = protocolOf(headers, first);
  return {
    key: keyOf(body, first),
    sentAt: body.sentAt ?? membersOf(first).sentAt,
    items: messages.map((message) => eventOf(message, type, protocol)),
    protocol,
  };
}

/** `{ batch: [message, …], sentAt?, writeKey?, context? }`. Throws `invalid_envelope` (400). */
export function readBatch(value: unknown, request: ClientRequest): ClientBatch {
  const body = membersOf(value);
  if (!Array.isArray(body.batch)) {
    throw new Problem("invalid_envelope", 'Send `{ "batch": [ … ] }`.');
  }
  const messages = body.batch.map((message) => withDefaults(message, body));
  return batchOf(request, body, messages, null);
}

/** One message, whose type the path says. Throws `invalid_envelope` (400). */
export function readMessage(type: MessageType) {
  return (value: unknown, request: ClientRequest): ClientBatch => {
    if (!isMembers(value)) {
      throw new Problem("invalid_envelope", "Send one message, a JSON object.");
    }
    return batchOf(request, value, [value], type);
  };
}
