import assert from "node:assert/strict";
import { readBatch, readSend } from "../../../src/clients/umami/decode.ts";
import { mapItem } from "../../../src/clients/umami/map.ts";
import { Problem } from "../../../src/problem.ts";
import { isMembers } from "../../../src/json_text.ts";

const WEBSITE = "b59e9c65-ae32-47f1-8400-119fcf4861c4";

/** An event as the pipeline gets it: without what has no value. */
function said(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => {
    const isEmpty = isMembers(member) &&
      Object.values(member).every((one) => (one ?? null) === null);
    return isEmpty ? undefined : member ?? undefined;
  }));
}

/** Payloads of Umami's clients, and the events that they are. */
const CASES: readonly (readonly [what: string, item: unknown, event: unknown])[] = [
  ["a page view of the tracker", {
    type: "event",
    payload: {
      ...{ website: WEBSITE, screen: "1920x1080", language: "de-DE", title: "Home" },
      ...{ hostname: "shop.example", url: "https://shop.example/?q=1", referrer: "" },
      vid: "2f9d6c0e-8a41-4d3f-9a57-6b1f4f5a0c11",
    },
  }, {
    name: "page_view",
    url: "https://shop.example/?q=1",
    referrer: "",
    title: "Home",
    anonymousId: "2f9d6c0e-8a41-4d3f-9a57-6b1f4f5a0c11",
    context: { screen: { width: 1920, height: 1080 }, locale: "de-DE" },
  }],
  ["paths of older trackers, by the page's host", {
    type: "event",
    payload: { website: WEBSITE, hostname: "shop.example", url: "/a?b=1", referrer: "/before" },
  }, {
    name: "page_view",
    url: "https://shop.example/a?b=1",
    referrer: "https://shop.example/before",
  }],
  ["a path without a host stays one", {
    type: "event",
    payload: { website: WEBSITE, url: "/a" },
  }, { name: "page_view", url: "/a" }],
  ["an event with data, a tag, and who it is of", {
    type: "event",
    payload: { website: WEBSITE, name: "signup", data: { plan: "pro" }, tag: "spring", id: "u7" },
  }, { name: "signup", properties: { tag: "spring", plan: "pro" }, userId: "u7" }],
  ["data that is no object", {
    type: "event",
    payload: { website: WEBSITE, name: "signup", data: [1, 2] },
  }, { name: "signup", properties: { data: [1, 2] } }],
  ["data with a tag of its own", {
    type: "event",
    payload: { website: WEBSITE, name: "signup", data: { tag: "own" }, tag: "spring" },
  }, { name: "signup", properties: { tag: "own" } }],
  ["without a type it is an event, with an empty name a page view", {
    payload: { website: WEBSITE, name: "", data: null },
  }, { name: "page_view" }],
  ["identify", {
    type: "identify",
    payload: { website: WEBSITE, id: "u7", data: { email: "a@b.example" } },
  }, { name: "$identify", userId: "u7", properties: { email: "a@b.example" } }],
  ["performance", {
    type: "performance",
    payload: { website: WEBSITE, url: "/", hostname: "a.example", lcp: 1200, cls: 0.1, fcp: 3 },
  }, {
    name: "$performance",
    url: "https://a.example/",
    properties: { lcp: 1200, cls: 0.1, fcp: 3 },
  }],
  ["seconds, as a number", { payload: { timestamp: 1_780_000_000 } }, {
    name: "page_view",
    timestamp: 1_780_000_000_000,
  }],
  ["seconds, as a text", { payload: { timestamp: "1780000000" } }, {
    name: "page_view",
    timestamp: 1_780_000_000_000,
  }],
  ["the last second, and the first millisecond", { payload: { timestamp: 100_000_000_000 } }, {
    name: "page_view",
    timestamp: 100_000_000_000_000,
  }],
  ["milliseconds", { payload: { timestamp: 1_780_000_000_123 } }, {
    name: "page_view",
    timestamp: 1_780_000_000_123,
  }],
  ["an ISO time", { payload: { timestamp: "2026-06-01T00:00:00Z" } }, {
    name: "page_view",
    timestamp: "2026-06-01T00:00:00Z",
  }],
  ["the visitor's address and agent, for the pipeline to believe or not", {
    payload: { ip: "8.8.8.8", userAgent: "Mozilla/5.0" },
  }, { name: "page_view", context: { ip: "8.8.8.8", userAgent: "Mozilla/5.0" } }],
  ["a screen that is none", { payload: { screen: "large" } }, { name: "page_view" }],
];

for (const [what, item, event] of CASES) {
  Deno.test(`umami: ${what}`, () => assert.deepEqual(said(mapItem(item)), { event }));
}

Deno.test("umami: what is no item is refused on its own", () => {
  for (const item of [null, 1, "x", [], {}, { type: "event" }, { payload: [] }]) {
    assert.match((mapItem(item) as { refused: string }).refused, /^Send \{ type, payload \}/);
  }
  const strange = mapItem({ type: "recording", payload: {} }) as { refused: string };
  assert.match(strange.refused, /^The type must be/);
});

Deno.test("umami: the website is the key", () => {
  const item = { type: "event", payload: { website: WEBSITE } };
  assert.deepEqual(readSend(item).key, { value: WEBSITE, from: "body" });
  for (const website of [undefined, null, "", 7]) {
    assert.equal(readSend({ payload: { website } }).key, null);
  }
  for (const value of [null, 1, "x", [item]]) assert.throws(() => readSend(value), Problem);
});

Deno.test("umami: a batch is of one website", () => {
  const item = (website?: string) => ({ type: "event", payload: { website, name: "n" } });
  const { key, items } = readBatch([item("a"), item("b"), null, item("a")]);
  assert.deepEqual(key, { value: "a", from: "body" });
  assert.deepEqual(items.map((one) => "refused" in one), [false, true, true, false]);
  assert.deepEqual(readBatch([]), { key: null, sentAt: null, items: [] });
  for (const value of [null, {}, "x"]) assert.throws(() => readBatch(value), Problem);
});
