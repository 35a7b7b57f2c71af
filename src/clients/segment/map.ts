import type { ClientEvent, ClientRefusal, ProtocolName } from "../client_event.ts";
import { addressOf, membersOf, present, sizeOf, textOf, without } from "../fields.ts";
import { isMembers, type Members } from "../../json_text.ts";

export const MESSAGE_TYPES = ["track", "page", "screen", "identify", "group", "alias"] as const;
export type MessageType = typeof MESSAGE_TYPES[number];

/** Members of a message that are mapped or dropped. */
const HANDLED: ReadonlySet<string> = new Set([
  ...["type", "event", "name", "category", "messageId", "anonymousId", "userId", "sessionId"],
  ...["timestamp", "originalTimestamp", "sentAt", "receivedAt", "properties", "traits", "context"],
  ...["previousId", "groupId", "writeKey", "integrations", "channel", "version", "_metadata"],
]);

/** Members of its context that are mapped or dropped. */
const HANDLED_CONTEXT: ReadonlySet<string> = new Set([
  ...["page", "locale", "timezone", "screen", "ip", "userAgent", "userAgentData"],
  ...["traits", "sessionId", "sessionStart"],
]);

/** Of a page's properties, what became the event's own members. */
const LOCATION_NAMES = ["url", "path", "referrer", "title"] as const;
const LOCATION: ReadonlySet<string> = new Set(LOCATION_NAMES);

/** What libraries write for an unknown referrer. */
const NO_REFERRER: ReadonlySet<unknown> = new Set(["$direct", ""]);

/** Where it happened: from the page's own properties, else from the context. */
function locationOf(own: Members, around: Members): Members {
  const found: Members = {};
  for (const name of LOCATION_NAMES) {
    const value = [own[name], around[name]].find((said) => textOf(said) !== undefined);
    if (value !== undefined && !(name === "referrer" && NO_REFERRER.has(value))) {
      found[name] = textOf(value);
    }
  }
  return found;
}

/** A page's properties without what became members, and without copies of what stands around it. */
function pageProperties(own: Members, around: Members): Members {
  const rest = without(own, LOCATION);
  for (const name in rest) if (name in around && rest[name] === around[name]) delete rest[name];
  return rest;
}

function contextOf(context: Members): Members {
  const screen = membersOf(context.screen);
  return {
    ...without(context, HANDLED_CONTEXT),
    locale: textOf(context.locale),
    timezone: textOf(context.timezone),
    screen: sizeOf(screen.width, screen.height),
    viewport: sizeOf(screen.innerWidth, screen.innerHeight),
    ip: addressOf(context.ip),
    userAgent: textOf(context.userAgent),
  };
}

type Mapped = Readonly<{ name: string | undefined; properties: Members } & Members>;

function pageView(message: Members, context: Members): Mapped {
  const own = membersOf(message.properties);
  const around = membersOf(context.page);
  const named = present({ name: message.name, category: message.category });
  const properties = pageProperties({ ...named, ...own }, around);
  return { ...locationOf(own, around), name: "page_view", properties };
}

/** What each type becomes, but for what all have in common. */
const MAPS: Readonly<Record<MessageType, (message: Members, context: Members) => Mapped>> = {
  track: (message, context) => ({
    ...locationOf({}, membersOf(context.page)),
    name: textOf(message.event),
    properties: membersOf(message.properties),
  }),
  page: pageView,
  screen(message, context) {
    const { title, ...seen } = pageView(message, context);
    return { ...seen, title: textOf(message.name) ?? title };
  },
  identify: (message, context) => ({
    ...locationOf({}, membersOf(context.page)),
    name: "$identify",
    // RudderStack's libraries keep traits in the context.
    properties: { ...membersOf(context.traits), ...membersOf(message.traits) },
  }),
  group: (message, context) => ({
    ...locationOf({}, membersOf(context.page)),
    name: "$group",
    properties: { ...membersOf(message.traits), ...present({ groupId: message.groupId }) },
  }),
  alias: (message, context) => ({
    ...locationOf({}, membersOf(context.page)),
    name: "$alias",
    properties: { ...membersOf(message.traits), ...present({ previousId: message.previousId }) },
  }),
};

/** Who did it. An alias links who it was before; nobody is linked with themselves. */
function actorOf(type: MessageType, message: Members): Members {
  const userId = textOf(message.userId);
  if (type !== "alias") return { anonymousId: textOf(message.anonymousId), userId };
  const previousId = textOf(message.previousId);
  return { anonymousId: previousId === userId ? undefined : previousId, userId };
}

const isMessageType = (value: unknown): value is MessageType =>
  MESSAGE_TYPES.some((type) => type === value);

/**
 * When it happened: `originalTimestamp`, else `timestamp`. RudderStack's Node library alone writes the
 * time of the call into `originalTimestamp`, also where a program says another one as `timestamp`, and
 * makes none itself. What RudderStack's server has received and forwards has a `timestamp` of its
 * making beside `receivedAt`.
 */
function timeOf(message: Members, protocol: ProtocolName): unknown {
  const { timestamp, originalTimestamp, channel, receivedAt } = message;
  const isOfProgram = protocol === "rudder" && channel === "server" && receivedAt === undefined;
  return isOfProgram ? timestamp ?? originalTimestamp : originalTimestamp ?? timestamp;
}

/** One message as an event. `type`: what the path says; null: the message says it. */
export function eventOf(
  message: unknown,
  type: MessageType | null,
  protocol: ProtocolName,
): ClientEvent | ClientRefusal {
  if (!isMembers(message)) return { refused: "A message must be an object." };
  const named = type ?? message.type;
  if (!isMessageType(named)) {
    return { refused: `Say as \`type\` which it is: ${MESSAGE_TYPES.join(", ")}.` };
  }
  const context = membersOf(message.context);
  return {
    id: textOf(message.messageId) ?? null,
    event: {
      ...without(message, HANDLED),
      ...MAPS[named](message, context),
      ...actorOf(named, message),
      timestamp: timeOf(message, protocol),
      sessionId: textOf(context.sessionId),
      context: contextOf(context),
    },
  };
}
