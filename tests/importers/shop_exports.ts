/** One and the same history as each product would export it. */
import { gzipSync } from "node:zlib";
import type { SourceName } from "../../src/importers/source.ts";
import { EVENT_COLUMNS, eventRow, id } from "./umami_export.ts";
import { ga4Event } from "./source_rows.ts";
import { zipOf } from "./zip_writer.ts";

const VISITORS = 12;
const VIEWS = 3;
const FIRST_MS = Date.parse("2026-05-01T08:00:00Z");
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** What every read of it must answer. */
export const SHOP = {
  visitors: VISITORS,
  sessions: VISITORS,
  pageviews: VISITORS * VIEWS,
  signups: VISITORS / 2,
  /** Every third visitor is in Germany. */
  germans: VISITORS / 3,
  /** Every other one uses a phone. */
  phones: VISITORS / 2,
  from: "2026-05-01",
  to: "2026-05-02",
};

interface Did {
  readonly visitor: number;
  readonly ms: number;
  /** Null: `signup`. */
  readonly page: number | null;
  readonly serial: number;
}

const visitorsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => from + i);

/** What the visitors from one to just before another did. */
function history(from = 0, to = VISITORS): Did[] {
  return visitorsOf(from, to).flatMap((visitor) => {
    const ms = FIRST_MS + visitor * HOUR_MS;
    const views = Array.from({ length: VIEWS }, (_, page) => ({
      visitor,
      ms: ms + page * MINUTE_MS,
      page,
      serial: visitor * 10 + page,
    }));
    const signup = { visitor, ms: ms + 10 * MINUTE_MS, page: null, serial: visitor * 10 + 9 };
    return visitor % 2 === 0 ? [...views, signup] : views;
  });
}

const isGerman = (visitor: number) => visitor % 3 === 0;
const hasPhone = (visitor: number) => visitor % 2 === 1;
const pathOf = (page: number | null) => page === null ? "/signup" : `/page-${page}`;
const urlOf = (page: number | null) => `https://shop.example${pathOf(page)}`;
const iso = (ms: number) => new Date(ms).toISOString();
const spaced = (ms: number) => iso(ms).replace("T", " ").replace("Z", "");

const text = (lines: readonly string[]) => new TextEncoder().encode(lines.join("\n"));
const jsonl = (rows: readonly unknown[]) => text(rows.map((row) => JSON.stringify(row)));
const csv = (rows: readonly (readonly unknown[])[]) =>
  text(
    rows.map((row) => row.map((cell) => `"${String(cell ?? "").replaceAll('"', '""')}"`).join(",")),
  );

const GOATCOUNTER_COLUMNS = [
  ...["2Path", "Title", "Event", "UserAgent", "Browser", "System", "Session", "Bot", "Referrer"],
  ...["Referrer scheme", "Screen size", "Location", "FirstVisit", "Date"],
];

type Export = (did: readonly Did[]) => { readonly name: string; readonly bytes: Uint8Array };

const EXPORTS: Readonly<Record<SourceName, Export>> = {
  umami: (did) => ({
    name: "export.zip",
    bytes: zipOf([{
      name: "website_event.csv",
      bytes: csv([
        EVENT_COLUMNS,
        ...did.map(({ visitor, ms, page, serial }) =>
          eventRow({
            event_id: id(serial + 1),
            session_id: id(1_000 + visitor),
            visit_id: id(2_000 + visitor),
            created_at: spaced(ms).slice(0, 19),
            url_path: pathOf(page),
            url_query: "",
            event_type: page === null ? 2 : 1,
            event_name: page === null ? "signup" : "",
            country: isGerman(visitor) ? "DE" : "FR",
            browser: hasPhone(visitor) ? "ios" : "chrome",
            os: hasPhone(visitor) ? "iOS" : "Windows 10",
            device: hasPhone(visitor) ? "mobile" : "desktop",
          })
        ),
      ]),
    }]),
  }),
  posthog: (did) => ({
    name: "events.jsonl.gz",
    bytes: new Uint8Array(gzipSync(jsonl(did.map(({ visitor, ms, page, serial }) => ({
      uuid: id(serial + 1),
      event: page === null ? "signup" : "$pageview",
      distinct_id: `device-${visitor}`,
      timestamp: spaced(ms),
      properties: {
        $device_id: `device-${visitor}`,
        $current_url: urlOf(page),
        $geoip_country_code: isGerman(visitor) ? "DE" : "FR",
        $browser: hasPhone(visitor) ? "Mobile Safari" : "Chrome",
        $os: hasPhone(visitor) ? "iOS" : "Windows",
        $device_type: hasPhone(visitor) ? "Mobile" : "Desktop",
      },
    }))))),
  }),
  amplitude: (did) => ({
    name: "amplitude.zip",
    bytes: zipOf([{
      name: "1/1_2026-05-01_8#1.json.gz",
      method: 0,
      bytes: new Uint8Array(gzipSync(jsonl(did.map(({ visitor, ms, page, serial }) => ({
        $insert_id: `insert-${serial}`,
        event_type: page === null ? "signup" : "[Amplitude] Page Viewed",
        event_time: spaced(ms),
        device_id: `device-${visitor}`,
        platform: "Web",
        os_name: hasPhone(visitor) ? "Mobile Safari" : "Chrome",
        device_family: hasPhone(visitor) ? "Apple iPhone" : "Windows",
        country: isGerman(visitor) ? "Germany" : "France",
        event_properties: { "[Amplitude] Page Location": urlOf(page) },
      }))))),
    }]),
  }),
  mixpanel: (did) => ({
    name: "mixpanel.jsonl",
    bytes: jsonl(did.map(({ visitor, ms, page, serial }) => ({
      event: page === null ? "signup" : "$mp_web_page_view",
      properties: {
        time: ms / 1000,
        distinct_id: `$device:device-${visitor}`,
        $device_id: `device-${visitor}`,
        $insert_id: `insert-${serial}`,
        $current_url: urlOf(page),
        mp_country_code: isGerman(visitor) ? "DE" : "FR",
        $browser: hasPhone(visitor) ? "Mobile Safari" : "Chrome",
        $os: hasPhone(visitor) ? "iOS" : "Windows",
      },
    }))),
  }),
  ga4: (did) => ({
    name: "events_20260501.json",
    bytes: jsonl(did.map(({ visitor, ms, page }) =>
      ga4Event({
        event_name: page === null ? "signup" : "page_view",
        event_timestamp: String(ms * 1000),
        user_pseudo_id: `${visitor}.1`,
        event_params: [{ key: "page_location", value: { string_value: urlOf(page) } }],
        collected_traffic_source: null,
        geo: { country: isGerman(visitor) ? "Germany" : "France" },
        device: {
          category: hasPhone(visitor) ? "mobile" : "desktop",
          operating_system: hasPhone(visitor) ? "iOS" : "Windows",
          web_info: { browser: hasPhone(visitor) ? "Safari" : "Chrome" },
        },
      })
    )),
  }),
  matomo: (did) => ({
    name: "visits.json",
    bytes: text([JSON.stringify(
      [...Map.groupBy(did, ({ visitor }) => visitor)].map(([visitor, actions]) => ({
        idSite: "1",
        idVisit: String(visitor),
        visitorId: `v${visitor}`,
        referrerType: "direct",
        countryCode: isGerman(visitor) ? "de" : "fr",
        browserName: hasPhone(visitor) ? "Mobile Safari" : "Chrome",
        operatingSystemName: hasPhone(visitor) ? "iOS" : "Windows",
        deviceType: hasPhone(visitor) ? "Smartphone" : "Desktop",
        actionDetails: actions.map(({ ms, page, serial }) => ({
          type: page === null ? "event" : "action",
          eventCategory: "Account",
          eventAction: "signup",
          url: urlOf(page),
          pageId: String(serial),
          timestamp: ms / 1000,
        })),
      })),
    )]),
  }),
  goatcounter: (did) => ({
    name: "goatcounter-export.csv.gz",
    bytes: new Uint8Array(gzipSync(csv([
      GOATCOUNTER_COLUMNS,
      ...did.map(({ visitor, ms, page }) => [
        ...[page === null ? "signup" : pathOf(page), "", page === null, ""],
        ...(hasPhone(visitor) ? ["Safari 17", "iOS 17"] : ["Chrome 120", "Windows 10"]),
        ...[`s${visitor}`, "0", "", "", hasPhone(visitor) ? "390,844,3" : "1440,900,1"],
        ...[isGerman(visitor) ? "DE" : "FR", "true", iso(ms)],
      ]),
    ]))),
  }),
};

/** The history as a product exports it; `visitors`: the first so many, as an earlier export had. */
export function shopExport(source: SourceName, visitors = VISITORS) {
  return EXPORTS[source](history(0, visitors));
}
