/** Columns of an export of Umami 3, in its order. */
export const EVENT_COLUMNS = [
  ...["website_id", "session_id", "visit_id", "event_id", "hostname", "browser", "os", "device"],
  ...["screen", "language", "country", "region", "city", "url_path", "url_query"],
  ...["utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"],
  ...["referrer_path", "referrer_query", "referrer_domain", "page_title"],
  ...["gclid", "fbclid", "msclkid", "ttclid", "li_fat_id", "twclid"],
  ...["lcp", "inp", "cls", "fcp", "ttfb", "event_type", "event_name", "tag", "distinct_id"],
  ...["created_at", "job_id"],
];
export const DATA_COLUMNS = [
  ...["website_id", "session_id", "event_id", "url_path", "event_name", "data_key"],
  ...["string_value", "number_value", "date_value", "data_type", "created_at", "job_id"],
];

/** A UUID for each number. */
export const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

const ROW: Readonly<Record<string, unknown>> = {
  website_id: id(0),
  session_id: id(9),
  visit_id: id(8),
  hostname: "shop.example",
  browser: "chrome",
  os: "Mac OS",
  device: "laptop",
  screen: "1440x900",
  language: "de-DE",
  country: "DE",
  region: "DE-BE",
  city: "Berlin",
  url_path: "/a",
  url_query: "utm_source=x&b=1",
  utm_source: "x",
  utm_medium: "email",
  gclid: "g1",
  referrer_domain: "www.google.com",
  referrer_path: "/search",
  referrer_query: "q=1",
  event_type: 1,
  created_at: "2026-05-01 10:00:00",
};

/** A row of `website_event`. */
export function eventRow(told: Readonly<Record<string, unknown>>): unknown[] {
  return EVENT_COLUMNS.map((column) => ({ ...ROW, ...told })[column]);
}
