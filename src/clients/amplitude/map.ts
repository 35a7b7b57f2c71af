import { amplitudeEventName } from "../../amplitude_names.ts";
import { IDENTIFIER_LENGTH_MAX, USER_AGENT_LENGTH_MAX } from "../../limits.ts";
import type { ClientEvent, ClientRefusal } from "../client_event.ts";
import { addressOf, atMost, textOf } from "../fields.ts";
import { isMembers, type Members } from "../../json_text.ts";

const PAGE_VIEWED = "[Amplitude] Page Viewed";
const PAGE_LOCATION = "[Amplitude] Page Location";
const PAGE_PATH = "[Amplitude] Page Path";
const PAGE_TITLE = "[Amplitude] Page Title";

/**
 * Members besides `event_properties` that are kept in `properties` under their own names: traits, revenue,
 * and what an app's user agent lacks. Others are dropped: see the list in `docs/clients.md`.
 */
const KEPT = [
  "user_properties",
  "groups",
  "group_properties",
  "price",
  "quantity",
  "revenue",
  "productId",
  "revenueType",
  "currency",
  "app_version",
  "platform",
  "os_name",
  "os_version",
  "device_brand",
  "device_manufacturer",
  "device_model",
  "carrier",
] as const;

/** The session id of events without a session. */
const NO_SESSION = -1;

/** The event's properties without those that became members, and with the members that are kept. */
function propertiesOf(event: Members, given: Members, moved: ReadonlySet<string>): Members {
  const properties: Members = Object.create(null);
  for (const name of KEPT) {
    const value = event[name];
    const isEmpty = value === undefined || value === null ||
      isMembers(value) && Object.keys(value).length === 0;
    if (!isEmpty) properties[name] = value;
  }
  for (const [name, value] of Object.entries(given)) if (!moved.has(name)) properties[name] = value;
  return properties;
}

const PLACE: ReadonlySet<string> = new Set([PAGE_LOCATION, PAGE_PATH, PAGE_TITLE]);
const PLACE_OF_PAGE: ReadonlySet<string> = new Set([...PLACE, "referrer"]);

/** One event of an Amplitude client as one of ours. */
export function mapEvent(event: unknown): ClientEvent | ClientRefusal {
  if (!isMembers(event)) return { refused: "An event must be an object." };
  const { event_type: type } = event;
  if (typeof type !== "string" || type === "") {
    return { refused: "An event needs its name in `event_type`." };
  }
  const given = event.event_properties ?? {};
  if (!isMembers(given)) return { refused: "`event_properties` must be an object." };
  const isPage = type === PAGE_VIEWED;
  const url = textOf(given[PAGE_LOCATION]);
  return {
    id: textOf(event.insert_id) ?? null,
    event: {
      name: amplitudeEventName(type),
      timestamp: event.time,
      userId: textOf(event.user_id),
      anonymousId: textOf(event.device_id),
      sessionId: event.session_id === NO_SESSION ? undefined : textOf(event.session_id),
      url,
      path: url === undefined ? textOf(given[PAGE_PATH]) : undefined,
      referrer: isPage ? textOf(given.referrer) : undefined,
      title: textOf(given[PAGE_TITLE]),
      properties: propertiesOf(event, given, isPage ? PLACE_OF_PAGE : PLACE),
      context: {
        locale: atMost(event.language, IDENTIFIER_LENGTH_MAX),
        // `$remote`: that of the request.
        ip: addressOf(event.ip),
        userAgent: atMost(event.user_agent, USER_AGENT_LENGTH_MAX),
      },
    },
  };
}
