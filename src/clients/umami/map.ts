import type { ClientEvent, ClientRefusal } from "../client_event.ts";
import { addressOf, membersOf, present, sizeOf, textOf } from "../fields.ts";
import { isMembers, type Members } from "../../json_text.ts";

/** What Umami measures of a page's loading. */
const VITALS = ["lcp", "inp", "cls", "fcp", "ttfb"] as const;
/** Umami's times are whole seconds; a number beyond this, which is in the year 5138, is milliseconds. */
const SECONDS_MAX = 100_000_000_000;
const SECOND_MS = 1000;

function timeOf(value: unknown): unknown {
  if (typeof value === "string" && /^\d+$/.test(value)) return timeOf(Number(value));
  if (typeof value !== "number") return value;
  return value > SECONDS_MAX ? value : value * SECOND_MS;
}

const ENCODED = /%[0-9a-f]{2}/i;
const ENCODED_TWICE = /%25[0-9a-f]{2}/i;
const ENCODED_ONCE = /%(?!25)/;

/** Older trackers (that of 2.10) percent-encode titles; Umami decodes them, whoever sends them. */
function titleOf(value: unknown): unknown {
  if (typeof value !== "string" || !ENCODED.test(value)) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The whole address of a path, if the page's host is given. */
function urlOf(said: unknown, hostname: unknown): unknown {
  const host = textOf(hostname);
  // The same trackers percent-encode what the browser has encoded already.
  const isTwice = typeof said === "string" && ENCODED_TWICE.test(said) && !ENCODED_ONCE.test(said);
  const value = isTwice ? said.replaceAll("%25", "%") : said;
  if (typeof value !== "string" || !value.startsWith("/") || host === undefined) return value;
  return `https://${host}${value}`;
}

const SCREEN = /^(\d{1,5})x(\d{1,5})$/;

function screenOf(value: unknown): Members | undefined {
  const [, width, height] = SCREEN.exec(textOf(value) ?? "") ?? [];
  return width === undefined ? undefined : sizeOf(Number(width), Number(height));
}

/** The event's own data, with its tag beside; data that is not an object is a property `data`. */
function propertiesOf({ data, tag }: Members): Members {
  return { ...present({ tag: textOf(tag) }), ...(isMembers(data) ? data : present({ data })) };
}

/** The name and properties of an item of this type; null: Umami has no such type. */
function nameAndProperties(type: unknown, payload: Members): Members | null {
  switch (type ?? "event") {
    case "event":
      return { name: payload.name || "page_view", properties: propertiesOf(payload) };
    case "identify":
      return { name: "$identify", properties: propertiesOf(payload) };
    case "performance": {
      const vitals = Object.fromEntries(VITALS.map((name) => [name, payload[name]]));
      return { name: "$performance", properties: { ...present(vitals), ...propertiesOf(payload) } };
    }
    case "error":
      return { name: "$error", properties: propertiesOf(payload) };
    default:
      return null;
  }
}

/** One body of `/api/send` as an event. Umami's clients make no id. */
export function mapItem(item: unknown): ClientEvent | ClientRefusal {
  if (!isMembers(item) || !isMembers(item.payload)) {
    return { refused: "Send { type, payload }, both of them as Umami's tracker does." };
  }
  const payload = membersOf(item.payload);
  const what = nameAndProperties(item.type, payload);
  if (what === null) return { refused: "The type must be event, identify or performance." };
  const { hostname, title, id, vid, language, screen, ip, userAgent, timestamp } = payload;
  const decodedTitle = titleOf(title);
  return {
    id: null,
    ...decodedTitle === title ? {} : { isDecoded: true },
    event: {
      ...what,
      timestamp: timeOf(timestamp),
      userId: textOf(id),
      anonymousId: textOf(vid),
      url: urlOf(payload.url, hostname),
      referrer: urlOf(payload.referrer, hostname),
      title: decodedTitle,
      context: {
        screen: screenOf(screen),
        locale: textOf(language),
        ip: addressOf(ip),
        userAgent: textOf(userAgent),
      },
    },
  };
}
