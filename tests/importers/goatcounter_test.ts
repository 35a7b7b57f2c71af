import assert from "node:assert/strict";
import { GOATCOUNTER } from "../../src/importers/goatcounter/source.ts";
import { convertedFiles, csvFile, eventsOf } from "./rows.ts";

const COLUMNS = [
  ...["2Path", "Title", "Event", "UserAgent", "Browser", "System", "Session", "Bot", "Referrer"],
  ...["Referrer scheme", "Screen size", "Location", "FirstVisit", "Date"],
];

function record(told: Readonly<Record<string, string>> = {}): string[] {
  const row: Readonly<Record<string, string>> = {
    "2Path": "/a",
    Title: "A",
    Event: "false",
    Browser: "Firefox 121",
    System: "Windows 10",
    Session: "s1",
    Bot: "0",
    Referrer: "news.example/x",
    "Referrer scheme": "h",
    "Screen size": "1440,900,2",
    Location: "US-TX",
    FirstVisit: "true",
    Date: "2026-05-01T10:00:00Z",
    ...told,
  };
  return COLUMNS.map((column) => row[column] ?? "");
}

const read = async (...rows: string[][]) =>
  eventsOf(await convertedFiles(GOATCOUNTER, [csvFile("g.csv", [COLUMNS, ...rows])]));

Deno.test("GoatCounter: a page view, an event, a bot, nobody", async () => {
  const [view, event, bot, nobody] = await read(
    record(),
    record({ "2Path": "signup", Event: "true", System: "Android 14", "Screen size": "412,915,2" }),
    record({ Bot: "5" }),
    record({ Session: "" }),
  );
  const { eventId: _, ...shown } = view!;
  assert.deepEqual(shown, {
    name: "page_view",
    timestamp: "2026-05-01T10:00:00Z",
    clock: "client",
    anonymousId: "s1",
    sessionId: "s1",
    inSession: null,
    url: "/a",
    referrer: "https://news.example/x",
    title: "A",
    properties: {},
    context: { screen: { width: 1440, height: 900 } },
    campaign: null,
    server: {
      geo: { country: "US", region: "US-TX", city: null },
      browser: "Firefox",
      os: "Windows",
      device: "desktop",
      bot: false,
    },
  });
  assert.deepEqual([event?.name, event?.url, event?.server?.device], ["signup", null, "mobile"]);
  assert.equal(bot?.server?.bot, true);
  assert.deepEqual([nobody?.anonymousId, nobody?.inSession], [null, false]);
});

Deno.test("GoatCounter: where its sessions are off, hits are of no visitor", async () => {
  const sessions = ["0-0", "00000000-0000-0000-0000-000000000000", "0-1", "10-0"];
  const events = await read(...sessions.map((Session) => record({ Session })));
  assert.deepEqual(
    events.map(({ anonymousId, sessionId, inSession }) => [anonymousId, sessionId, inSession]),
    [
      [null, null, false],
      [null, null, false],
      ["0-1", "0-1", null],
      ["10-0", "10-0", null],
    ],
  );
});

Deno.test("GoatCounter: what a referrer is meant as", async () => {
  const events = await read(
    record({ Referrer: "spring", "Referrer scheme": "c" }),
    record({ Referrer: "Hacker News", "Referrer scheme": "g" }),
    record({ Referrer: "Email", "Referrer scheme": "g" }),
    record({ Referrer: "android-app://com.example", "Referrer scheme": "o" }),
    record({ Referrer: "", "Referrer scheme": "" }),
  );
  assert.deepEqual(
    events.map(({ referrer, campaign, properties }) => [referrer, campaign, properties]),
    [
      [null, { source: "spring" }, {}],
      ["https://news.ycombinator.com/", null, {}],
      [null, null, { referrerName: "Email" }],
      ["android-app://com.example", null, {}],
      [null, null, {}],
    ],
  );
});

Deno.test("GoatCounter: equal rows are events of their own, and the same ones in a later export", async () => {
  const first = await read(record(), record());
  const later = await read(record(), record(), record(), record({ Date: "2026-05-02T00:00:00Z" }));
  assert.equal(new Set(later.map(({ eventId }) => eventId)).size, 4);
  assert.deepEqual(later.slice(0, 2).map(({ eventId }) => eventId), first.map((e) => e.eventId));
});

Deno.test("GoatCounter: a hit is the same whatever its page is titled by now, and another one by its own columns", async () => {
  const renamed = { Title: "B", Browser: "Firefox", System: "Windows", FirstVisit: "false" };
  const others = ["2Path", "Session", "Bot", "Referrer", "Referrer scheme", "Screen size"]
    .concat("Location", "Date", "Event").map((column) => ({ [column]: "1" }));
  const first = await read(record());
  const later = await read(record(renamed), ...others.map((told) => record(told)));
  assert.equal(later[0]?.eventId, first[0]?.eventId);
  assert.equal(new Set(later.map(({ eventId }) => eventId)).size, 1 + others.length);
});

Deno.test("GoatCounter: an unknown version of the export is not guessed at", async () => {
  await assert.rejects(
    convertedFiles(GOATCOUNTER, [csvFile("g.csv", [["3Path", ...COLUMNS.slice(1)], record()])]),
    /g\.csv, line 1: it is version 3 of GoatCounter's export/,
  );
});
