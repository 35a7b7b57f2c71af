import { IDENTIFIER_LENGTH_MAX, USER_AGENT_LENGTH_MAX } from "../../limits.ts";
import type { ClientEvent, ClientRefusal } from "../client_event.ts";
import { addressOf, atMost, membersOf, sizeOf, textOf } from "../fields.ts";
import { isMembers, type Members } from "../../json_text.ts";
import { keptProperties } from "./properties.ts";

/** The members that all events of a request share. */
export interface CaptureRequest {
  /** When it was sent, by the client's clock; null: unknown. */
  readonly sentAtMs: number | null;
  readonly receivedAtMs: number;
  /** The project's key; null: it is outside the body. */
  readonly key: string | null;
}

const NAMES: Readonly<Record<string, string>> = {
  $pageview: "page_view",
  $screen: "page_view",
  $identify: "$identify",
  $set: "$identify",
  $create_alias: "$alias",
  $merge_dangerously: "$alias",
  $groupidentify: "$group",
};

interface Identity {
  readonly userId?: string | undefined;
  readonly anonymousId?: string | undefined;
}

const NOBODY: Identity = {};
const SECOND_MS = 1_000;

/** The `distinct_id` that all visitors of a page without cookies share. */
const COOKIELESS = "$posthog_cookieless";

/** Both ids, of which nobody is linked with himself. */
function linked(userId: string | undefined, anonymousId: string | undefined): Identity {
  return { userId, anonymousId: anonymousId === userId ? undefined : anonymousId };
}

/**
 * Whose event it is. `distinct_id` names the user, unless the client says that nobody is signed in: it
 * is the device's own id then, or `$is_identified` is false.
 */
function identityOf(event: Members, properties: Members): Identity {
  const distinct = textOf(event.distinct_id) ?? textOf(properties.distinct_id) ??
    textOf(event.$distinct_id);
  const device = textOf(properties.$device_id) ?? textOf(event.$device_id);
  if (distinct === COOKIELESS || properties.$cookieless_mode === true) return NOBODY;
  const isAnonymous = distinct === device || properties.$is_identified === false;
  switch (event.event) {
    case "$identify":
      return linked(distinct, textOf(properties.$anon_distinct_id) ?? device);
    case "$create_alias":
    case "$merge_dangerously": {
      const alias = textOf(properties.alias);
      if (!isAnonymous) return linked(distinct, alias);
      return { userId: alias === distinct ? undefined : alias, anonymousId: distinct };
    }
    case "$groupidentify":
      // A server's group event is about nobody: the client makes an id up.
      if (distinct === `$${properties.$group_type}_${properties.$group_key}`) return NOBODY;
  }
  return isAnonymous ? { anonymousId: distinct } : linked(distinct, device);
}

/**
 * When it happened. posthog-js puts `offset`, milliseconds before sending, in the place of `timestamp`
 * as it sends a batch, and does not change it as it sends the batch once more, seconds or minutes
 * later: `$time`, seconds of the epoch, holds, unless the page named another time.
 */
function timestampOf(event: Members, properties: Members, request: CaptureRequest): unknown {
  const { timestamp, offset } = event;
  if (timestamp !== undefined && timestamp !== null) return timestamp;
  const { $time: seconds } = properties;
  if (typeof seconds === "number" && properties.$event_time_override_provided !== true) {
    return Math.round(seconds * SECOND_MS);
  }
  if (typeof offset !== "number") return null;
  return (request.sentAtMs ?? request.receivedAtMs) - offset;
}

function contextOf(properties: Members): Members {
  return {
    viewport: sizeOf(properties.$viewport_width, properties.$viewport_height),
    screen: sizeOf(properties.$screen_width, properties.$screen_height),
    locale: atMost(properties.$browser_language ?? properties.$locale, IDENTIFIER_LENGTH_MAX),
    timezone: atMost(properties.$timezone, IDENTIFIER_LENGTH_MAX),
    ip: addressOf(properties.$ip),
    userAgent: atMost(
      properties.$raw_user_agent ?? properties.$user_agent ?? properties.$useragent,
      USER_AGENT_LENGTH_MAX,
    ),
  };
}

/** Traits are members of the event or of its properties; those of the event take precedence. */
function traitsOf(event: Members, properties: Members): Members {
  const traits: Members = {};
  for (const name of ["$set", "$set_once"] as const) {
    const all = { ...membersOf(properties[name]), ...membersOf(event[name]) };
    if (Object.keys(all).length > 0) traits[name] = all;
  }
  return traits;
}

/** An event of a server is of no visit: its client says so, and names no session. */
function isOfServer({ $is_server, $session_id }: Members): boolean {
  return $is_server === true && textOf($session_id) === undefined;
}

/** The name, as it was sent; `/engage/` takes traits alone. */
function nameOf(event: Members): string | null {
  if (event.event === undefined && (isMembers(event.$set) || isMembers(event.$set_once))) {
    return "$set";
  }
  return typeof event.event === "string" && event.event !== "" ? event.event : null;
}

/** A page's or screen's title, and the properties that it was taken from. */
function titleOf(name: string, properties: Members): { title: unknown; moved: readonly string[] } {
  if (name === "$pageview") return { title: properties.title ?? null, moved: ["title"] };
  if (name === "$screen") return { title: properties.$screen_name ?? null, moved: [] };
  return { title: null, moved: name === "$create_alias" ? ["alias"] : [] };
}

/** One event of a PostHog client as one of ours. */
export function mapEvent(event: unknown, request: CaptureRequest): ClientEvent | ClientRefusal {
  if (!isMembers(event)) return { refused: "An event must be an object." };
  const given = event.properties ?? {};
  if (!isMembers(given)) return { refused: "`properties` must be an object." };
  const name = nameOf(event);
  if (name === null) return { refused: "An event needs its name in `event`." };
  const url = textOf(given.$current_url);
  const { title, moved } = titleOf(name, given);
  const referrer = textOf(given.$referrer);
  return {
    id: textOf(event.uuid) ?? textOf(event.message_id) ?? textOf(given.$insert_id) ?? null,
    event: {
      name: Object.hasOwn(NAMES, name) ? NAMES[name] : name,
      timestamp: timestampOf(event, given, request),
      ...identityOf(event, given),
      sessionId: textOf(given.$session_id),
      url,
      path: url === undefined ? textOf(given.$pathname) : undefined,
      referrer: referrer === "$direct" ? undefined : referrer,
      title,
      properties: {
        ...keptProperties(given, { moved, key: request.key }),
        ...traitsOf(event, given),
        ...(isOfServer(given) ? { $session: false } : {}),
      },
      context: contextOf(given),
    },
  };
}
