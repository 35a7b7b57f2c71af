/** What each event of PostHog's clients becomes: a table, and no server. */
import assert from "node:assert/strict";
import type { ClientBatch, ClientEvent, ClientRequest } from "../../../src/clients/client_event.ts";
import { readCapture, refuseLz64 } from "../../../src/clients/posthog/decode.ts";
import { Problem } from "../../../src/problem.ts";
import type { Json } from "../../support/app.ts";

const RECEIVED_AT_MS = Date.parse("2026-11-21T09:00:00.000Z");
const DEVICE = "0197a8e2-0000-7000-8000-000000000001";

function request(query = ""): ClientRequest {
  return {
    headers: new Headers(),
    url: new URL(`http://footfall.test/e/${query}`),
    params: {},
    receivedAtMs: RECEIVED_AT_MS,
  };
}

function read(value: unknown, query = ""): ClientBatch {
  return readCapture(value, request(query));
}

/** The one event of a body with one. */
function mapped(event: Json, query = ""): ClientEvent {
  const { items } = read({ token: "phc_1", ...event }, query);
  assert.equal(items.length, 1);
  const [item] = items;
  assert.ok(item && "event" in item, JSON.stringify(item));
  return item;
}

const ids = ({ event: { userId, anonymousId } }: ClientEvent) => ({
  userId: userId ?? null,
  anonymousId: anonymousId ?? null,
});

/** Without members that have no value. */
const plain = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_, member) => member ?? undefined));

Deno.test("names: page views and screens are page_view, technical ones keep their `$`", () => {
  const names = {
    $pageview: "page_view",
    $screen: "page_view",
    $identify: "$identify",
    $set: "$identify",
    $create_alias: "$alias",
    $groupidentify: "$group",
    $pageleave: "$pageleave",
    $autocapture: "$autocapture",
    $feature_flag_called: "$feature_flag_called",
    $rageclick: "$rageclick",
    $exception: "$exception",
    "Order Completed": "Order Completed",
    toString: "toString",
  };
  for (const [theirs, ours] of Object.entries(names)) {
    assert.equal(mapped({ event: theirs }).event.name, ours, theirs);
  }
});

Deno.test("people: distinct_id is the user, unless it is the device's or nobody is identified", () => {
  const device = { $device_id: DEVICE };
  const cases: [Json, Json, string][] = [
    [{ distinct_id: "u1" }, { userId: "u1", anonymousId: null }, "a server's event"],
    [
      { distinct_id: DEVICE, properties: device },
      { userId: null, anonymousId: DEVICE },
      "the device's own id",
    ],
    [
      { properties: { distinct_id: "u1", ...device, $is_identified: true } },
      { userId: "u1", anonymousId: DEVICE },
      "signed in, in a browser",
    ],
    [
      { properties: { distinct_id: "a2", ...device, $is_identified: false } },
      { userId: null, anonymousId: "a2" },
      "after reset() the device keeps its id, and distinct_id is new",
    ],
    [{ $distinct_id: 17, $set: { a: 1 } }, { userId: "17", anonymousId: null }, "numbers are ids"],
    [
      { properties: { distinct_id: "$posthog_cookieless", $device_id: null } },
      { userId: null, anonymousId: null },
      "without cookies everybody has one distinct_id: it names nobody",
    ],
    [
      { properties: { distinct_id: "x", $cookieless_mode: true } },
      { userId: null, anonymousId: null },
      "and newer clients say so",
    ],
  ];
  for (const [event, expected, why] of cases) {
    assert.deepEqual(ids(mapped({ event: "paid", ...event })), expected, why);
  }
});

Deno.test("people: $identify and $create_alias link, and nobody with himself", () => {
  const cases: [Json, Json][] = [
    [
      {
        event: "$identify",
        properties: { distinct_id: "u1", $anon_distinct_id: "a1", $device_id: DEVICE },
      },
      { userId: "u1", anonymousId: "a1" },
    ],
    [{ event: "$identify", properties: { distinct_id: "u1", $device_id: DEVICE } }, {
      userId: "u1",
      anonymousId: DEVICE,
    }],
    [{ event: "$identify", distinct_id: "u1", properties: { $anon_distinct_id: "u1" } }, {
      userId: "u1",
      anonymousId: null,
    }],
    [
      { event: "$create_alias", distinct_id: "u1", properties: { distinct_id: "u1", alias: "a1" } },
      { userId: "u1", anonymousId: "a1" },
    ],
    [{ event: "$create_alias", distinct_id: "u1", properties: { alias: "u1" } }, {
      userId: "u1",
      anonymousId: null,
    }],
    [
      // posthog.alias("u1") of a browser that is not signed in.
      {
        event: "$create_alias",
        properties: { distinct_id: DEVICE, $device_id: DEVICE, alias: "u1" },
      },
      { userId: "u1", anonymousId: DEVICE },
    ],
    ...[{}, { alias: DEVICE }].map((alias): [Json, Json] => [
      { event: "$create_alias", distinct_id: DEVICE, properties: { $device_id: DEVICE, ...alias } },
      { userId: null, anonymousId: DEVICE },
    ]),
    [
      {
        event: "$groupidentify",
        distinct_id: "$company_acme",
        properties: { $group_type: "company", $group_key: "acme" },
      },
      { userId: null, anonymousId: null },
    ],
    [
      {
        event: "$groupidentify",
        distinct_id: "u1",
        properties: { $group_type: "company", $group_key: "acme" },
      },
      { userId: "u1", anonymousId: null },
    ],
  ];
  for (const [event, expected] of cases) {
    assert.deepEqual(ids(mapped(event)), expected, JSON.stringify(event));
  }
});

Deno.test("time: timestamp, else $time, else offset before sending by the client's clock", () => {
  const sentAt = Date.parse("2026-11-21T08:00:00.000Z");
  const at = Date.parse("2026-11-21T07:59:50.500Z");
  const overridden = { $time: 1, $event_time_override_provided: true };
  const cases: [Json, string, unknown, string][] = [
    [{ timestamp: "2026-11-21T07:00:00+00:00" }, "", "2026-11-21T07:00:00+00:00", "as sent"],
    [
      { timestamp: "2026-11-21T07:00:00Z", offset: 5, properties: { $time: 1 } },
      "",
      "2026-11-21T07:00:00Z",
      "first of all",
    ],
    [{ offset: 99_999, properties: { $time: at / 1000 } }, `?_=${sentAt}`, at, "sent once more"],
    [{ offset: 500 }, `?_=${sentAt}`, sentAt - 500, "before it was sent"],
    [{ offset: 500 }, "", RECEIVED_AT_MS - 500, "before it was received"],
    [{ offset: 500, properties: overridden }, `?_=${sentAt}`, sentAt - 500, "named by the page"],
    [{}, `?_=${sentAt}`, null, "when it is received"],
  ];
  for (const [event, query, expected, why] of cases) {
    assert.equal(mapped({ event: "paid", ...event }, query).event.timestamp, expected, why);
  }
});

Deno.test("time: the client's clock is sent_at, else `_`, and nothing that is no time", () => {
  const event = { event: "paid", token: "phc_1" };
  assert.equal(
    read({ batch: [event], sent_at: "2026-11-21T08:00:00Z" }, "?_=1").sentAt,
    "2026-11-21T08:00:00Z",
  );
  assert.equal(
    read({ batch: [event], sentAt: "2026-11-21T08:00:00+00:00" }).sentAt,
    "2026-11-21T08:00:00+00:00",
  );
  assert.equal(read([event], "?ip=0&_=1795248000000&ver=1.2").sentAt, 1_795_248_000_000);
  for (const query of ["", "?_=17", "?_=abc", "?ip=1&ver=1.300.0&compression=gzip-js"]) {
    assert.equal(read([event], query).sentAt, null, query);
  }
});

Deno.test("fields: page, session, title, referrer, context; other `$` properties are dropped", () => {
  const { event, id } = mapped({
    event: "$pageview",
    uuid: "0197A8E2-7C3B-7D1E-9F42-5B6C7D8E9F02",
    timestamp: "2026-11-21T07:00:00Z",
    $set: { plan: "pro" },
    $set_once: { first: 1 },
    properties: {
      token: "phc_1",
      distinct_id: "u1",
      $current_url: "https://shop.example/a?utm_source=letter",
      $pathname: "/a",
      $host: "shop.example",
      $referrer: "https://search.example/",
      $referring_domain: "search.example",
      title: "A",
      $session_id: "s1",
      $window_id: "w1",
      $viewport_width: 800,
      $viewport_height: 600,
      $screen_width: 1600,
      $screen_height: 1200,
      $browser_language: "de-DE",
      $timezone: "Europe/Berlin",
      $raw_user_agent: "Mozilla/5.0",
      $ip: "203.0.113.9",
      $lib: "web",
      $browser: "Chrome",
      $insert_id: "abc",
      $time: 1,
      $set: { plan: "free", city: "Ulm" },
      "$feature/new-checkout": "blue",
      price: 19.5,
      nested: { $kept: true },
    },
  });
  assert.equal(id, "0197A8E2-7C3B-7D1E-9F42-5B6C7D8E9F02");
  assert.deepEqual(plain(event), {
    name: "page_view",
    timestamp: "2026-11-21T07:00:00Z",
    userId: "u1",
    sessionId: "s1",
    url: "https://shop.example/a?utm_source=letter",
    referrer: "https://search.example/",
    title: "A",
    properties: {
      "$feature/new-checkout": "blue",
      price: 19.5,
      nested: { $kept: true },
      $set: { plan: "pro", city: "Ulm" },
      $set_once: { first: 1 },
    },
    context: {
      viewport: { width: 800, height: 600 },
      screen: { width: 1600, height: 1200 },
      locale: "de-DE",
      timezone: "Europe/Berlin",
      ip: "203.0.113.9",
      userAgent: "Mozilla/5.0",
    },
  });
});

Deno.test("fields: $direct is no referrer, a screen's name is its title, a custom event keeps its own title", () => {
  assert.equal(
    mapped({ event: "$pageview", properties: { $referrer: "$direct" } }).event.referrer,
    undefined,
  );
  const screen = mapped({ event: "$screen", properties: { $screen_name: "Basket" } }).event;
  assert.deepEqual([screen.title, screen.url, screen.path], ["Basket", undefined, undefined]);
  const custom = mapped({ event: "read", properties: { title: "A book" } }).event;
  assert.equal(custom.title, null);
  assert.equal((custom.properties as Json).title, "A book");
  const path = mapped({ event: "$pageview", properties: { $pathname: "/a" } }).event;
  assert.equal(path.path, "/a");
});

Deno.test("fields: what the client adds unasked and is too long is left out", () => {
  const long = "x".repeat(3_000);
  const { context } = mapped({
    event: "paid",
    properties: { $raw_user_agent: long, $timezone: long, $browser_language: long },
  }).event;
  const { userAgent, timezone, locale } = context as Json;
  assert.deepEqual([userAgent, timezone, locale], [undefined, undefined, undefined]);
});

Deno.test("visits: an event that a server says to be its own is of none", () => {
  const of = (properties: Json) => mapped({ event: "paid", properties }).event.properties;
  assert.deepEqual(plain(of({ $is_server: true })), { $session: false });
  assert.deepEqual(plain(of({ $is_server: true, $session_id: "s1" })), {});
  assert.deepEqual(plain(of({ $is_server: false })), {});
});

Deno.test("ids: uuid, else message_id, else $insert_id, else none", () => {
  const properties = { $insert_id: "i1" };
  assert.equal(mapped({ event: "a", uuid: "u", message_id: "m", properties }).id, "u");
  assert.equal(mapped({ event: "a", message_id: "m", properties }).id, "m");
  assert.equal(mapped({ event: "a", properties }).id, "i1");
  assert.equal(mapped({ event: "a" }).id, null);
});

Deno.test("bodies: a list, a batch, data, one event, traits alone", () => {
  const event = { event: "a" };
  for (
    const body of [
      [{ ...event, api_key: "phc_1" }],
      [event, { ...event, properties: { token: "phc_1" } }],
      { api_key: "phc_1", batch: [event] },
      { token: "phc_1", data: [event] },
      { token: "phc_1", data: event },
      { token: "phc_1", ...event },
      { $token: "phc_1", $distinct_id: "u1", $set: { a: 1 } },
    ]
  ) {
    const { key, items } = read(body);
    assert.deepEqual(key, { value: "phc_1", from: "body" }, JSON.stringify(body));
    assert.ok(items.every((item) => "event" in item), JSON.stringify(items));
  }
  const engaged = mapped({ $token: "phc_1", $distinct_id: "u1", $set: { plan: "pro" } });
  assert.equal(engaged.event.name, "$identify");
  assert.deepEqual(plain(engaged.event.properties), { $set: { plan: "pro" } });
  assert.deepEqual(read([]).items, []);
  assert.equal(read([event]).key, null);
});

Deno.test("bodies: what is no event is refused alone, and what is no body as a whole", () => {
  const { items } = read({
    api_key: "phc_1",
    batch: [
      { event: "good" },
      null,
      "text",
      { event: "" },
      { properties: {} },
      { event: "a", properties: [] },
      { event: "a", token: "phc_2" },
      { event: "good" },
    ],
  });
  assert.deepEqual(items.map((item) => "event" in item), [
    true,
    false,
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
  for (const item of items) if ("refused" in item) assert.match(item.refused, /\.$/);
  for (const body of [null, 1, "text", {}, { batch: 1 }, { data: "text" }]) {
    assert.throws(
      () => read(body),
      (error) => error instanceof Problem && error.code === "invalid_envelope",
    );
  }
});

Deno.test("lz64 is refused by name, other encodings are not", () => {
  for (const query of ["", "?compression=gzip-js", "?compression=base64", "?compression="]) {
    refuseLz64(request(query));
  }
  assert.throws(
    () => refuseLz64(request("?compression=lz64")),
    (error) => error instanceof Problem && error.status === 415 && /lz64/.test(error.detail),
  );
});
