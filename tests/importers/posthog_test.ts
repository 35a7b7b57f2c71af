import assert from "node:assert/strict";
import { POSTHOG } from "../../src/importers/posthog/source.ts";
import { mapped } from "./rows.ts";
import { posthogEvent, UUIDS } from "./source_rows.ts";

Deno.test("PostHog: a page view", async () => {
  const [event] = await mapped(POSTHOG, posthogEvent());
  assert.deepEqual(event, {
    eventId: UUIDS[0],
    name: "page_view",
    timestamp: "2026-05-01T10:00:00.123456Z",
    clock: "client",
    userId: "ada",
    anonymousId: "device-1",
    inSession: null,
    sessionId: "s1",
    url: "https://shop.example/a?utm_source=x",
    path: null,
    referrer: null,
    title: "A",
    properties: { plan: "pro" },
    context: {
      viewport: { width: 1200, height: 800 },
      screen: { width: 1440, height: 900 },
      locale: "de-DE",
      timezone: "Europe/Berlin",
    },
    server: {
      geo: { country: "DE", region: "Land Berlin", city: "Berlin" },
      browser: "Chrome",
      os: "macOS",
      device: "desktop",
      bot: null,
    },
  });
});

Deno.test("PostHog: who it was, and the names of its own events", async () => {
  const events = await mapped(
    POSTHOG,
    posthogEvent({ distinct_id: "device-1" }),
    posthogEvent({}, { $is_identified: false }),
    posthogEvent({ event: "$identify" }, {
      $anon_distinct_id: "anon-1",
      $set: { name: "Ada" },
      $set_once: { name: "A", first: 1 },
    }),
    posthogEvent({ event: "$create_alias" }, { alias: "old" }),
    posthogEvent({ event: "$create_alias" }, { alias: "ada" }),
    posthogEvent({ event: "$pageleave", properties: JSON.stringify({ a: 1, $b: 2 }) }),
    posthogEvent({ event: "bought" }, { $referrer: "https://x.example/" }),
    posthogEvent({ event: "$groupidentify" }, { $group_type: "company", $group_key: "c1" }),
  );
  assert.deepEqual(events.map(({ name, userId, anonymousId }) => [name, userId, anonymousId]), [
    ["page_view", null, "device-1"],
    ["page_view", null, "ada"],
    ["$identify", "ada", "anon-1"],
    ["$alias", "ada", "old"],
    ["$alias", "ada", null],
    ["$pageleave", "ada", null],
    ["bought", "ada", "device-1"],
    ["$group", "ada", "device-1"],
  ]);
  assert.deepEqual(events[2]?.properties, { plan: "pro", name: "Ada", first: 1 });
  assert.deepEqual(events[5]?.properties, { a: 1 });
  assert.equal(events[6]?.referrer, "https://x.example/");
  assert.deepEqual(events[7]?.properties, { plan: "pro", groupType: "company", groupKey: "c1" });
});

Deno.test("PostHog: people are whom the same events of its clients make them", async () => {
  const cookieless = { $device_id: "cookielessd_x", $session_id: "s9" };
  const events = await mapped(
    POSTHOG,
    posthogEvent({ event: "$create_alias", distinct_id: "device-1" }, { alias: "ada" }),
    posthogEvent({ event: "$merge_dangerously" }, { alias: "old" }),
    posthogEvent({ distinct_id: "cookieless_x" }, cookieless),
    posthogEvent({ event: "$identify" }, { ...cookieless, $anon_distinct_id: "cookieless_x" }),
    posthogEvent({ event: "$identify" }, { $anon_distinct_id: "ada" }),
    posthogEvent({ event: "$groupidentify", distinct_id: "$company_c1" }, {
      $device_id: null,
      $group_type: "company",
      $group_key: "c1",
    }),
    posthogEvent({}, cookieless),
    posthogEvent({ distinct_id: "$posthog_cookieless" }, { $device_id: null }),
    posthogEvent({ event: "$create_alias", distinct_id: "device-1" }),
    posthogEvent({ event: "$create_alias", distinct_id: "device-1" }, { alias: "device-1" }),
    posthogEvent({ event: "paid", distinct_id: "$undefined_undefined" }, { $device_id: null }),
  );
  assert.deepEqual(events.map(({ name, userId, anonymousId }) => [name, userId, anonymousId]), [
    ["$alias", "ada", "device-1"],
    ["$alias", "ada", "old"],
    ["page_view", null, "cookieless_x"],
    ["$identify", "ada", "cookieless_x"],
    ["$identify", "ada", null],
    ["$group", null, null],
    ["page_view", "ada", null],
    ["page_view", null, null],
    ["$alias", null, "device-1"],
    ["$alias", null, "device-1"],
    ["paid", "$undefined_undefined", null],
  ]);
});

Deno.test("PostHog: an event of a server is of no visit, unless it names one", async () => {
  const events = await mapped(
    POSTHOG,
    posthogEvent({ event: "paid" }, { $is_server: true, $session_id: null }),
    posthogEvent({ event: "paid" }, { $is_server: true }),
    posthogEvent({ event: "paid" }, { $session_id: null }),
  );
  assert.deepEqual(events.map(({ inSession }) => inSession), [false, null, null]);
});
