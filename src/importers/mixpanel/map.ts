import { browserName, deviceClass, deviceOfSystem, systemName } from "../agent_names.ts";
import { membersOf, numberOf, picked, textOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";
import { instantOf } from "./zone.ts";

const NAMES: Readonly<Record<string, string>> = {
  $mp_web_page_view: "page_view",
  $identify: "$identify",
  $create_alias: "$alias",
  $merge: "$alias",
};
/** Numbers below this are seconds, up to the year 5138; larger ones are milliseconds. */
const SECONDS_MAX = 1e11;
const DEVICE_PREFIX = "$device:";
/** Properties that become other members of the event. */
const NOT_PROPERTIES: ReadonlySet<string> = new Set([
  "time",
  "distinct_id",
  "current_page_title",
  "current_domain",
  "current_url_path",
  "current_url_protocol",
  "current_url_search",
]);

function timeOf(value: unknown, zone: string | null): number | null {
  const number = numberOf(value);
  if (number === null) return null;
  return instantOf(number < SECONDS_MAX ? number * 1000 : number, zone);
}

/** Returns the ids of the person. A `distinct_id` that names a device is not a user's. */
function peopleOf(properties: Members) {
  const distinctId = textOf(properties.distinct_id);
  const device = textOf(properties.$device_id) ??
    (distinctId?.startsWith(DEVICE_PREFIX) ? distinctId.slice(DEVICE_PREFIX.length) : null);
  const named = distinctId === null || distinctId === device || distinctId.startsWith(DEVICE_PREFIX)
    ? null
    : distinctId;
  return { userId: textOf(properties.$user_id) ?? named, anonymousId: device };
}

/**
 * Returns an id of the members by which Mixpanel itself de-duplicates: several events may have the same
 * `$insert_id`, and `distinct_id` changes if its user is merged with another.
 */
function idOf(row: Members, properties: Members, { ids }: MapContext): string {
  const inserted = textOf(properties.$insert_id);
  if (inserted === null) return ids.fromRow(row);
  const distinct = textOf(properties.$distinct_id_before_identity) ??
    textOf(properties.distinct_id);
  return ids.fromTheirs(JSON.stringify([textOf(row.event), distinct, properties.time, inserted]));
}

/** Maps an event of the raw export. */
export function map(row: Members, context: MapContext): readonly Mapped[] {
  const properties = membersOf(row.properties);
  const theirs = textOf(row.event);
  const referrer = textOf(properties.$referrer);
  const os = systemName(properties.$os);
  const width = numberOf(properties.$screen_width);
  const height = numberOf(properties.$screen_height);
  const screen = width === null || height === null ? null : { width, height };
  return [{
    event: {
      eventId: idOf(row, properties, context),
      name: theirs === null ? null : Object.hasOwn(NAMES, theirs) ? NAMES[theirs]! : theirs,
      timestamp: timeOf(properties.time, context.timeZone),
      clock: "client",
      ...peopleOf(properties),
      url: textOf(properties.$current_url),
      referrer: referrer === "$direct" ? null : referrer,
      title: textOf(properties.current_page_title),
      properties: picked(
        properties,
        (key) => !key.startsWith("$") && !key.startsWith("mp_") && !NOT_PROPERTIES.has(key),
      ),
      context: { screen },
      server: {
        geo: placeOf(properties.mp_country_code, properties.$region, properties.$city),
        browser: browserName(properties.$browser),
        os,
        device: deviceClass(properties.$device) ?? deviceClass(properties.$model) ??
          deviceOfSystem(os, screen),
        bot: null,
      },
    },
  }];
}
