import { browserName, deviceClass, systemName } from "../agent_names.ts";
import { addressOf, membersOf, numberOf, present, sizeOf, textOf, timeOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

/** Kinds of `event_type`. */
const PAGE_VIEW = 1;
const CUSTOM = 2;
const OTHER_TYPES: Readonly<Record<number, string>> = {
  3: "visits of short links",
  4: "views of pixels",
  5: "measurements of speed",
};

/** Click ids, each with a column of its own. */
const CLICK_IDS = ["gclid", "fbclid", "msclkid", "ttclid", "li_fat_id", "twclid"] as const;

/** The apostrophe that Umami puts before text that a spreadsheet would run as a formula. */
const GUARD = /^'(?=[=+\-@\t\r])/;

/** Returns the text of a cell, without the guard; null: it has none, which CSV writes as "" or `\N`. */
function cellOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || text === "\\N" ? null : text.replace(GUARD, "");
}

const NUMBER = 2;
const BOOLEAN = 3;
const DATE = 4;
const ARRAY = 5;

/** Reads a value of `event_data`, by its `data_type`. */
export function dataValue(row: Members): unknown {
  const text = cellOf(row.string_value);
  switch (numberOf(row.data_type)) {
    case NUMBER:
      return numberOf(row.number_value) ?? numberOf(text);
    case BOOLEAN:
      return text === null ? null : text === "true";
    case DATE:
      return timeOf(cellOf(row.date_value)) ?? text;
    case ARRAY:
      try {
        return text === null ? null : JSON.parse(text);
      } catch {
        return text;
      }
    default:
      return text;
  }
}

function campaignOf(row: Members) {
  const clickId = CLICK_IDS.find((name) => cellOf(row[name]) !== null) ?? null;
  const campaign = present({
    source: cellOf(row.utm_source),
    medium: cellOf(row.utm_medium),
    campaign: cellOf(row.utm_campaign),
    term: cellOf(row.utm_term),
    content: cellOf(row.utm_content),
    clickId,
  });
  return Object.keys(campaign).length === 0 ? null : campaign;
}

/** Returns the referrer; null: there is none, or it is a page of the site itself, which has no domain here. */
function referrerOf(row: Members): string | null {
  const domain = cellOf(row.referrer_domain);
  return domain === null
    ? null
    : addressOf(domain, cellOf(row.referrer_path) ?? "/", cellOf(row.referrer_query));
}

/** Maps a row of `website_event`, with the columns of its session, and `data` from `event_data`. */
export function map(row: Members, { ids }: MapContext): readonly Mapped[] {
  const type = numberOf(row.event_type) ?? PAGE_VIEW;
  if (type !== PAGE_VIEW && type !== CUSTOM) {
    return [{ leftOut: OTHER_TYPES[type] ?? `events of type ${type}` }];
  }
  const id = cellOf(row.event_id);
  const city = cellOf(row.city);
  const tag = cellOf(row.tag);
  const address = addressOf(
    cellOf(row.hostname),
    cellOf(row.url_path),
    cellOf(row.url_query),
  );
  return [{
    event: {
      eventId: id === null ? ids.fromRow(row) : ids.fromTheirs(id),
      name: type === PAGE_VIEW ? "page_view" : cellOf(row.event_name) ?? "event",
      timestamp: timeOf(row.created_at),
      clock: "client",
      anonymousId: cellOf(row.session_id),
      userId: cellOf(row.distinct_id),
      sessionId: cellOf(row.visit_id),
      url: address,
      referrer: referrerOf(row),
      title: cellOf(row.page_title),
      properties: { ...membersOf(row.data), ...tag === null ? {} : { tag } },
      context: { screen: sizeOf(cellOf(row.screen)), locale: cellOf(row.language) },
      campaign: campaignOf(row),
      server: {
        geo: placeOf(cellOf(row.country), cellOf(row.region) ?? cellOf(row.subdivision1), city),
        browser: browserName(cellOf(row.browser)),
        os: systemName(cellOf(row.os)),
        device: deviceClass(cellOf(row.device)),
        bot: null,
      },
    },
  }];
}
