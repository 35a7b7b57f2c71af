import assert from "node:assert/strict";
import { protocolOf } from "../../../src/clients/segment/decode.ts";
import { eventOf } from "../../../src/clients/segment/map.ts";
import { present } from "../../../src/clients/fields.ts";
import type { Json } from "../../support/app.ts";

/** The event as the core sees it: what has no value is absent. */
function mapped(message: Json, protocol: "segment" | "rudder" = "segment"): Json {
  const item = eventOf({ messageId: "m", ...message }, null, protocol);
  assert.ok("event" in item, JSON.stringify(item));
  const { context, properties, ...rest } = item.event as Json;
  return JSON.parse(JSON.stringify({
    ...present(rest),
    properties: present(properties as Json),
    context: present(context as Json),
  }));
}

const PAGE = {
  url: "https://shop.example/cart?utm_source=x",
  path: "/cart",
  referrer: "https://search.example/",
  title: "Cart",
  search: "?utm_source=x",
};
const at = { url: PAGE.url, path: PAGE.path, referrer: PAGE.referrer, title: PAGE.title };

const ROWS: [string, Json, Json][] = [
  ["track", {
    type: "track",
    event: "Order Completed",
    anonymousId: "a",
    userId: "u",
    properties: { total: 5, url: "https://a.product.example" },
    context: { page: PAGE },
  }, {
    ...at,
    name: "Order Completed",
    anonymousId: "a",
    userId: "u",
    properties: { total: 5, url: "https://a.product.example" },
    context: {},
  }],
  ["page: its own properties come before what stands around it", {
    type: "page",
    name: "Basket",
    category: "Shop",
    properties: { ...PAGE, url: "https://shop.example/own", plan: "b" },
    context: { page: PAGE },
  }, {
    ...at,
    url: "https://shop.example/own",
    name: "page_view",
    properties: { name: "Basket", category: "Shop", plan: "b" },
    context: {},
  }],
  ["page: $direct and an empty text are no referrer", {
    type: "page",
    properties: { referrer: "" },
    context: { page: { referrer: "$direct", path: "/" } },
  }, { name: "page_view", path: "/", properties: {}, context: {} }],
  ["screen: its name is the title", {
    type: "screen",
    name: "Home",
    properties: { tab: 1 },
  }, { name: "page_view", title: "Home", properties: { name: "Home", tab: 1 }, context: {} }],
  ["identify: traits, those of the context included", {
    type: "identify",
    userId: "u",
    anonymousId: "a",
    traits: { plan: "b" },
    context: { traits: { plan: "a", email: "x@example.com" } },
  }, {
    name: "$identify",
    userId: "u",
    anonymousId: "a",
    properties: { plan: "b", email: "x@example.com" },
    context: {},
  }],
  ["group", { type: "group", groupId: "g", userId: "u", traits: { size: 3 } }, {
    name: "$group",
    userId: "u",
    properties: { groupId: "g", size: 3 },
    context: {},
  }],
  ["alias links who it was before", {
    type: "alias",
    userId: "u",
    previousId: "p",
    anonymousId: "a",
  }, {
    name: "$alias",
    userId: "u",
    anonymousId: "p",
    properties: { previousId: "p" },
    context: {},
  }],
  ["alias links nobody with themselves", { type: "alias", userId: "u", previousId: "u" }, {
    name: "$alias",
    userId: "u",
    properties: { previousId: "u" },
    context: {},
  }],
  ["context: what has a place of its own, and the rest", {
    type: "track",
    event: "e",
    context: {
      locale: "de-DE",
      timezone: "Europe/Berlin",
      screen: { width: 800, height: 600, density: 2, innerWidth: 700, innerHeight: 500 },
      ip: "81.2.69.142",
      userAgent: "Mozilla/5.0",
      userAgentData: { mobile: false },
      traits: { email: "x@example.com" },
      sessionId: 1700000000000,
      app: { name: "Shop", version: "1.2" },
      library: { name: "analytics.js" },
    },
  }, {
    name: "e",
    sessionId: "1700000000000",
    properties: {},
    context: {
      locale: "de-DE",
      timezone: "Europe/Berlin",
      screen: { width: 800, height: 600 },
      viewport: { width: 700, height: 500 },
      ip: "81.2.69.142",
      userAgent: "Mozilla/5.0",
      app: { name: "Shop", version: "1.2" },
      library: { name: "analytics.js" },
    },
  }],
  [
    "time: the original one comes first; unknown members are kept, known ones without a place are not",
    {
      type: "track",
      event: "e",
      originalTimestamp: "2026-01-01T00:00:00.000Z",
      timestamp: "2026-01-02T00:00:00.000Z",
      integrations: { All: true },
      writeKey: "k",
      _metadata: {},
      channel: "web",
      campaignId: 7,
    },
    {
      name: "e",
      timestamp: "2026-01-01T00:00:00.000Z",
      campaignId: 7,
      properties: {},
      context: {},
    },
  ],
  ["numbers are ids, too", { type: "track", event: "e", userId: 7, anonymousId: 0 }, {
    name: "e",
    userId: "7",
    anonymousId: "0",
    properties: {},
    context: {},
  }],
];

for (const [what, message, event] of ROWS) {
  Deno.test(`Segment's messages: ${what}`, () => assert.deepEqual(mapped(message), event));
}

Deno.test("Segment's messages: what is none is refused in a sentence", () => {
  for (const wrong of [null, 5, "track", [], {}, { type: "Track" }, { type: "constructor" }]) {
    const item = eventOf(wrong, null, "segment");
    assert.ok("refused" in item, JSON.stringify(wrong));
    assert.match(item.refused, /^[A-Z].*\.$/);
  }
  assert.ok("event" in eventOf({}, "track", "segment"), "the path says the type");
});

Deno.test("Segment's messages: an id that is no text is none", () => {
  for (const messageId of [undefined, null, "", {}, []]) {
    const item = eventOf({ type: "track", messageId }, null, "segment");
    assert.ok("id" in item && item.id === null);
  }
});

Deno.test("RudderStack's messages: the original time comes first, but for what a program told its Node library", () => {
  const call = { type: "track", event: "e", originalTimestamp: "2026-01-02T00:00:00.000Z" };
  const both = { ...call, timestamp: "2026-01-01T00:00:00.000Z" };
  const timeOf = (message: Record<string, unknown>) => mapped(message, "rudder").timestamp;
  assert.equal(timeOf({ ...both, channel: "server" }), both.timestamp);
  assert.equal(timeOf({ ...call, channel: "server" }), call.originalTimestamp);
  assert.equal(timeOf({ type: "track", timestamp: both.timestamp }), both.timestamp);
  const others = [
    both,
    { ...both, channel: "web" },
    { ...both, channel: "mobile" },
    // Forwarded by RudderStack's server, which makes the timestamp.
    { ...both, channel: "server", receivedAt: "2026-01-02T00:00:01.000Z" },
  ];
  for (const message of others) assert.equal(timeOf(message), call.originalTimestamp);
  assert.equal(mapped({ ...both, channel: "server" }, "segment").timestamp, call.originalTimestamp);
});

Deno.test("Segment's messages: RudderStack's libraries are told by name, agent or header", () => {
  const of = (headers: Record<string, string>, first: unknown = {}) =>
    protocolOf(new Headers(headers), first);
  const library = (name: unknown) => ({ context: { library: { name } } });
  assert.equal(of({}, library("RudderLabs JavaScript SDK")), "rudder");
  assert.equal(of({}, library("@rudderstack/rudder-sdk-node")), "rudder");
  assert.equal(of({ "User-Agent": "rudderstack-rudder-sdk-node/3" }), "rudder");
  assert.equal(of({ AnonymousId: "abc" }), "rudder");
  const node = { ...library("analytics-node"), channel: "server" };
  assert.equal(of({ "User-Agent": "analytics-node/3.0.13" }, node), "rudder");
  for (
    const name of ["analytics-node", "@segment/analytics-node", "analytics.js", undefined, null, 5]
  ) {
    assert.equal(of({}, library(name)), "segment");
  }
  assert.equal(of({}, null), "segment");
});
