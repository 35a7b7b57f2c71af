import assert from "node:assert/strict";
import { DOMAINS_PER_EVENT_MAX } from "../../../src/clients/client_limits.ts";
import { readEvent } from "../../../src/clients/plausible/decode.ts";
import { mapEvent } from "../../../src/clients/plausible/map.ts";
import { Problem } from "../../../src/problem.ts";
import { isMembers, type Members } from "../../../src/json_text.ts";

/** An event as the pipeline gets it: without what has no value. */
function said(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => {
    const isEmpty = isMembers(member) &&
      Object.values(member).every((one) => (one ?? null) === null);
    return isEmpty ? undefined : member ?? undefined;
  }));
}

/** Bodies of Plausible's clients, and the events that they are. */
const CASES: readonly (readonly [what: string, body: Members, event: unknown])[] = [
  ["a page view of the tracker", {
    ...{
      n: "pageview",
      v: 21,
      u: "https://shop.example/?utm_source=x",
      d: "shop.example",
      r: null,
    },
  }, { name: "page_view", url: "https://shop.example/?utm_source=x" }],
  ["long names, as server libraries send", {
    ...{
      name: "signup",
      url: "app://localhost/x",
      domain: "shop.example",
      referrer: "https://a.b/",
    },
    ...{ props: { plan: "pro" }, interactive: false },
  }, {
    name: "signup",
    url: "app://localhost/x",
    referrer: "https://a.b/",
    properties: { plan: "pro", $interactive: false },
  }],
  ["short names come first", { n: "a", name: "b" }, { name: "a" }],
  ["properties as JSON in a text, as older trackers send", {
    n: "signup",
    p: '{"plan":"pro"}',
  }, { name: "signup", properties: { plan: "pro" } }],
  ["properties of the oldest trackers", { n: "signup", m: '{"plan":"pro"}' }, {
    name: "signup",
    properties: { plan: "pro" },
  }],
  ["properties that are none", { n: "signup", p: "{" }, { name: "signup" }],
  ["revenue", { n: "buy", p: { sku: "A" }, $: { amount: 12.5, currency: "EUR" } }, {
    name: "buy",
    properties: { sku: "A", revenue: 12.5, currency: "EUR" },
  }],
  ["revenue as texts", { n: "buy", revenue: '{"amount":"12.29","currency":"USD"}' }, {
    name: "buy",
    properties: { revenue: 12.29, currency: "USD" },
  }],
  ["revenue that is no number", { n: "buy", $: { amount: "much" } }, {
    name: "buy",
    properties: { revenue: "much" },
  }],
  ["engagement is technical", { n: "engagement", sd: 80, e: 3500, p: { a: 1 } }, {
    name: "$engagement",
    properties: { a: 1, scrollDepth: 80, engagementTime: 3500 },
  }],
  ["interaction that is said", { n: "buy", i: true, h: 1, w: 1200 }, { name: "buy" }],
];

for (const [what, body, event] of CASES) {
  Deno.test(`plausible: ${what}`, () => {
    const { isDecoded: _, ...mapped } = mapEvent(body);
    assert.deepEqual(said(mapped), { event });
  });
}

const namesOf = (body: Members) => {
  const { key, moreKeys = [] } = readEvent({ n: "x", ...body });
  return [...key === null ? [] : [key], ...moreKeys].map(({ value, from }) => `${from} ${value}`);
};

Deno.test("plausible: a domain names a site, several with commas several sites", () => {
  assert.deepEqual(namesOf({ d: "shop.example" }), ["body site:shop.example"]);
  assert.deepEqual(namesOf({ domain: " a.example, b.example ,,a.example" }), [
    "body site:a.example",
    "body site:b.example",
  ]);
  assert.deepEqual(namesOf({ u: "https://www.a.example:8443/x" }), ["body site:www.a.example"]);
  for (const body of [{}, { d: "" }, { d: " , " }, { u: "nonsense" }, { u: 7 }]) {
    assert.deepEqual(namesOf(body), []);
  }
});

Deno.test("plausible: an event has at most so many domains", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `${i}.example`).join();
  assert.equal(namesOf({ d: many(DOMAINS_PER_EVENT_MAX) }).length, DOMAINS_PER_EVENT_MAX);
  assert.throws(() => namesOf({ d: many(DOMAINS_PER_EVENT_MAX + 1) }), Problem);
});

Deno.test("plausible: an event without a name is refused, a body that is none too", () => {
  for (const n of [undefined, null, "", 7, {}]) {
    assert.deepEqual(readEvent({ n, d: "a.example" }).items, [
      { refused: "Send the event's name as `n` or `name`." },
    ]);
  }
  for (const value of [null, [], "x", 1]) assert.throws(() => readEvent(value), Problem);
  assert.throws(() => readEvent({ n: "x", d: 7 }), Problem);
});
