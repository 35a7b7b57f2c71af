import fc from "fast-check";
import type { EventRow } from "../../src/store/event_row.ts";
import { newRow } from "../support/event_rows.ts";
import type { World } from "./world.ts";

/**
 * Random histories over small alphabets, so that events meet: gaps of exactly 30 minutes and just
 * past it, ties in one millisecond, shared identities, changes of the clocks, ends of months.
 */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Timelines gather after one of these: clocks change in Berlin, months and years end. */
const ANCHORS = [
  "2026-03-28T23:00:00Z",
  "2026-10-24T22:30:00Z",
  "2025-12-31T21:30:00Z",
  "2026-01-31T22:00:00Z",
  "2026-02-28T10:00:00Z",
  // Before the epoch, too.
  "1969-12-31T21:00:00Z",
] as const;
export const TIMEZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  // There the clocks change at midnight.
  "Asia/Beirut",
] as const;

export const NAMES = [
  "page_view",
  "click",
  "scroll",
  "signup",
  "buy",
  "$identify",
  "$set",
  "$web_vitals",
] as const;
export const PATHS = ["/", "/a", "/a/b", "/a_b"] as const;
export const USERS = ["u1", "u2", "u3"] as const;
/** One is called as a user is, and is somebody else. */
export const ANONYMOUS_IDS = ["a1", "a2", "a3", "u3"] as const;
const HASHES = ["1", "2", "3"].map((digit) => `\\x${digit.repeat(32)}`);
export const HOSTS = ["shop.example", "www.shop.example", "blog.example"] as const;
export const TITLES = ["Home", "About us", "100 % \\o/ 'é_\""] as const;
export const SELECTORS = ["#buy", "nav > a"] as const;
export const SITE_URLS = [null, "https://shop.example"] as const;

const CAMPAIGNS: readonly Partial<EventRow>[] = [
  { utm_source: "news", utm_medium: "email", utm_campaign: "spring", utm_content: "top" },
  { utm_source: "google", utm_medium: "cpc", utm_campaign: "spring", utm_term: "shoes" },
  // In part, and beside what a click leaves in the address.
  { utm_medium: "Social" },
  { utm_medium: "email" },
  { utm_campaign: "spring" },
  { utm_term: "shoes", utm_content: "top" },
  { utm_source: "google", click_id_kind: "gclid" },
  { utm_medium: "email", click_id_kind: "msclkid" },
  { utm_campaign: "spring", click_id_kind: "fbclid" },
  { click_id_kind: "gclid" },
  { click_id_kind: "fbclid" },
];
const REFERRERS = [
  "https://www.google.com/",
  "https://news.example/post?x=1",
  "https://chatgpt.com/",
  "https://www.shop.example/a",
  "HTTPS://someone@WWW.News.Example:8443?x",
  "android-app://com.example.news/",
  "//news.example/",
  "not an address",
] as const;
const PLACES: readonly Partial<EventRow>[] = [
  { located: true, country: "DE", region: "Berlin", city: "Berlin" },
  { located: true, country: "DE", region: "Bavaria", city: "Munich" },
  { located: true, country: "FR" },
];
const AGENTS: readonly Partial<EventRow>[] = [
  { browser: "Firefox", os: "Linux", device: "d" },
  { browser: "Safari", os: "iOS", device: "m" },
  { browser: "Safari", os: "iOS", device: "t" },
  { browser: "Chrome", device: "o" },
];
const VIEWPORT_WIDTHS_PX = [390, 767, 768, 1023, 1024, 1440, 1440] as const;

/** Null in one of `freq` cases. */
function maybe<T>(values: readonly T[], freq = 3): fc.Arbitrary<T | null> {
  return fc.option(fc.constantFrom(...values), { freq });
}

function sometimes(
  members: readonly Partial<EventRow>[],
  freq: number,
): fc.Arbitrary<Partial<EventRow>> {
  return maybe(members, freq).map((chosen) => chosen ?? {});
}

/** Multiples of 5 minutes within 3 hours, mostly of one day; now and then just past them. */
const offsetMs: fc.Arbitrary<number> = fc.tuple(
  fc.nat({ max: 36 }),
  fc.oneof(
    { weight: 7, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.constantFrom(1, 1, 2, 7, 29, 31, -1, -1, -2, -365) },
  ),
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(1, 1, SECOND_MS, SECOND_MS, MINUTE_MS) },
  ),
).map(([fiveMinutes, days, restMs]) => fiveMinutes * 5 * MINUTE_MS + days * DAY_MS + restMs);

/** Few enough that each does several things; an anonymous id may belong to one of them, or two. */
const identity: fc.Arbitrary<Partial<EventRow>> = fc.record({
  user_id: fc.constantFrom(null, null, "u1", "u1", ...USERS),
  anonymous_id: fc.constantFrom(null, null, "a1", "a1", "a1", ...ANONYMOUS_IDS),
  visitor_hash: fc.constantFrom(HASHES[0]!, HASHES[0]!, ...HASHES),
});

const properties: fc.Arbitrary<string | null> = fc.option(
  fc.record({
    plan: fc.constantFrom<unknown>("free", "pro", "10", true, null),
    total: fc.constantFrom<unknown>(
      ...[0, 5, 10, 10.5, 0.1, 0.1 + 0.2, -3, 1e21, 1e-7, "1e+21", "10", "none", ""],
    ),
    // More values than a read tells apart.
    n: fc.nat({ max: 60 }),
  }, { requiredKeys: [] }).map((members) => JSON.stringify(members)),
  { freq: 4 },
);

const click: fc.Arbitrary<Partial<EventRow>> = fc.record({
  pointer_x: maybe([0, 0.25, 0.4999, 0.5, 0.5049, 1], 20),
  pointer_y: fc.constantFrom(0, 9.5, 10, 100, 105),
  fixed: maybe([true, false]),
  rage: maybe([true, false]),
  dead: maybe([true, false]),
  selector: maybe(SELECTORS),
  document_width: maybe([390, 1440]),
  document_height: maybe([1000, 4000]),
});
const scroll: fc.Arbitrary<Partial<EventRow>> = fc.record({
  depth_px: maybe([0, 9, 10, 700, 705, 1200], 10),
  document_height: maybe([0, 1000, 4000], 10),
});

/** On the bounds, just past them, and what is no number. */
const vitals: fc.Arbitrary<Partial<EventRow>> = fc.record({
  lcp: fc.constantFrom<unknown>(900, 2500, 2500.5, 4000, 4001, "2500", null),
  inp: fc.constantFrom<unknown>(8, 200, 201, 500, 501, true),
  cls: fc.constantFrom<unknown>(0, 0.1, 0.1001, 0.25, 0.3, 1e-7),
  fcp: fc.constantFrom(1800, 1801, 3000, 3001),
  ttfb: fc.constantFrom(-1, 0, 800, 801, 1800, 1801),
}, { requiredKeys: [] }).map((members) => ({ properties: JSON.stringify(members) }));

function detailsOf(name: string): fc.Arbitrary<Partial<EventRow>> {
  if (name === "$web_vitals") return vitals;
  if (name === "click") return click;
  return name === "scroll" ? scroll : fc.constant({});
}

/** Ingestion leaves technical names out of sessions. */
function ofNoSession(name: string): Partial<EventRow> {
  return name.startsWith("$") ? { in_session: false } : {};
}

const members: fc.Arbitrary<Partial<EventRow>> = fc.constantFrom("page_view", "click", ...NAMES)
  .chain((name) =>
    fc.tuple(
      fc.record({
        path: maybe(["/", "/", ...PATHS], 10),
        host: maybe(HOSTS, 5),
        title: maybe(TITLES),
        referrer: fc.oneof(fc.constant(null), fc.constantFrom(...REFERRERS)),
        bot: fc.constantFrom(null, null, false, false, false, false, true),
        in_session: fc.constantFrom(true, true, true, true, true, true, true, false),
        interactive: fc.constantFrom(null, null, null, null, false),
        viewport_width: maybe(VIEWPORT_WIDTHS_PX, 2),
        properties,
      }),
      identity,
      fc.oneof(fc.constant({}), fc.constantFrom(...CAMPAIGNS)),
      sometimes(PLACES, 4),
      sometimes(AGENTS, 4),
      detailsOf(name),
    ).map((parts) => Object.assign({ name }, ...parts, ofNoSession(name)) as Partial<EventRow>)
  );

interface Draft {
  readonly offsetMs: number;
  readonly idPrefix: number;
  readonly members: Partial<EventRow>;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  offsetMs,
  // Ids are in another order than times and lines are.
  idPrefix: fc.nat({ max: 255 }),
  members,
});

function rowOf({ offsetMs, idPrefix, members }: Draft, index: number, anchorMs: number): EventRow {
  const at = new Date(anchorMs + offsetMs).toISOString();
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");
  return newRow({
    event_id: `${hex(idPrefix, 8)}-0000-4000-8000-${hex(index, 12)}`,
    occurred_at: at,
    received_at: at,
    clock: "c",
    ...members,
  });
}

/** How long after the last event a read may come. */
const SINCE_LAST_MS = [
  0,
  1,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  40 * DAY_MS,
] as const;

const occurredMs = (row: EventRow) => Date.parse(row.occurred_at);

export interface RandomWorld {
  readonly world: World;
  /** Around it the events gather, and ranges should lie. */
  readonly anchorMs: number;
}

/** Clocks of clients run ahead: so far past the moment of the read events may lie. */
const AHEAD_MS = [0, 0, 0, 0, HOUR_MS, DAY_MS] as const;

/** A world of up to `eventsMax` events, few of them of the coming day. */
export function randomWorld(eventsMax = 80): fc.Arbitrary<RandomWorld> {
  const drawn = fc.record({
    anchor: fc.constantFrom(...ANCHORS),
    drafts: fc.array(draft, { maxLength: eventsMax, size: "max" }),
    timezone: fc.constantFrom(...TIMEZONES),
    siteUrl: fc.constantFrom(...SITE_URLS),
    aheadMs: fc.constantFrom(...AHEAD_MS),
    end: fc.oneof(
      {
        weight: 2,
        arbitrary: fc.constantFrom(...SINCE_LAST_MS).map((ms) => ({ sinceLastMs: ms })),
      },
      { weight: 1, arbitrary: offsetMs.map((ms) => ({ sinceAnchorMs: Math.abs(ms) })) },
    ),
  });
  // Biased to small values, most histories would be too short to say anything.
  return fc.noBias(drawn).map(({ anchor, drafts, timezone, siteUrl, aheadMs, end }) => {
    const anchorMs = Date.parse(anchor);
    const rows = drafts.map((one, index) => rowOf(one, index, anchorMs));
    const lastMs = Math.max(anchorMs, ...rows.map(occurredMs));
    const asOfMs = "sinceLastMs" in end ? lastMs + end.sinceLastMs : anchorMs + end.sinceAnchorMs;
    const events = rows.filter((row) => occurredMs(row) <= asOfMs + aheadMs);
    return { anchorMs, world: { project: { timezone, siteUrl }, events, asOfMs } };
  });
}
