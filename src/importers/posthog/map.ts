import { browserName, deviceClass, deviceOfSystem, systemName } from "../agent_names.ts";
import { membersOf, numberOf, picked, present, textOf, timeOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

/** Footfall's names for events. */
const NAMES: Readonly<Record<string, string>> = {
  $pageview: "page_view",
  $screen: "page_view",
  $identify: "$identify",
  $set: "$identify",
  $create_alias: "$alias",
  $merge_dangerously: "$alias",
  $groupidentify: "$group",
};
/** Events that identify people: their traits are kept. */
const ABOUT_PEOPLE: ReadonlySet<string> = new Set(["$identify", "$alias", "$group"]);

const DIRECT: ReadonlySet<string> = new Set(["$direct", ""]);
/** Properties that repeat other members of the row. */
const REPEATED: ReadonlySet<string> = new Set(["token", "distinct_id", "title"]);
/** Properties that PostHog reads from the address, which is kept with its query. */
const OF_THE_ADDRESS =
  /^(?:utm_\w+|gclid|gad_source|gbraid|wbraid|fbclid|msclkid|ttclid|twclid|li_fat_id|dclid|mc_cid|igshid|rdt_cid|epik|qclid|sccid|irclid|_kx|gclsrc)$/;

function size(width: unknown, height: unknown) {
  const pixels = { width: numberOf(width), height: numberOf(height) };
  return pixels.width === null && pixels.height === null ? null : pixels;
}

/** PostHog's names for visitors of a day whom it tells apart without cookies, and for their devices. */
const COOKIELESS_PREFIX = "cookieless_";
const COOKIELESS_DEVICE_PREFIX = "cookielessd_";
/** The `distinct_id` that all of them share before that. */
const COOKIELESS = "$posthog_cookieless";

const isTrue = (value: unknown) => value === true || value === "true";

/** Returns both ids, of which nobody is linked with himself. */
function linked(userId: string | null, anonymousId: string | null) {
  return { userId, anonymousId: anonymousId === userId ? null : anonymousId };
}

/** Returns the id of the device; null: there is none that lasts. */
function deviceOf({ $device_id }: Members): string | null {
  const device = textOf($device_id);
  return device?.startsWith(COOKIELESS_DEVICE_PREFIX) === true ? null : device;
}

/**
 * Returns the ids of the person, as the same event of a client gives them: `distinct_id` is the device's until its
 * user has signed in.
 */
function peopleOf(name: string, distinctId: string | null, properties: Members) {
  if (distinctId === COOKIELESS) return linked(null, null);
  const device = deviceOf(properties);
  const isCookieless = distinctId?.startsWith(COOKIELESS_PREFIX) === true;
  const isAnonymous = isCookieless || distinctId === device ||
    properties.$is_identified === false || properties.$is_identified === "false";
  const anonymous = textOf(properties.$anon_distinct_id);
  if (name === "$identify" && anonymous !== null) return linked(distinctId, anonymous);
  if (name === "$alias") {
    const alias = textOf(properties.alias);
    if (!isAnonymous) return linked(distinctId, alias);
    return { userId: alias === distinctId ? null : alias, anonymousId: distinctId };
  }
  // A server's event of a group is about nobody: its client makes an id up.
  if (name === "$group" && distinctId === `$${properties.$group_type}_${properties.$group_key}`) {
    return linked(null, null);
  }
  return isAnonymous
    ? { userId: null, anonymousId: distinctId ?? device }
    : linked(distinctId, device);
}

function keptProperties(name: string, row: Members, properties: Members) {
  const own = picked(
    properties,
    (key) => !key.startsWith("$") && !REPEATED.has(key) && !OF_THE_ADDRESS.test(key),
  );
  if (!ABOUT_PEOPLE.has(name)) return own;
  return {
    ...own,
    ...membersOf(properties.$set_once ?? row.set_once),
    ...membersOf(properties.$set ?? row.set),
    ...present({ groupType: properties.$group_type, groupKey: properties.$group_key }),
    ...membersOf(properties.$group_set),
  };
}

/** Maps a row of a batch export's model `events`. */
export function map(row: Members, { ids }: MapContext): readonly Mapped[] {
  const properties = membersOf(row.properties);
  const theirs = textOf(row.event);
  const name = theirs === null ? null : Object.hasOwn(NAMES, theirs) ? NAMES[theirs]! : theirs;
  const id = textOf(row.uuid);
  const session = textOf(properties.$session_id);
  const referrer = textOf(properties.$referrer);
  const os = systemName(properties.$os);
  const screen = size(properties.$screen_width, properties.$screen_height);
  return [{
    event: {
      eventId: id === null ? ids.fromRow(row) : ids.fromTheirs(id),
      name,
      timestamp: timeOf(row.timestamp),
      clock: "client",
      ...peopleOf(name ?? "", textOf(row.distinct_id), properties),
      // An event of a server is of no visit: its client says so, and names no session.
      inSession: isTrue(properties.$is_server) && session === null ? false : null,
      sessionId: session,
      url: textOf(properties.$current_url),
      path: textOf(properties.$current_url) === null ? textOf(properties.$pathname) : null,
      referrer: referrer === null || DIRECT.has(referrer) ? null : referrer,
      title: textOf(properties.title) ?? textOf(properties.$title) ??
        textOf(properties.$screen_name),
      properties: keptProperties(name ?? "", row, properties),
      context: {
        viewport: size(properties.$viewport_width, properties.$viewport_height),
        screen,
        locale: textOf(properties.$browser_language),
        timezone: textOf(properties.$timezone),
      },
      server: {
        geo: placeOf(
          properties.$geoip_country_code ?? properties.$geoip_country_name,
          properties.$geoip_subdivision_1_name,
          properties.$geoip_city_name,
        ),
        browser: browserName(properties.$browser),
        os,
        device: deviceClass(properties.$device_type) ?? deviceOfSystem(os, null),
        bot: null,
      },
    },
  }];
}
