import type { ExportedEvent, Size } from "../../event_file/exported_event.ts";
import { isMembers, type Members, parseJson } from "../../json_text.ts";
import type { BotChoice } from "../../query/selection.ts";
import {
  type Clock,
  CLOCK_CODES,
  type Device,
  DEVICE_CODES,
  type EventRow,
  pixels,
} from "../../store/event_row.ts";

/** Returns the words of a code table, by letter. */
function spelled<W extends string>(codes: Readonly<Record<W, string>>): ReadonlyMap<string, W> {
  return new Map(Object.entries<string>(codes).map(([word, letter]) => [letter, word as W]));
}

const CLOCKS = spelled<Clock>(CLOCK_CODES);
const DEVICES = spelled<Device>(DEVICE_CODES);
const PROMOTED_NAMES: readonly string[] = ["click", "scroll"];

/** Returns width and height; null: neither is known. */
function size(width: number | null, height: number | null): Size | null {
  return width === null && height === null ? null : { width, height };
}

/** Returns the whole URL, which is usually not stored as such, but in its parts. */
function urlOf({ url, host, path, url_rest }: EventRow): string | null {
  if (url !== null) return url;
  return host === null || path === null ? null : `https://${host}${path}${url_rest ?? ""}`;
}

/**
 * Returns the properties of clicks and scrolls that have their own columns. A value that its column cannot
 * hold exactly is among the `others` as the client sent it, and is left out here.
 */
function promotedProperties(
  row: EventRow,
  others: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (!PROMOTED_NAMES.includes(row.name)) return {};
  const promoted: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    if (value !== null && !Object.hasOwn(others, key)) promoted[key] = value;
  };
  put("x", row.pointer_x);
  put("y", row.pointer_y);
  put("depthPx", row.depth_px);
  put("fixed", row.fixed);
  put("rage", row.rage);
  put("dead", row.dead);
  put("selector", row.selector);
  put("viewportWidth", row.viewport_width);
  put("viewportHeight", row.viewport_height);
  put("documentWidth", row.document_width);
  put("documentHeight", row.document_height);
  return promoted;
}

/** The viewport of an event's context, and the members to show as `extra`. */
interface ShownContext {
  readonly viewport: Size | null;
  readonly extra: Members | null;
}

/**
 * Returns the context of a click or a scroll. Its viewport is stored in `extra`, because the columns have the
 * viewport of the properties. It is also shown in `extra` only if it is more than a width and a height in whole
 * pixels.
 */
function pointerContext(extra: Members | null): ShownContext {
  if (!isMembers(extra?.context) || !isMembers(extra.context.viewport)) {
    return { viewport: null, extra };
  }
  const { viewport: sent, ...others } = extra.context;
  const viewport = size(pixels(sent.width), pixels(sent.height));
  const isWhole = viewport !== null && Object.keys(sent).length === 2 &&
    sent.width === viewport.width && sent.height === viewport.height;
  if (!isWhole) return { viewport, extra };
  const { context: _, ...rest } = extra;
  const shown = Object.keys(others).length === 0 ? rest : { ...extra, context: others };
  return { viewport, extra: Object.keys(shown).length === 0 ? null : shown };
}

function contextOf(row: EventRow): ShownContext {
  const extra = row.extra === null ? null : parseJson(row.extra) as Members;
  if (PROMOTED_NAMES.includes(row.name)) return pointerContext(extra);
  return { viewport: size(row.viewport_width, row.viewport_height), extra };
}

/** The last hash, cached: a visitor's events follow each other, and formatting a hash takes 2 µs. */
let lastHash = { stored: "", shown: "" };

/** Returns 16 bytes as 22 characters of URL-safe Base64. */
function shownHash(stored: string): string {
  if (lastHash.stored !== stored) {
    const bytes = Uint8Array.fromHex(stored.slice(2));
    const shown = bytes.toBase64({ alphabet: "base64url", omitPadding: true });
    lastHash = { stored, shown };
  }
  return lastHash.shown;
}

/** Returns a stored event, whole, as replies and exports show it. */
export function shownEvent(row: EventRow): ExportedEvent {
  const { viewport, extra } = contextOf(row);
  const { ip, located, country, region, city, browser, os, bot, received_at: ingestedAt } = row;
  const hash = shownHash(row.visitor_hash);
  const geo = located ? { country, region, city } : null;
  const device = row.device === null ? null : DEVICES.get(row.device)!;
  const sent = row.properties === null ? {} : parseJson(row.properties) as Record<string, unknown>;
  return {
    eventId: row.event_id,
    name: row.name,
    timestamp: row.occurred_at,
    sentTimestamp: row.sent_at,
    clock: CLOCKS.get(row.clock)!,
    anonymousId: row.anonymous_id,
    userId: row.user_id,
    sessionId: row.session_id,
    url: urlOf(row),
    path: row.path,
    referrer: row.referrer,
    title: row.title,
    properties: {
      ...promotedProperties(row, sent),
      ...sent,
      server: { ip, hash, geo, ingestedAt },
    },
    context: {
      viewport,
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
    browser,
    os,
    device,
    bot,
    inSession: row.in_session,
    extra,
    server: { ip, hash, geo, browser, os, device, bot, ingestedAt },
  };
}

/** Whether an event passes the choice of `bots`. */
export function isOfBots(bots: BotChoice, { bot }: Pick<EventRow, "bot">): boolean {
  return bots === "include" || (bots === "only") === (bot === true);
}
