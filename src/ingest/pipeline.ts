import { ipForStorage } from "../http/client_address.ts";
import { addressText, parseAddress } from "../http/ip_address.ts";
import type { Members } from "../json_text.ts";
import { readCampaign } from "./campaign.ts";
import { type EventInput, isOfSession, isPointerEvent } from "./event_input.ts";
import { RejectedEvent } from "./event_schema.ts";
import { CLOCK_CODES, DEVICE_CODES, type EventRow, pixels } from "../store/event_row.ts";
import { PROMOTED } from "../store/promoted_properties.ts";
import type { Geo } from "./geo.ts";
import { cleanPath, splitUrl } from "./location.ts";
import { dayNumber, hashDays } from "./salts.ts";
import { correctClock, isoText } from "./timestamp.ts";
import type { Agent } from "./user_agent.ts";
import type { VisitorHasher } from "./visitor_hash.ts";

/** What all events of a request share. */
export interface Arrival {
  readonly projectId: number;
  readonly projectPublicId: string;
  readonly receivedAtMs: number;
  /** Added to the client's timestamps; 0 if its clock is right. */
  readonly clockOffsetMs: number;
  /** The client's address, by the headers of trusted proxies, and its user agent. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** Whether the key is secret: a backend sends events of its visitors. */
  readonly fromBackend: boolean;
  readonly ipStorage: "full" | "truncated" | "none";
}

/** The services that the pipeline uses. */
export interface Enrichment {
  readonly readAgent: (userAgent: string | null) => Agent;
  readonly geo: Geo;
  readonly hasher: VisitorHasher;
}

/** The columns that depend only on the visitor's address and user agent. */
type SenderColumns = Pick<
  EventRow,
  "ip" | "located" | "country" | "region" | "city" | "browser" | "os" | "device" | "bot"
>;

/** The sender of an event, by address and user agent. */
interface Sender {
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly columns: SenderColumns;
  /** Visitor hashes, by the events' days as numbers. */
  readonly hashes: Map<number, string | Unhashed>;
}

/** A hash that is being computed, and the rows that wait for it. */
interface Unhashed {
  readonly hash: Promise<string>;
  readonly rows: EventRow[];
}

/** Looks up a sender; its place is looked up by the full address, even if less of it is stored. */
function senderOf(
  ip: string | null,
  userAgent: string | null,
  { ipStorage }: Arrival,
  { geo, readAgent }: Enrichment,
): Sender {
  const { browser, os, device, bot } = readAgent(userAgent);
  const place = geo.locate(ip);
  return {
    ip,
    userAgent,
    columns: {
      // It is already canonical, and parsing and formatting it again takes 4 % of the server's time under full load.
      ip: ipStorage === "full" ? ip : ipForStorage(ip, ipStorage),
      located: place !== null,
      country: place?.country ?? null,
      region: place?.region ?? null,
      city: place?.city ?? null,
      browser,
      os,
      device: device === null ? null : DEVICE_CODES[device],
      bot,
    },
    hashes: new Map(),
  };
}

/** Returns the visitor that a backend names in `context`; the backend's own address and agent do not count. */
function namedVisitor(input: EventInput): Pick<Sender, "ip" | "userAgent"> {
  const named = input.context?.ip || null;
  const address = named === null ? null : parseAddress(named);
  if (named !== null && address === null) {
    throw new RejectedEvent("invalid_address", "Send an IPv4 or IPv6 address.", "context.ip");
  }
  return {
    ip: address === null ? null : addressText(address),
    userAgent: input.context?.userAgent || null,
  };
}

function newRow(input: EventInput, arrival: Arrival, sender: SenderColumns): EventRow {
  return {
    project_id: arrival.projectId,
    event_id: input.eventId,
    occurred_at: "",
    received_at: "",
    clock: CLOCK_CODES.received,
    name: input.name,
    anonymous_id: input.anonymousId,
    user_id: input.userId,
    session_id: input.sessionId,
    visitor_hash: "",
    ip: sender.ip,
    located: sender.located,
    country: sender.country,
    region: sender.region,
    city: sender.city,
    host: null,
    path: null,
    url_rest: null,
    url: null,
    referrer: input.referrer,
    title: input.title,
    utm_source: null,
    utm_medium: null,
    utm_campaign: null,
    utm_term: null,
    utm_content: null,
    click_id_kind: null,
    browser: sender.browser,
    os: sender.os,
    device: sender.device,
    bot: sender.bot,
    interactive: input.properties?.$interactive === false ? false : null,
    in_session: !arrival.fromBackend && isOfSession(input),
    viewport_width: null,
    viewport_height: null,
    screen_width: null,
    screen_height: null,
    locale: input.context?.locale || null,
    timezone: input.context?.timezone || null,
    pointer_x: null,
    pointer_y: null,
    document_width: null,
    document_height: null,
    depth_px: null,
    selector: null,
    fixed: null,
    rage: null,
    dead: null,
    properties: null,
    extra: null,
    sent_at: null,
  };
}

function deriveLocation(input: EventInput, row: EventRow): void {
  const named = input.path === null ? null : cleanPath(input.path);
  if (input.url === null) {
    row.path = named;
    return;
  }
  const { host, path, rest, recomposable } = splitUrl(input.url);
  row.host = host;
  row.url_rest = rest;
  row.path = named ?? path;
  row.url = recomposable && row.path === path ? null : input.url;
}

function readScreen(input: EventInput, row: EventRow): void {
  const { viewport, screen } = input.context ?? {};
  row.screen_width = pixels(screen?.width);
  row.screen_height = pixels(screen?.height);
  if (isPointerEvent(row.name)) return;
  row.viewport_width = pixels(viewport?.width);
  row.viewport_height = pixels(viewport?.height);
}

/**
 * The properties of the two heatmap events that have columns of their own, in which a click takes 60 bytes
 * instead of about 250 as JSON. A value that its column cannot store exactly stays in the JSON too.
 */
const LIFTS: Readonly<Record<string, ReadonlyMap<string, LiftedColumn>>> = {
  click: new Map(Object.entries(PROMOTED).filter(([key]) => key !== "depthPx")),
  scroll: new Map(
    (["viewportWidth", "viewportHeight", "documentHeight", "depthPx"] as const)
      .map((key) => [key, PROMOTED[key]]),
  ),
};

type LiftedColumn = typeof PROMOTED[keyof typeof PROMOTED];

/** Puts a value into its column. @returns whether it is stored exactly */
function lift(value: unknown, column: LiftedColumn, row: EventRow): boolean {
  switch (column) {
    case "pointer_x":
    case "pointer_y":
      row[column] = typeof value === "number" && Number.isFinite(value) ? value : null;
      return row[column] !== null;
    case "fixed":
    case "rage":
    case "dead":
      row[column] = typeof value === "boolean" ? value : null;
      return row[column] !== null;
    case "selector":
      row[column] = typeof value === "string" ? value : null;
      return row[column] !== null;
    default:
      // A fraction of a pixel is rounded for the column, and kept in the JSON.
      row[column] = pixels(value);
      return row[column] === value && value !== null;
  }
}

function liftPointer(input: EventInput, row: EventRow): void {
  const { properties } = input;
  if (properties === null) return;
  const lifts = isPointerEvent(row.name) ? LIFTS[row.name]! : null;
  if (lifts === null && !("server" in properties)) {
    const text = JSON.stringify(properties);
    row.properties = text === "{}" ? null : text;
    return;
  }
  let rest: Members | null = null;
  for (const key in properties) {
    // The name `server` is reserved for the server's own member.
    if (key === "server") continue;
    const column = lifts?.get(key);
    if (column !== undefined && lift(properties[key], column, row)) continue;
    rest ??= Object.create(null) as Members;
    rest[key] = properties[key];
  }
  row.properties = rest === null ? null : JSON.stringify(rest);
}

/** Keeps what has no column: unknown members, and sizes that are not plain pixel sizes. */
function keepProperties(input: EventInput, row: EventRow): void {
  const { viewport, screen } = input.context ?? {};
  const isOdd = viewport && (isPointerEvent(row.name) || !isPlainSize(viewport));
  const oddViewport = isOdd ? viewport : undefined;
  const oddScreen = screen && !isPlainSize(screen) ? screen : undefined;
  if (oddViewport === undefined && oddScreen === undefined) {
    row.extra = input.extra === null ? null : JSON.stringify(input.extra);
    return;
  }
  const context = {
    ...(input.extra?.context as Members | undefined),
    ...(oddViewport === undefined ? {} : { viewport: oddViewport }),
    ...(oddScreen === undefined ? {} : { screen: oddScreen }),
  };
  row.extra = JSON.stringify({ ...input.extra, context });
}

/** Whether both sides fit their columns, and the object has no other members. */
function isPlainSize(size: Members): boolean {
  return pixels(size.width) !== null && pixels(size.height) !== null &&
    Object.keys(size).length === 2;
}

/** Makes rows of the events of a request. */
export interface Enricher {
  /**
   * Returns the row of an event; its hash may follow later. Throws RejectedEvent if the visitor's address that
   * a backend sent is invalid.
   */
  rowOf(input: EventInput): EventRow;
  /**
   * Resolves when every row so far has its hash; null: all have it already. Fails with DatabaseUnavailable if a
   * salt cannot be loaded.
   */
  complete(): Promise<void> | null;
}

/**
 * Creates an Enricher. It looks up what depends on the request and its sender only once, and computes the
 * hashes of different visitors at the same time, so that no event waits for another.
 */
export function enricher(arrival: Arrival, tools: Enrichment): Enricher {
  const { clockOffsetMs: offsetMs, receivedAtMs, projectPublicId } = arrival;
  const receivedAt = isoText(receivedAtMs);
  let sender: Sender | null = null;
  let unhashed: Unhashed[] = [];

  function hashOf({ ip, userAgent, hashes }: Sender, day: number): string | Unhashed {
    let hash = hashes.get(day);
    if (hash !== undefined) return hash;
    const days = hashDays(day, receivedAtMs);
    const made = tools.hasher.hash({ projectPublicId, ip, userAgent, days });
    if (typeof made === "string") hash = made;
    else {
      hash = { hash: made, rows: [] };
      unhashed.push(hash);
      // Nothing awaits it if the rest of the request is invalid JSON.
      made.catch(() => {});
    }
    hashes.set(day, hash);
    return hash;
  }

  async function fill(missing: readonly Unhashed[]): Promise<void> {
    const hashes = await Promise.all(missing.map(({ hash }) => hash));
    missing.forEach(({ rows }, i) => rows.forEach((row) => row.visitor_hash = hashes[i]!));
  }

  return {
    rowOf(input) {
      const { ip, userAgent } = arrival.fromBackend ? namedVisitor(input) : arrival;
      if (sender === null || ip !== sender.ip || userAgent !== sender.userAgent) {
        sender = senderOf(ip, userAgent, arrival, tools);
      }
      const { timestampMs } = input;
      const { occurredAtMs, clock } = correctClock({ timestampMs, offsetMs, receivedAtMs });
      const row = newRow(input, arrival, sender.columns);
      row.received_at = receivedAt;
      row.occurred_at = isoText(occurredAtMs);
      row.clock = CLOCK_CODES[clock];
      if (timestampMs !== null && timestampMs !== occurredAtMs) row.sent_at = isoText(timestampMs);
      deriveLocation(input, row);
      if (row.url_rest !== null) Object.assign(row, readCampaign(row.url_rest));
      readScreen(input, row);
      liftPointer(input, row);
      keepProperties(input, row);
      const hash = hashOf(sender, dayNumber(occurredAtMs));
      if (typeof hash === "string") row.visitor_hash = hash;
      else hash.rows.push(row);
      return row;
    },
    complete() {
      if (unhashed.length === 0) return null;
      const missing = unhashed;
      unhashed = [];
      return fill(missing);
    },
  };
}
