import assert from "node:assert/strict";
import { AMPLITUDE } from "../../src/importers/amplitude/source.ts";
import { GA4 } from "../../src/importers/ga4/source.ts";
import { GOATCOUNTER } from "../../src/importers/goatcounter/source.ts";
import { MATOMO } from "../../src/importers/matomo/source.ts";
import { MIXPANEL } from "../../src/importers/mixpanel/source.ts";
import { POSTHOG } from "../../src/importers/posthog/source.ts";
import type { ImportSource } from "../../src/importers/source.ts";
import { UMAMI } from "../../src/importers/umami/source.ts";
import { gzipSync } from "node:zlib";
import { EventIds } from "../../src/importers/event_ids.ts";
import { memoryFile } from "../../src/importers/input_file.ts";
import {
  amplitudeEvent,
  ga4Event,
  matomoVisit,
  mixpanelEvent,
  posthogEvent,
  UUIDS,
} from "./source_rows.ts";
import { convertedFiles, eventsOf, jsonLines, mapped, PROJECT, textFile } from "./rows.ts";
import { zipOf } from "./zip_writer.ts";

const hashed = (source: string, id: string) => new EventIds(source, PROJECT).fromTheirs(id);

Deno.test("Amplitude: events of the web and of apps, in the zip that it sends", async () => {
  const lines = [
    amplitudeEvent(),
    amplitudeEvent({
      uuid: null,
      $insert_id: "i-2",
      event_type: "session_start",
      platform: "iOS",
      os_name: "ios",
      device_type: "Apple iPad",
      device_family: "Apple iPad",
      session_id: -1,
      event_properties: {},
    }),
    amplitudeEvent({ uuid: UUIDS[2], event_type: "$identify", user_properties: { plan: "pro" } }),
    amplitudeEvent({ uuid: UUIDS[3], event_type: "[Amplitude] Element Clicked" }),
    amplitudeEvent({ uuid: UUIDS[4], event_type: "[Amplitude] Form Submitted" }),
  ].map((event) => `${JSON.stringify(event)}\n`).join("");
  const zip = memoryFile(
    "export.zip",
    zipOf([{
      name: "100/100_2026-05-01_10#1.json.gz",
      bytes: new Uint8Array(gzipSync(lines)),
      method: 0,
    }]),
  );
  const events = eventsOf(await convertedFiles(AMPLITUDE, [zip]));
  assert.deepEqual(events[0], {
    eventId: UUIDS[1],
    name: "page_view",
    timestamp: "2026-05-01T10:00:00.977000Z",
    clock: "client",
    anonymousId: "d1",
    userId: "ada",
    sessionId: "1777629600000",
    url: "https://shop.example/a?x=1",
    path: null,
    referrer: "https://www.google.com/",
    title: "A",
    properties: { plan: "pro" },
    server: {
      geo: { country: "CA", region: "Newfoundland and Labrador", city: "St. John's" },
      browser: "Chrome",
      os: "macOS",
      device: "desktop",
      bot: null,
    },
  });
  assert.deepEqual(events.map(({ name }) => name), [
    "page_view",
    "$session_start",
    "$identify",
    "$[Amplitude] Element Clicked",
    "[Amplitude] Form Submitted",
  ]);
  const [, start, identify] = events;
  assert.equal(start?.eventId, hashed("amplitude", "i-2"));
  assert.equal(start?.sessionId, null);
  assert.deepEqual([start?.server?.browser, start?.server?.os, start?.server?.device], [
    null,
    "iOS",
    "tablet",
  ]);
  assert.deepEqual(identify?.properties, { plan: "pro" });
});

Deno.test("Mixpanel: an event, its people, its time in another zone", async () => {
  const rows = [
    mixpanelEvent(),
    mixpanelEvent({ distinct_id: "$device:d1", $user_id: undefined, $device_id: undefined }),
    mixpanelEvent({ distinct_id: "d1", $user_id: undefined }),
    mixpanelEvent({ $insert_id: undefined }),
    mixpanelEvent({ $insert_id: undefined }),
  ];
  const events = await mapped(MIXPANEL, ...rows);
  assert.deepEqual(events[0], {
    eventId: hashed(
      "mixpanel",
      JSON.stringify(["$mp_web_page_view", "ada", 1_777_629_600, "i1"]),
    ),
    name: "page_view",
    timestamp: 1_777_629_600_000,
    clock: "client",
    userId: "ada",
    anonymousId: "d1",
    url: "https://shop.example/a",
    referrer: null,
    title: "A",
    properties: { plan: "pro" },
    context: { screen: { width: 1440, height: 900 } },
    server: {
      geo: { country: "DE", region: "Berlin", city: "Berlin" },
      browser: "Safari",
      os: "macOS",
      device: "desktop",
      bot: null,
    },
  });
  assert.deepEqual(events.slice(1, 3).map(({ userId, anonymousId }) => [userId, anonymousId]), [
    [null, "d1"],
    [null, "d1"],
  ]);
  assert.notEqual(events[3]?.eventId, events[4]?.eventId);
  const [berlin] = eventsOf(
    await convertedFiles(MIXPANEL, [jsonLines("f", rows.slice(0, 1))], "Europe/Berlin"),
  );
  assert.equal(berlin?.timestamp, 1_777_629_600_000 - 2 * 3_600_000);
});

Deno.test("Mixpanel: events are the same by what Mixpanel tells them apart by, and by nothing less", async () => {
  const of = (properties: Readonly<Record<string, unknown>>, event = "x") => ({
    ...mixpanelEvent({ $insert_id: UUIDS[0], ...properties }),
    event,
  });
  const merged = { distinct_id: "merged", $distinct_id_before_identity: "ada", plan: "free" };
  const events = await mapped(
    MIXPANEL,
    of({}),
    of(merged),
    of({ distinct_id: "bob" }),
    of({ time: 1_777_629_601 }),
    of({ $insert_id: UUIDS[1] }),
    of({}, "y"),
  );
  const [first, same, ...others] = events.map(({ eventId }) => eventId);
  assert.equal(same, first);
  assert.equal(new Set([first, ...others]).size, 5);
});

Deno.test("GA4: its words for what nobody has tagged are no source, medium or campaign", async () => {
  const tagged = (source: string, medium: string, campaign: string) =>
    ga4Event({
      collected_traffic_source: {
        manual_source: source,
        manual_medium: medium,
        manual_campaign_name: campaign,
      },
    });
  const events = await mapped(
    GA4,
    tagged("(direct)", "(none)", "(direct)"),
    tagged("google", "organic", "(organic)"),
    tagged("shop", "(not set)", "sale (late)"),
    tagged("(data deleted)", "(not provided)", "(Sale)"),
  );
  assert.deepEqual(events.map(({ campaign }) => campaign), [
    null,
    { source: "google", medium: "organic" },
    { source: "shop", campaign: "sale (late)" },
    { campaign: "(Sale)" },
  ]);
});

Deno.test("GA4: a row of its BigQuery export", async () => {
  const events = await mapped(
    GA4,
    ga4Event(),
    ga4Event({ event_name: "session_start" }),
    ga4Event({ event_name: "click", user_pseudo_id: null }),
    ga4Event(),
    ga4Event({ traffic_source: { source: "later" } }),
  );
  const { eventId, ...first } = events[0]!;
  assert.match(eventId, /^.{14}8/);
  assert.deepEqual(first, {
    name: "page_view",
    timestamp: 1_777_629_600_123,
    clock: "client",
    userId: null,
    anonymousId: "1.2",
    inSession: null,
    sessionId: "99",
    url: "https://shop.example/a",
    referrer: "https://www.google.com/",
    title: "A",
    properties: {
      value: 2.5,
      big: "9007199254740993",
      transaction_id: "t1",
      total_item_quantity: 2,
      items: [{ item_id: "p1", quantity: 2 }],
    },
    context: { locale: "de-de" },
    campaign: { source: "news", medium: "email" },
    server: {
      geo: { country: "US", region: "Florida", city: null },
      browser: "Chrome",
      os: "Windows",
      device: "desktop",
      bot: null,
    },
  });
  assert.deepEqual(events.map(({ name }) => name), [
    "page_view",
    "$session_start",
    "outbound_click",
    "page_view",
    "page_view",
  ]);
  assert.deepEqual([events[2]?.anonymousId, events[2]?.inSession], [null, false]);
  // Equal ones are told apart; attribution that came later makes no other event.
  assert.equal(new Set(events.map((event) => event.eventId)).size, 5);
  const [again] = await mapped(GA4, ga4Event({ traffic_source: { source: "later" } }));
  assert.equal(again?.eventId, eventId);
});

Deno.test("Matomo: each action of a visit is an event", async () => {
  const file = textFile("visits.json", JSON.stringify([matomoVisit()], null, 2));
  const all = await convertedFiles(MATOMO, [file]);
  const events = eventsOf(all);
  assert.deepEqual(events[0], {
    clock: "client",
    anonymousId: "abc",
    userId: "ada",
    sessionId: "2199",
    context: { screen: { width: 1440, height: 900 }, locale: "de" },
    server: {
      geo: { country: "DE", region: "Berlin", city: "Berlin" },
      browser: "Firefox",
      os: "Linux",
      device: "desktop",
      bot: null,
    },
    eventId: hashed("matomo", "7:action:11"),
    name: "page_view",
    timestamp: 1_777_629_600_000,
    url: "https://shop.example/a",
    title: "A",
    referrer: "https://news.example/",
    campaign: { campaign: "spring", source: "spring", term: "shoes" },
    properties: { dimension1: "gold" },
  });
  assert.deepEqual(events.map(({ name, url, properties }) => [name, url, properties]), [
    ["page_view", "https://shop.example/a", { dimension1: "gold" }],
    ["play", "https://shop.example/a", {
      dimension1: "gold",
      category: "Video",
      label: "Intro",
      value: 3,
    }],
    ["download", "https://shop.example/a", {
      dimension1: "gold",
      target: "https://shop.example/x.pdf",
    }],
    ["site_search", "https://shop.example/find", {
      dimension1: "gold",
      keyword: "boots",
      results: 4,
    }],
    ["goal", "https://shop.example/find", {
      dimension1: "gold",
      goal: "Signed up",
      goalId: "1",
      value: 5,
    }],
    ["purchase", "https://shop.example/find", {
      dimension1: "gold",
      orderId: "o1",
      value: 20,
      items: [{ itemSKU: "p1" }],
    }],
  ]);
  assert.deepEqual(events.slice(1).map(({ referrer, campaign }) => referrer ?? campaign), [
    null,
    null,
    null,
    null,
    null,
  ]);
  assert.deepEqual(all.flatMap(({ outcome }) => "leftOut" in outcome ? [outcome.leftOut] : []), [
    "impressions of content",
  ]);
});

Deno.test("a file of another product is recognised and said", async () => {
  const cases: [ImportSource, unknown, RegExp][] = [
    [
      AMPLITUDE,
      mixpanelEvent(),
      /f\.json, line 1: .*none of Amplitude's\. .*file of Mixpanel: say `--from mixpanel`/,
    ],
    [MIXPANEL, posthogEvent(), /file of PostHog: say `--from posthog`/],
    [POSTHOG, ga4Event(), /file of Google Analytics 4: say `--from ga4`/],
    [GA4, matomoVisit(), /file of Matomo/],
    [MATOMO, amplitudeEvent(), /file of Amplitude/],
    [MATOMO, { result: "error", message: "no access" }, /a reply with an error: no access/],
    [POSTHOG, { eventId: UUIDS[0], name: "a", timestamp: "x" }, /export of Footfall: .* without/],
    [POSTHOG, { hello: 1 }, /none of PostHog's\. PostHog takes files of a batch export/],
  ];
  for (const [source, row, message] of cases) {
    await assert.rejects(mapped(source, row), message);
  }
});

Deno.test("a short file of another kind, an array and a line that are cut off stop the import", async () => {
  const matomo = JSON.stringify([matomoVisit(), matomoVisit()]);
  const line = JSON.stringify({ ...ga4Event(), event_name: "käufe" });
  const cases: [ImportSource, string, RegExp][] = [
    [GA4, "a,b\n1,2\n", /^f: none of its rows can be read \(The row is not valid JSON\.\)/],
    [UMAMI, matomo, /^f, line 1: its header is none of Umami's/],
    [GOATCOUNTER, matomo, /^f, line 1: its header is none of GoatCounter's/],
    [GA4, "a,b\n1,2", /^f: none of its rows can be read \(The row is not valid JSON\.\)/],
    [MATOMO, matomo.slice(0, -30), /^f, line 1: it ends before its array does: it is cut off/],
    [GA4, `${line}\n${line.slice(0, -30)}`, /^f, line 2: it ends within this row: it is cut off/],
  ];
  for (const [source, text, message] of cases) {
    await assert.rejects(convertedFiles(source, [textFile("f", text)]), ({ message: said }) => {
      assert.match(said, message);
      return true;
    });
  }
  const bytes = new TextEncoder().encode(`${line}\n${line.slice(0, line.indexOf("ä") + 1)}`);
  await assert.rejects(
    convertedFiles(GA4, [memoryFile("f", bytes.subarray(0, -1))]),
    /^FileProblem: f, line 2: it ends within this row: it is cut off/,
  );
  const files = [jsonLines("good.json", [ga4Event()]), textFile("other.csv", "a,b\n1,2\n")];
  for (const both of [files, files.toReversed()]) {
    await assert.rejects(convertedFiles(GA4, both), /^FileProblem: other\.csv: none of its rows/);
  }
  const mended = `no JSON\n${JSON.stringify(ga4Event())}\n`;
  assert.equal(eventsOf(await convertedFiles(GA4, [textFile("f", mended)])).length, 1);
});
