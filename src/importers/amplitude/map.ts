import { amplitudeEventName } from "../../amplitude_names.ts";
import { browserName, deviceClass, deviceOfSystem, systemName } from "../agent_names.ts";
import { membersOf, picked, present, textOf, timeOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

/** Members of `event_properties` that are not kept as properties: they become other members, or nothing. */
const NOT_PROPERTIES: ReadonlySet<string> = new Set([
  "[Amplitude] Page Location",
  "[Amplitude] Page Path",
  "[Amplitude] Page Title",
  "[Amplitude] Page URL",
  "[Amplitude] Page Domain",
  "[Amplitude] Page Counter",
  "[Amplitude] Session Replay ID",
  "referrer",
]);

/** The id of no session. */
const NO_SESSION = "-1";
const WEB = /^web$/i;

/** Reads browser, system and device. On the web `os_name` is the browser, and `device_family` the system. */
function agentOf(row: Members) {
  const family = row.device_family ?? row.device_type;
  if (WEB.test(textOf(row.platform) ?? "")) {
    const os = systemName(family);
    return {
      browser: browserName(row.os_name),
      os,
      device: deviceClass(family) ?? deviceOfSystem(os, null),
    };
  }
  const os = systemName(row.os_name) ?? systemName(row.platform);
  return {
    browser: null,
    os,
    device: deviceClass(row.device_type) ?? deviceClass(family) ?? deviceOfSystem(os, null),
  };
}

/** Maps an event of the Export API. */
export function map(row: Members, { ids }: MapContext): readonly Mapped[] {
  const properties = membersOf(row.event_properties);
  const type = textOf(row.event_type);
  const name = type === null ? null : amplitudeEventName(type);
  const id = textOf(row.uuid) ?? textOf(row.$insert_id);
  const session = textOf(row.session_id);
  const url = textOf(properties["[Amplitude] Page Location"]);
  const traits = name === "$identify" || name === "$group";
  return [{
    event: {
      eventId: id === null ? ids.fromRow(row) : ids.fromTheirs(id),
      name,
      timestamp: timeOf(row.event_time ?? row.client_event_time),
      clock: "client",
      anonymousId: textOf(row.device_id),
      userId: textOf(row.user_id),
      sessionId: session === NO_SESSION ? null : session,
      url,
      path: url === null ? textOf(properties["[Amplitude] Page Path"]) : null,
      referrer: textOf(properties.referrer),
      title: textOf(properties["[Amplitude] Page Title"]),
      properties: {
        ...picked(properties, (key) => !NOT_PROPERTIES.has(key)),
        ...(traits ? present(membersOf(row.user_properties)) : {}),
        ...(name === "$group" ? present(membersOf(row.group_properties)) : {}),
      },
      server: { geo: placeOf(row.country, row.region, row.city), ...agentOf(row), bot: null },
    },
  }];
}
