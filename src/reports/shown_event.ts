import { parseJson } from "../json_text.ts";
import type { BotChoice } from "../query/selection.ts";
import { CLOCK_CODES, DEVICE_CODES, type EventRow } from "../store/event_row.ts";

/** What a letter of a code table stands for. */
function spelled(codes: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(codes).map(([word, letter]) => [letter, word]));
}

const CLOCKS = spelled(CLOCK_CODES);
const DEVICES = spelled(DEVICE_CODES);
const PROMOTED_NAMES: readonly string[] = ["click", "scroll"];

/** Width and height, or null where neither is known. */
function size(width: number | null, height: number | null) {
  return width === null && height === null ? null : { width, height };
}

/** The whole URL: mostly its parts tell it. */
function urlOf({ url, host, path, url_rest }: EventRow): string | null {
  if (url !== null) return url;
  return host === null || path === null ? null : `https://${host}${path}${url_rest ?? ""}`;
}

/** What clicks and scrolls were sent with, and is stored as columns of its own. */
function promotedProperties(row: EventRow): Record<string, unknown> {
  if (!PROMOTED_NAMES.includes(row.name)) return {};
  const promoted = {
    x: row.pointer_x,
    y: row.pointer_y,
    depthPx: row.depth_px,
    fixed: row.fixed,
    rage: row.rage,
    dead: row.dead,
    selector: row.selector,
    viewportWidth: row.viewport_width,
    viewportHeight: row.viewport_height,
    documentWidth: row.document_width,
    documentHeight: row.document_height,
  };
  return Object.fromEntries(Object.entries(promoted).filter(([, value]) => value !== null));
}

/** What the server adds to an event. */
function serverProperties(
  { ip, visitor_hash, located, country, region, city, received_at }: EventRow,
) {
  return {
    ip,
    hash: Uint8Array.fromHex(visitor_hash.slice(2)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    }),
    geo: located ? { country, region, city } : null,
    ingestedAt: received_at,
  };
}

/** A stored event as replies and exports show it. */
export function shownEvent(row: EventRow) {
  const isPromoted = PROMOTED_NAMES.includes(row.name);
  return {
    eventId: row.event_id,
    name: row.name,
    timestamp: row.occurred_at,
    clock: CLOCKS.get(row.clock),
    anonymousId: row.anonymous_id,
    userId: row.user_id,
    sessionId: row.session_id,
    url: urlOf(row),
    path: row.path,
    referrer: row.referrer,
    title: row.title,
    // What a column could not hold exactly stands among the properties, and is what the client sent.
    properties: {
      ...promotedProperties(row),
      ...row.properties === null ? {} : parseJson(row.properties) as Record<string, unknown>,
      server: serverProperties(row),
    },
    context: {
      viewport: isPromoted ? null : size(row.viewport_width, row.viewport_height),
      screen: size(row.screen_width, row.screen_height),
      locale: row.locale,
      timezone: row.timezone,
    },
    campaign: {
      source: row.utm_source,
      medium: row.utm_medium,
      campaign: row.utm_campaign,
      term: row.utm_term,
      content: row.utm_content,
      clickId: row.click_id_kind,
    },
    browser: row.browser,
    os: row.os,
    device: row.device === null ? null : DEVICES.get(row.device),
    bot: row.bot,
    inSession: row.in_session,
    extra: row.extra === null ? null : parseJson(row.extra),
  };
}

/** Whether an event is one that the choice of bots lets through. */
export function isOfBots(bots: BotChoice, { bot }: EventRow): boolean {
  return bots === "include" || (bots === "only") === (bot === true);
}
