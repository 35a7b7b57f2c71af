import type { Sender } from "./event_sender.ts";

type Members = Readonly<Record<string, unknown>>;

/** One event of a file, as `POST /v1/events` takes it, and on whose behalf. */
export interface ImportedEvent {
  readonly event: Members;
  readonly sender: Sender;
}

/** What an export adds to an event, and the server will work out again. */
const EXPORT_ONLY = [
  "clock",
  "campaign",
  "browser",
  "os",
  "device",
  "bot",
  "inSession",
  "extra",
] as const;

/** An export holds the verdict, not the user agent: this one gets the same verdict. */
const ROBOT_USER_AGENT = "footfall-import (bot)";

const membersOf = (value: unknown): Members | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as Members : null;
const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

/** Text that can travel in a header: no line breaks, Latin-1 only. Else nothing is known. */
function headerText(value: unknown): string | null {
  const text = textOf(value);
  return text === null || /[^\t\x20-\x7e\x80-\xff]/.test(text) ? null : text.trim();
}

function fromExport(event: Members, properties: Members, server: Members): ImportedEvent {
  const extra = membersOf(event.extra) ?? {};
  const plain: Record<string, unknown> = { ...event };
  for (const name of EXPORT_ONLY) delete plain[name];
  const { server: _, ...own } = properties;
  // Backend events belong to no session; the mark keeps it so.
  const kept = event.inSession === false ? { ...own, $session: false } : own;
  return {
    event: {
      ...extra,
      ...plain,
      properties: kept,
      context: { ...membersOf(event.context), ...membersOf(extra.context) },
    },
    sender: {
      address: headerText(server.ip),
      userAgent: event.bot === true ? ROBOT_USER_AGENT : null,
    },
  };
}

/**
 * An event of a file: in the shape of `POST /v1/events`, or as an export shows it. The address and
 * user agent of the visitor leave the event and become its sender.
 */
export function importedEvent(event: Members): ImportedEvent {
  const properties = membersOf(event.properties);
  const server = membersOf(properties?.server);
  if (properties !== null && server !== null && typeof event.clock === "string") {
    return fromExport(event, properties, server);
  }
  const context = membersOf(event.context);
  if (context === null) return { event, sender: { address: null, userAgent: null } };
  const { ip, userAgent, ...rest } = context;
  return {
    event: { ...event, context: rest },
    sender: { address: headerText(ip), userAgent: headerText(userAgent) },
  };
}
