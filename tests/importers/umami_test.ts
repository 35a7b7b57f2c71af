import assert from "node:assert/strict";
import { UMAMI } from "../../src/importers/umami/source.ts";
import { JOINED_BYTES_MAX } from "../../src/importers/importer_limits.ts";
import { memoryFile } from "../../src/importers/input_file.ts";
import { convertedFiles, csvFile, eventsOf, refusalsOf, textFile } from "./rows.ts";
import { DATA_COLUMNS, EVENT_COLUMNS, eventRow, id } from "./umami_export.ts";
import { zipOf } from "./zip_writer.ts";

const EVENTS = csvFile("website_event.csv", [
  EVENT_COLUMNS,
  eventRow({ event_id: id(1), page_title: "'=Home" }),
  eventRow({
    event_id: id(2),
    event_type: 2,
    event_name: "signup",
    created_at: "2026-05-01T10:01:00.250Z",
    tag: "b",
    distinct_id: "ada",
    hostname: "",
    url_query: "",
    referrer_domain: "",
    utm_source: "",
    utm_medium: "",
    gclid: "",
  }),
  eventRow({ event_id: id(3), event_type: 5 }),
]);
const DATA = csvFile("event_data.csv", [
  DATA_COLUMNS,
  [id(0), id(9), id(2), "/", "signup", "plan", "pro", "", "", 1, "2026-05-01 10:01:00", ""],
  [
    id(0),
    id(9),
    id(2),
    "/",
    "signup",
    "seats",
    "3.0000",
    "3.0000",
    "",
    2,
    "2026-05-01 10:01:00",
    "",
  ],
  [id(0), id(9), id(2), "/", "signup", "trial", "true", "", "", 3, "2026-05-01 10:01:00", ""],
  [
    id(0),
    id(9),
    id(2),
    "/",
    "signup",
    "since",
    "",
    "",
    "2026-04-01 00:00:00",
    4,
    "2026-05-01 10:01:00",
    "",
  ],
  [id(0), id(9), id(2), "/", "signup", "tags", '["a","b"]', "", "", 5, "2026-05-01 10:01:00", ""],
  [id(0), id(9), id(77), "/", "other", "plan", "free", "", "", 1, "2026-05-01 10:01:00", ""],
]);

Deno.test("Umami: a page view and an event with its properties", async () => {
  const all = await convertedFiles(UMAMI, [EVENTS, DATA]);
  const [view, signup, ...others] = eventsOf(all);
  assert.deepEqual(others, []);
  assert.deepEqual(view, {
    eventId: id(1),
    name: "page_view",
    timestamp: "2026-05-01T10:00:00Z",
    clock: "client",
    anonymousId: id(9),
    userId: null,
    sessionId: id(8),
    url: "https://shop.example/a?utm_source=x&b=1",
    referrer: "https://www.google.com/search?q=1",
    title: "=Home",
    properties: {},
    context: { screen: { width: 1440, height: 900 }, locale: "de-DE" },
    campaign: { source: "x", medium: "email", clickId: "gclid" },
    server: {
      geo: { country: "DE", region: "DE-BE", city: "Berlin" },
      browser: "Chrome",
      os: "macOS",
      device: "desktop",
      bot: null,
    },
  });
  assert.equal(signup?.name, "signup");
  assert.equal(signup?.timestamp, "2026-05-01T10:01:00.250Z");
  assert.equal(signup?.userId, "ada");
  assert.deepEqual([signup?.url, signup?.referrer, signup?.campaign], ["/a", null, null]);
  assert.deepEqual(signup?.properties, {
    plan: "pro",
    seats: 3,
    trial: true,
    since: "2026-04-01T00:00:00Z",
    tags: ["a", "b"],
    tag: "b",
  });
  assert.deepEqual(all.map(({ outcome }) => "leftOut" in outcome ? outcome.leftOut : null), [
    null,
    null,
    "measurements of speed",
  ]);
});

Deno.test("Umami: the zip of an export is the same, whatever its order", async () => {
  const bytes = async (file: typeof EVENTS) => {
    const parts: Uint8Array[] = [];
    for await (const chunk of file.read(0, file.size)) parts.push(chunk);
    return new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  };
  const zip = memoryFile(
    "export.zip",
    zipOf([
      { name: "event_data.csv", bytes: await bytes(DATA) },
      { name: "session_data.csv", bytes: new TextEncoder().encode("session_id,data_key\r\n") },
      { name: "website_event.csv", bytes: await bytes(EVENTS) },
    ]),
  );
  assert.deepEqual(
    eventsOf(await convertedFiles(UMAMI, [zip])),
    eventsOf(await convertedFiles(UMAMI, [EVENTS, DATA])),
  );
});

Deno.test("Umami: a row that is cut short is refused with its line; without events nothing is read", async () => {
  const cut = textFile("website_event.csv", `${EVENT_COLUMNS.join(",")}\nx,y\n`);
  assert.deepEqual(refusalsOf(await convertedFiles(UMAMI, [cut])), [
    { file: "website_event.csv", line: 2, code: "invalid_row" },
  ]);
  await assert.rejects(convertedFiles(UMAMI, [DATA]), /there is no table of events in it/);
});

Deno.test("Umami: names of browsers, systems and devices are Footfall's", async () => {
  const cases = [
    ["crios", "iOS", "mobile", "Chrome", "iOS", "mobile"],
    ["ios", "iOS", "tablet", "Safari", "iOS", "tablet"],
    ["edge-chromium", "Windows 10", "laptop", "Edge", "Windows", "desktop"],
    ["samsung", "Android OS", "mobile", "Samsung Internet", "Android", "mobile"],
    ["fxios", "Chrome OS", "desktop", "Firefox", "Chrome OS", "desktop"],
    ["facebook", "BeOS", "", "facebook", "BeOS", null],
    ["", "", "", null, null, null],
  ];
  const file = csvFile("website_event.csv", [
    EVENT_COLUMNS,
    ...cases.map(([browser, os, device], i) =>
      eventRow({ event_id: id(i + 1), browser, os, device })
    ),
  ]);
  const found = eventsOf(await convertedFiles(UMAMI, [file]))
    .map(({ server }) => [server?.browser, server?.os, server?.device]);
  assert.deepEqual(found, cases.map((row) => row.slice(3)));
});

Deno.test("Umami: properties that do not fit into memory at once find their events all the same", async () => {
  const events = 500;
  const properties = 150;
  const file = csvFile("website_event.csv", [
    EVENT_COLUMNS,
    ...Array.from(
      { length: events },
      (_, i) => eventRow({ event_id: id(i + 1), event_type: 2, event_name: "bought" }),
    ),
  ]);
  const padding = "x".repeat(400);
  const rows = [DATA_COLUMNS.join(",")];
  for (let property = 0; property < properties; property++) {
    for (let event = 1; event <= events; event++) {
      rows.push(`,,${id(event)},,,p${property},${event}-${property}-${padding},,,1,,`);
    }
  }
  const data = textFile("event_data.csv", rows.join("\n"));
  assert.ok(data.size * 3 > JOINED_BYTES_MAX, "several shares");
  const found = eventsOf(await convertedFiles(UMAMI, [file, data]));
  assert.equal(new Set(found.map(({ eventId }) => eventId)).size, events);
  assert.equal(found.length, events);
  for (const { eventId, properties: held } of found) {
    const event = Number(eventId.slice(-12));
    assert.equal(Object.keys(held ?? {}).length, properties);
    assert.equal(held?.p149, `${event}-149-${padding}`);
  }
});

Deno.test("Umami: the export of a website's page has sums, and is refused as that", async () => {
  const zip = memoryFile(
    "export.zip",
    zipOf([
      { name: "events.csv", bytes: new Uint8Array(), method: 0 },
      { name: "pages.csv", bytes: new TextEncoder().encode("x,y\r\n/,2\r\n/a,1"), method: 0 },
    ]),
  );
  await assert.rejects(
    convertedFiles(UMAMI, [zip]),
    /^FileProblem: export\.zip › pages\.csv, line 1: it has sums, not events: .*postgres:\/\//,
  );
});
