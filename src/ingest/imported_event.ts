/**
 * Reads a line of an import: an event, and the columns that the exporting server stated, which are stored unchanged.
 * It is the inverse of how stored events are shown: importing an export restores every column.
 */
import { addressText, parseAddress } from "../http/ip_address.ts";
import { FUTURE_TOLERATED_MS, LOCATION_LENGTH_MAX } from "../limits.ts";
import { CLOCK_CODES, DEVICE_CODES, type EventRow } from "../store/event_row.ts";
import { isMembers, type Members } from "../json_text.ts";
import { type EventInput, isOfSession, isPointerEvent } from "./event_input.ts";
import { checkBounds, readEvent, RejectedEvent, type Suspicion } from "./event_schema.ts";
import { IMPORT_EVENT_BYTES_MAX, STATED_TEXT_LENGTH_MAX } from "./import_limits.ts";
import { isoText, parseTimestamp } from "./timestamp.ts";

/** The columns that a line states. */
export type StatedColumns = Partial<EventRow>;

/** An event of an import, with the columns that its line states. */
interface ImportedEvent {
  readonly input: EventInput;
  readonly stated: StatedColumns;
}

const HASH = /^[A-Za-z0-9_-]{22}$/;
const SERVER_NAMES: ReadonlySet<string> = new Set([
  ...["ip", "hash", "geo", "browser", "os", "device", "bot", "ingestedAt"],
]);
const CAMPAIGN_COLUMNS = {
  source: "utm_source",
  medium: "utm_medium",
  campaign: "utm_campaign",
  term: "utm_term",
  content: "utm_content",
  clickId: "click_id_kind",
} as const;

function wrongType(field: string, expected: string): RejectedEvent {
  return new RejectedEvent("invalid_type", `Use ${expected}.`, field);
}

/** Returns a text; null if it is absent or empty. */
function textOf(value: unknown, field: string, lengthMax = STATED_TEXT_LENGTH_MAX): string | null {
  if (value === null || value === undefined || value === "") return null;
  if (typeof value !== "string") throw wrongType(field, "a text or null");
  if (value.length <= lengthMax) return value;
  throw new RejectedEvent("too_long", `At most ${lengthMax} characters.`, field);
}

function flagOf(value: unknown, field: string): boolean | null {
  if (value === null || value === undefined || typeof value === "boolean") return value ?? null;
  throw wrongType(field, "true, false or null");
}

function membersOf(value: unknown, field: string): Members | null {
  if (value === null || value === undefined) return null;
  if (!isMembers(value)) throw wrongType(field, "an object or null");
  return value;
}

/** Returns epoch milliseconds; null if there is no time. */
function timeOf(value: unknown, field: string): number | null {
  if (value === null || value === undefined) return null;
  const ms = parseTimestamp(value);
  if (ms !== null) return ms;
  throw new RejectedEvent(
    "invalid_timestamp",
    "Use ISO 8601, such as 2026-01-31T12:00:00Z, or epoch milliseconds.",
    field,
  );
}

function codeOf<W extends string>(
  codes: Readonly<Record<W, string>>,
  value: unknown,
  field: string,
) {
  const word = textOf(value, field);
  if (word === null) return null;
  if (Object.hasOwn(codes, word)) return codes[word as W];
  throw wrongType(field, `one of ${Object.keys(codes).join(", ")}`);
}

function addressOf(value: unknown): string | null {
  const text = textOf(value, "server.ip");
  if (text === null) return null;
  const address = parseAddress(text);
  if (address !== null) return addressText(address);
  throw new RejectedEvent("invalid_address", "Give an IPv4 or IPv6 address, or null.", "server.ip");
}

function placeOf(value: unknown): StatedColumns {
  const place = membersOf(value, "server.geo");
  return {
    located: place !== null,
    country: textOf(place?.country, "server.geo.country"),
    region: textOf(place?.region, "server.geo.region"),
    city: textOf(place?.city, "server.geo.city"),
  };
}

function hashOf(value: unknown): StatedColumns {
  const text = textOf(value, "server.hash");
  if (text === null) return {};
  if (!HASH.test(text)) throw wrongType("server.hash", "22 characters of URL-safe Base64");
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url", lastChunkHandling: "loose" });
  return { visitor_hash: `\\x${bytes.toHex()}` };
}

/** Returns the columns that `server` states; the others are derived from the event. */
function statedByServer(server: Members): StatedColumns {
  const stated: StatedColumns = {};
  if ("ip" in server) stated.ip = addressOf(server.ip);
  if ("geo" in server) Object.assign(stated, placeOf(server.geo));
  if ("browser" in server) stated.browser = textOf(server.browser, "server.browser");
  if ("os" in server) stated.os = textOf(server.os, "server.os");
  if ("device" in server) stated.device = codeOf(DEVICE_CODES, server.device, "server.device");
  if ("bot" in server) stated.bot = flagOf(server.bot, "server.bot");
  if ("hash" in server) Object.assign(stated, hashOf(server.hash));
  const ingestedMs = timeOf(server.ingestedAt, "server.ingestedAt");
  if (ingestedMs !== null) stated.received_at = isoText(ingestedMs);
  return stated;
}

/** Returns the times if the line states its clock. Rejects times in the future. */
function statedTimes(
  { clock, sentTimestamp }: Members,
  timestampMs: number | null,
  nowMs: number,
): StatedColumns {
  const stated: StatedColumns = {};
  const code = codeOf(CLOCK_CODES, clock, "clock");
  if (code !== null) {
    const rejected = (message: string) =>
      new RejectedEvent("invalid_timestamp", message, "timestamp");
    if (timestampMs === null) throw rejected("The time is missing, or none can be read.");
    if (timestampMs > nowMs + FUTURE_TOLERATED_MS) throw rejected("The time is in the future.");
    stated.clock = code;
    stated.occurred_at = isoText(timestampMs);
  }
  const sentMs = timeOf(sentTimestamp, "sentTimestamp");
  if (sentMs !== null) stated.sent_at = sentMs === timestampMs ? null : isoText(sentMs);
  else if (code !== null) stated.sent_at = null;
  return stated;
}

function statedCampaign(value: unknown): StatedColumns {
  const campaign = membersOf(value, "campaign") ?? {};
  const stated: StatedColumns = {};
  for (const [name, column] of Object.entries(CAMPAIGN_COLUMNS)) {
    if (!(name in campaign)) continue;
    const field = `campaign.${name}`;
    stated[column as "utm_source"] = textOf(campaign[name], field, LOCATION_LENGTH_MAX);
  }
  return stated;
}

/** Returns the `server` of a line of an earlier version, which had its members elsewhere; null: not such a line. */
function earlierServer({ clock, properties, browser, os, device, bot }: Members): Members | null {
  if (typeof clock !== "string" || !isMembers(properties)) return null;
  return isMembers(properties.server) ? { ...properties.server, browser, os, device, bot } : null;
}

/** Adds the context's viewport of a click or a scroll to the unknown members, as the pipeline does. */
function putViewport(all: Members, { name, context }: EventInput): void {
  const others = all.context ?? {};
  if (!isPointerEvent(name) || !context?.viewport || !isMembers(others)) return;
  // One that is there already was kept as it was sent.
  if (Object.hasOwn(others, "viewport")) return;
  const { screen, ...rest } = others;
  const { viewport } = context;
  all.context = { ...rest, viewport, ...screen === undefined ? {} : { screen } };
}

/**
 * Returns the column of unknown members: those of the line, of its `extra` and of its `server`. States no column if
 * the line has neither `extra` nor unknown members of `server`: the event's own unknown members are used then.
 */
function statedExtra(extra: unknown, input: EventInput, server: Members): StatedColumns {
  const unknown = Object.keys(server).filter((name) => !SERVER_NAMES.has(name));
  if (extra === undefined && unknown.length === 0) return {};
  const own = membersOf(extra, "extra") ?? {};
  const all: Members = { ...own, ...input.extra };
  if (isMembers(own.context) && isMembers(input.extra?.context)) {
    all.context = { ...own.context, ...input.extra.context };
  }
  putViewport(all, input);
  if (unknown.length > 0) {
    all.server = Object.fromEntries(unknown.map((name) => [name, server[name]]));
  }
  return { extra: Object.keys(all).length === 0 ? null : JSON.stringify(all) };
}

/** The members of a line that clients do not send. */
const STATED_NAMES: ReadonlySet<string> = new Set([
  ...["server", "clock", "sentTimestamp", "campaign", "inSession", "extra"],
  ...["browser", "os", "device", "bot"],
]);

/** Returns the part of a line that a client sends. */
function sentMembers(line: Members): Members {
  const sent: Members = Object.create(null);
  for (const name in line) if (!STATED_NAMES.has(name)) sent[name] = line[name];
  if (!isMembers(line.properties)) return sent;
  // In an earlier version's line, `server` is the server's own member.
  const { server: _, ...properties } = line.properties;
  sent.properties = properties;
  return sent;
}

/** Reads a line with `server`. */
function readStated(
  line: Members,
  server: Members,
  suspicion: Suspicion,
  nowMs: number,
): ImportedEvent {
  const { clock, sentTimestamp, campaign, inSession, extra } = line;
  const beside = { server, clock, sentTimestamp, campaign, inSession };
  checkBounds(beside, suspicion, IMPORT_EVENT_BYTES_MAX);
  if (isMembers(extra)) checkBounds(extra, suspicion, IMPORT_EVENT_BYTES_MAX);
  const input = readEvent(sentMembers(line), suspicion, IMPORT_EVENT_BYTES_MAX);
  return {
    input,
    stated: {
      ...statedByServer(server),
      ...statedTimes(line, input.timestampMs, nowMs),
      ...statedCampaign(campaign),
      ...statedExtra(extra, input, server),
      in_session: flagOf(inSession, "inSession") ?? isOfSession(input),
    },
  };
}

/**
 * Reads a line of an import. A line without `server` is an event like a client's, with the address and
 * the user agent in its `context`. Throws RejectedEvent, and nothing else, whatever the value is.
 */
export function readLine(value: unknown, suspicion: Suspicion, nowMs: number): ImportedEvent {
  if (!isMembers(value)) {
    throw new RejectedEvent("invalid_event", "A line must be one JSON object.");
  }
  const server = isMembers(value.server) ? value.server : earlierServer(value);
  if (server !== null) return readStated(value, server, suspicion, nowMs);
  const input = readEvent(value, suspicion);
  return { input, stated: { in_session: isOfSession(input) } };
}
