import { browserName, deviceClass, statedText, systemName } from "../agent_names.ts";
import { membersOf, numberOf, present, textOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

const NAMES: Readonly<Record<string, string>> = {
  screen_view: "page_view",
  // Google's `click` is an outbound one; Footfall's has a position on the page.
  click: "outbound_click",
};
/** Events that Google records automatically, and that visitors do not cause on purpose. */
const TECHNICAL: ReadonlySet<string> = new Set([
  "session_start",
  "first_visit",
  "first_open",
  "user_engagement",
  "scroll",
]);
/** Parameters that are not kept as properties: they become other members, or are Google's bookkeeping. */
const NOT_PROPERTIES: ReadonlySet<string> = new Set([
  "page_location",
  "page_referrer",
  "page_title",
  "ga_session_id",
  "ga_session_number",
  "engaged_session_event",
  "session_engaged",
  "entrances",
  "debug_mode",
  "batch_page_id",
  "batch_ordering_id",
  "firebase_event_origin",
  "firebase_screen_id",
  "firebase_previous_id",
]);
const MICROSECONDS = 1000;

/** Returns a whole number, which is text in BigQuery's JSON; unchanged: it is none, or too large to be exact. */
function wholeOf(value: unknown): number | string | null {
  const number = numberOf(value);
  return Number.isSafeInteger(number) ? number : typeof value === "number" ? value : textOf(value);
}

/** Returns the value of a parameter, which is in the member of its type. */
function valueOf(value: Members): unknown {
  if (typeof value.string_value === "string") return value.string_value;
  return wholeOf(value.int_value) ?? numberOf(value.double_value) ?? numberOf(value.float_value);
}

/** Returns parameters by their key. */
function parametersOf(list: unknown): Record<string, unknown> {
  const found = Object.create(null) as Record<string, unknown>;
  if (!Array.isArray(list)) return found;
  for (const item of list) {
    const { key, value } = membersOf(item);
    if (typeof key === "string") found[key] = valueOf(membersOf(value));
  }
  return found;
}

/** The whole numbers of a purchase and of its items. */
const WHOLE: ReadonlySet<string> = new Set(["total_item_quantity", "unique_items", "quantity"]);

/** Returns the members of a purchase and its items that are set. */
function shopOf(row: Members): Record<string, unknown> {
  const kept = (members: Members) =>
    Object.fromEntries(
      Object.entries(present(members)).filter(([, value]) =>
        value !== "(not set)" && !(Array.isArray(value) && value.length === 0)
      ).map(([key, value]) => [key, WHOLE.has(key) ? wholeOf(value) : value]),
    );
  const ecommerce = kept(membersOf(row.ecommerce));
  const items = Array.isArray(row.items) ? row.items.map((item) => kept(membersOf(item))) : [];
  return { ...ecommerce, ...items.length === 0 ? {} : { items } };
}

/** Google's words for what nobody has tagged. A campaign may be called `(Sale)`. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  ...["(direct)", "(none)", "(organic)", "(referral)", "(not set)", "(not provided)"],
  "(data deleted)",
]);

function tagOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || PLACEHOLDERS.has(text.toLowerCase()) ? null : text;
}

function campaignOf(row: Members) {
  const collected = membersOf(row.collected_traffic_source);
  const campaign = present({
    source: tagOf(collected.manual_source),
    medium: tagOf(collected.manual_medium),
    campaign: tagOf(collected.manual_campaign_name),
    term: tagOf(collected.manual_term),
    content: tagOf(collected.manual_content),
    clickId: textOf(collected.gclid) === null ? null : "gclid",
  });
  return Object.keys(campaign).length === 0 ? null : campaign;
}

/** Returns what identifies an event: columns that are equal in a day's first table and in its final one. */
function identifying(row: Members) {
  return [
    row.stream_id,
    row.user_pseudo_id,
    row.user_id,
    row.event_timestamp,
    row.event_name,
    row.event_bundle_sequence_id,
    row.batch_page_id,
    row.batch_ordering_id,
    row.batch_event_index,
    row.event_params,
  ];
}

function nameOf(theirs: string): string {
  if (TECHNICAL.has(theirs)) return `$${theirs}`;
  return Object.hasOwn(NAMES, theirs) ? NAMES[theirs]! : theirs;
}

/** Maps a row of `events_YYYYMMDD`. */
export function map(row: Members, { ids }: MapContext): readonly Mapped[] {
  const parameters = parametersOf(row.event_params);
  const theirs = textOf(row.event_name) ?? "event";
  const device = membersOf(row.device);
  const web = membersOf(device.web_info);
  const geo = membersOf(row.geo);
  const micros = numberOf(row.event_timestamp);
  const person = { userId: textOf(row.user_id), anonymousId: textOf(row.user_pseudo_id) };
  const nobody = person.userId === null && person.anonymousId === null;
  const own = Object.fromEntries(
    Object.entries(parameters).filter(([key]) => !NOT_PROPERTIES.has(key)),
  );
  return [{
    event: {
      eventId: ids.fromRow(identifying(row)),
      name: nameOf(theirs),
      timestamp: micros === null ? null : Math.floor(micros / MICROSECONDS),
      clock: "client",
      ...person,
      // Without consent, visitors cannot be distinguished: their events are in no visit.
      inSession: nobody ? false : null,
      sessionId: textOf(parameters.ga_session_id),
      url: textOf(parameters.page_location),
      referrer: textOf(parameters.page_referrer),
      title: textOf(parameters.page_title) ?? textOf(parameters.firebase_screen) ??
        textOf(parameters.firebase_screen_class),
      properties: { ...present(own), ...shopOf(row) },
      context: { locale: statedText(device.language) },
      campaign: campaignOf(row),
      server: {
        geo: placeOf(geo.country, geo.region, geo.city),
        browser: browserName(web.browser ?? device.browser),
        os: systemName(device.operating_system),
        device: deviceClass(device.category),
        bot: null,
      },
    },
  }];
}
