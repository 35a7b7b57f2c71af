import fc from "fast-check";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/store/event_row.ts";
import { readEvent, suspicionOf } from "../../src/ingest/event_schema.ts";
import { type Arrival, enricher } from "../../src/ingest/pipeline.ts";
import { clockOffset } from "../../src/ingest/timestamp.ts";
import { parseJson } from "../../src/json_text.ts";

const NOW = Date.parse("2026-11-21T12:00:00.000Z");

/** Columns of an event that say something of it. */
export const COLUMNS = (Object.keys(EVENT_COLUMN_TYPES) as (keyof EventRow)[])
  .filter((name) => name !== "project_id");

const text = fc.oneof(
  fc.constantFrom("", "a", "ä", "x\ty", "\\x00", '"', "🦊", "null", "\u2028", "日本語"),
  fc.string({ unit: "grapheme", maxLength: 8 }),
).map((value) => value.replaceAll("\0", ""));
const key = fc.oneof(
  fc.constantFrom("__proto__", "1", "server", "\n", "x", "y", "fixed", "rage", "dead", "selector"),
  fc.constantFrom("viewportWidth", "viewportHeight", "documentWidth", "documentHeight", "depthPx"),
  text,
);
const number = fc.oneof(
  fc.integer({ min: -3, max: 2_000 }),
  fc.constantFrom(-0, 0.1 + 0.2, 100.5, 1e21, 5e-324, 1_000_001, 0.25),
);
const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const value = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(key, leaf, { maxKeys: 3 }) },
);
const size = fc.oneof(
  fc.record({ width: number, height: number }),
  fc.record({ width: value, height: value, depth: value }, { requiredKeys: [] }),
  fc.constant(null),
);
const address = fc.constantFrom(
  ...["https://shop.example/a?utm_source=x&utm_medium=%20&gclid=1#f", "https://shop.example"],
  ...["https://shop.example:8443/a/../b", "http://Shop.Example/ä?q=1", "/relative?utm_term=t&x"],
  ...["mailto:a@b.c", "not an address", "//other.example/x", "https://xn--bcher-kva.example/%zz"],
  ...["", "?utm_campaign=only", "https://shop.example/p?fbclid=2&utm_content=a%26b"],
);
const named = fc.oneof(fc.constantFrom("page_view", "click", "scroll", "$identify", "buy"), text);
const moment = fc.oneof(
  fc.integer({ min: NOW - 1e10, max: NOW + 3e8 }),
  fc.constantFrom("2026-11-21T12:00:00+02:00", "2026-11-20", -62_135_596_800_000, 0, 8.64e15),
);

/** What clients may send; most of it odd. */
const sent = fc.record({
  eventId: fc.uuid(),
  name: named,
  type: named,
  timestamp: moment,
  anonymousId: text,
  userId: text,
  sessionId: text,
  url: address,
  path: fc.oneof(text, fc.constantFrom("/a?b", "/a", "#")),
  referrer: fc.oneof(address, text),
  title: text,
  properties: fc.dictionary(fc.oneof(key, fc.constantFrom("$session", "$interactive")), value, {
    maxKeys: 6,
  }),
  context: fc.oneof(
    fc.record({ viewport: size, screen: size, locale: text, timezone: text, theme: value }, {
      requiredKeys: [],
    }),
    fc.constant(null),
  ),
  // Names of what an export says, as members of a client's own.
  server: value,
  extra: value,
  clock: value,
  campaign: value,
  browser: value,
  inSession: value,
  sentTimestamp: value,
  own: value,
}, { requiredKeys: ["eventId"] });

const arrival = fc.record({
  projectId: fc.constant(7),
  projectPublicId: fc.constant("prj_x"),
  receivedAtMs: fc.integer({ min: NOW, max: NOW + 86_400_000 }),
  clockOffsetMs: fc.constantFrom(0, 0, 3_600_001, -7_000_000).map((ms) =>
    clockOffset(NOW - ms, NOW)
  ),
  ip: fc.constantFrom("8.8.8.8", "2001:4860:4860::8888", "192.168.0.1", "84.138.30.31", null),
  userAgent: fc.constantFrom(
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 SamsungBrowser/2.2 TV Safari/537.36",
    null,
  ),
  fromBackend: fc.boolean(),
  ipStorage: fc.constantFrom("full", "truncated", "none"),
}) as fc.Arbitrary<Arrival>;

/** An event that a client sent, and how it came. */
export interface SentEvent {
  readonly event: Record<string, unknown>;
  readonly arrival: Arrival;
}

export const SENT_EVENT: fc.Arbitrary<SentEvent> = fc.record({
  event: sent as fc.Arbitrary<Record<string, unknown>>,
  arrival,
});

/** The row that ingestion makes of it; null where it refuses it. */
export async function ingested(
  { event, arrival }: SentEvent,
  tools: Parameters<typeof enricher>[1],
): Promise<EventRow | null> {
  const text = JSON.stringify(event);
  const enriching = enricher(arrival, tools);
  let row: EventRow;
  try {
    row = enriching.rowOf(readEvent(parseJson(text), suspicionOf(text)));
  } catch (error) {
    if (error instanceof Error && error.name === "RejectedEvent") return null;
    throw error;
  }
  await enriching.complete();
  return row;
}

const FULL_ARRIVAL: Arrival = {
  projectId: 7,
  projectPublicId: "prj_x",
  receivedAtMs: NOW,
  clockOffsetMs: 3_600_001,
  ip: "84.138.30.31",
  userAgent:
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1",
  fromBackend: false,
  ipStorage: "full",
};
const WINDOW = { viewportWidth: 390, viewportHeight: 800, documentHeight: 4_000 };

/** Events that have, together, something in every column. */
export const FULL_EVENTS: readonly SentEvent[] = [
  {
    name: "page_view",
    timestamp: NOW,
    ...{
      anonymousId: "a",
      userId: "u",
      sessionId: "s",
      referrer: "https://news.example/",
      title: "T",
    },
    url:
      "https://shop.example/a?utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e&gclid=f",
    context: {
      viewport: { width: 390, height: 800 },
      screen: { width: 390, height: 844 },
      ...{ locale: "de", timezone: "Europe/Berlin" },
    },
    properties: { $interactive: false, plan: "pro" },
    own: 1,
  },
  { name: "click", url: "http://shop.example/", properties: { ...WINDOW, documentWidth: 390 } },
  {
    name: "click",
    properties: { x: 0.5, y: 12.25, fixed: true, rage: false, dead: true, selector: "a" },
  },
  { name: "scroll", properties: { ...WINDOW, depthPx: 800, $session: false } },
  {
    name: "click",
    properties: WINDOW,
    context: {
      viewport: { width: 391, height: 800 },
      screen: { width: 391, height: 9, depth: 24 },
    },
    own: 1,
  },
  { name: "scroll", context: { viewport: { width: 391.5, height: 800 }, theme: "dark" } },
  { name: "click", context: { viewport: { width: 391, height: 800 } } },
  { name: "click", context: { viewport: {} } },
].map((event, i) => ({
  event: { eventId: `01a1ff0c-e740-7995-94c8-0d06982a151${i}`, ...event },
  arrival: FULL_ARRIVAL,
}));
