/** PostHog's paths, as its clients of all ages write to them. */
import assert from "node:assert/strict";
import { EVENTS_PER_REQUEST_MAX } from "../../../src/limits.ts";
import { assertProblem, type Json, sharedApp, type TestProject } from "../../support/app.ts";
import { testsAfter } from "../../support/prepared_tests.ts";
import { basic, gzip, send } from "../client_app.ts";

const server = sharedApp();
let project: TestProject;
const test = testsAfter(async () => void (project = await server.project()));

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const PLAIN = { "Content-Type": "text/plain" };
const JSON_BODY = { "Content-Type": "application/json" };

/** An event as posthog-js makes it. */
function captured(event: string, properties: Json = {}): Json {
  return {
    uuid: crypto.randomUUID(),
    event,
    timestamp: new Date().toISOString(),
    properties: { token: project.publicKey, distinct_id: "visitor-1", ...properties },
  };
}

const batch = (events: readonly unknown[]): string =>
  JSON.stringify({ api_key: project.publicKey, batch: events, sent_at: new Date().toISOString() });
const names = async () => (await server.stored(project)).map(({ name }) => name).toSorted();

test("posthog: every path takes events, with and without its last slash", async () => {
  const paths = ["/e", "/i/v0/e", "/capture", "/track", "/engage", "/batch"]
    .flatMap((path) => [path, `${path}/`]);
  for (const path of paths) {
    const reply = await send(server, { path, body: batch([captured(path)]) });
    assert.deepEqual([path, reply.status, reply.body], [path, 200, { status: 1 }]);
  }
  assert.deepEqual(await names(), paths.toSorted());
});

test("posthog: every encoding that posthog-js falls back to, and its parameters", async () => {
  const json = (name: string) => JSON.stringify([captured(name)]);
  const base64 = (name: string) => `data=${encodeURIComponent(btoa(json(name)))}`;
  const sentAt = Date.now();
  const sent: [string, BodyInit, Record<string, string>][] = [
    [`/e/?ip=0&_=${sentAt}&ver=1.200.0&compression=gzip-js`, await gzip(json("a")), PLAIN],
    [`/e/?sent_at=${sentAt}`, await gzip(json("b")), PLAIN],
    [`/e/?compression=base64&beacon=1`, base64("c"), FORM],
    [`/i/v0/e/?ip=1&_=${sentAt}&ver=1.1`, json("d"), JSON_BODY],
    ["/batch/", await gzip(batch([captured("e")])), {
      ...JSON_BODY,
      "Content-Encoding": "gzip",
    }],
    // A beacon of the newest has no parameter, and no type that would be asked for before.
    ["/e/", new Blob([await gzip(batch([captured("f")]))], { type: "text/plain" }), {}],
    ["/track/?verbose=1", `data=${btoa(JSON.stringify(captured("g")))}`, FORM],
    ["/e/", JSON.stringify(captured("h")), PLAIN],
  ];
  for (const [path, body, headers] of sent) {
    const reply = await send(server, { path, body, headers });
    assert.deepEqual([path, reply.status, reply.body], [path, 200, { status: 1 }]);
  }
  assert.deepEqual(await names(), [..."abcdefgh"]);
});

test("posthog: lz64 is refused by its name", async () => {
  const path = "/e/?compression=lz64";
  const reply = await send(server, { path, body: "data=Q4VwpgTgzg", headers: FORM });
  assertProblem(reply, 415, "unsupported_encoding");
  assert.match(reply.body.detail, /lz64/);
});

test("posthog: the key stands in api_key, token, properties.token, $token, or Basic", async () => {
  const { publicKey, secretKey } = project;
  const bare = { event: "a", distinct_id: "u1", uuid: crypto.randomUUID() };
  const accepted: unknown[] = [
    { ...bare, api_key: publicKey },
    { ...bare, token: publicKey },
    [bare, { ...bare, properties: { token: publicKey } }],
    { batch: [{ ...bare, api_key: publicKey }] },
    { $token: publicKey, $distinct_id: "u1", $set: { plan: "pro" } },
  ];
  for (const body of accepted) {
    const reply = await send(server, { path: "/e/", body: JSON.stringify(body) });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
  }
  const post = (body: unknown, headers = {}) =>
    send(server, { path: "/e/", body: JSON.stringify(body), headers });
  assertProblem(await post(bare), 401, "missing_api_key");
  assertProblem(await post({ ...bare, token: "phc_nobody" }), 401, "invalid_api_key");
  assertProblem(await post({ ...bare, token: secretKey }), 403, "key_not_allowed_here");
  assert.equal((await post(bare, basic(secretKey))).status, 200);
});

test("posthog: where the body names the key, token and api_key are properties like others", async () => {
  const { publicKey } = project;
  const own = { token: "reset-1", api_key: "theirs", plan: "pro" };
  const sent = [
    batch([captured("a", own), captured("a", { ...own, token: "reset-2" })]),
    JSON.stringify({ ...captured("a", own), api_key: publicKey }),
  ];
  for (const body of sent) {
    const reply = await send(server, { path: "/batch/", body });
    assert.deepEqual([reply.status, reply.body], [200, { status: 1 }]);
  }
  const ofClient = JSON.stringify([captured("b", { api_key: publicKey, plan: "pro" })]);
  assert.equal((await send(server, { path: "/e/", body: ofClient })).status, 200);
  const properties = (await server.stored(project))
    .map((
      { name, properties },
    ) => [name, ...["token", "api_key", "plan"].map((one) => (properties as Json)[one])])
    .toSorted();
  assert.deepEqual(properties, [
    ["a", "reset-1", "theirs", "pro"],
    ["a", "reset-1", "theirs", "pro"],
    ["a", "reset-2", "theirs", "pro"],
    ["b", undefined, undefined, "pro"],
  ]);
});

test("posthog: of a list without a key of its own each event carries the same one", async () => {
  const events = [captured("a"), captured("b", { token: "phc_other" }), { event: "c" }];
  const reply = await send(server, { path: "/e/", body: JSON.stringify(events) });
  assert.deepEqual(reply.body.rejected.map(({ index }: Json) => index), [1]);
  assert.deepEqual(await names(), ["a", "c"]);
});

test("posthog: an adopted key, and an origin that is not allowed", async () => {
  const value = `phc_${crypto.randomUUID()}`;
  await server.key(project.id, { kind: "public", value });
  const body = JSON.stringify({ ...captured("a"), api_key: value, properties: {} });
  assert.equal((await send(server, { path: "/capture/", body })).status, 200);
  const path = `/v1/projects/${project.id}`;
  await server.admin("PATCH", path, { allowedOrigins: ["https://shop.example"] });
  const reply = await send(server, {
    path: "/e/",
    body,
    headers: { Origin: "https://evil.example" },
  });
  assertProblem(reply, 403, "origin_not_allowed");
  assert.equal(reply.headers.get("access-control-allow-origin"), "*");
});

test("posthog: a bad event never spoils its batch; where all are bad it is 400", async () => {
  const good = captured("good");
  const bad = [
    { ...captured("bad"), timestamp: "yesterday" },
    { ...captured("bad"), event: "x".repeat(300) },
    null,
    { ...captured("bad"), token: "phc_other" },
  ];
  const reply = await send(server, {
    path: "/batch/",
    body: batch([bad[0], good, ...bad.slice(1)]),
  });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  assert.equal(reply.body.status, 1);
  assert.deepEqual(
    reply.body.rejected.map(({ index, code }: Json) => [index, code]),
    [[0, "invalid_timestamp"], [2, "too_long"], [3, "invalid_event"], [4, "invalid_event"]],
  );
  assert.deepEqual(await names(), ["good"]);
  for (const path of ["/e/", "/batch/"]) {
    assertProblem(await send(server, { path, body: batch(bad) }), 400, "invalid_events");
    const none = JSON.stringify({ api_key: "pk_none", batch: [good] });
    assertProblem(await send(server, { path, body: none }), 401, "invalid_api_key");
  }
  // Of a body that cannot be read nobody knows whose it is, and Amplitude's clients read no problem+json.
  const unread = await send(server, { path: "/batch/", body: "{" });
  assert.deepEqual([unread.status, unread.body.code], [400, 400]);
  assertProblem(await send(server, { path: "/e/", body: "{}" }), 400, "invalid_envelope");
});

test("posthog: of too many events those that fit are taken, and the others are told", async () => {
  const events = (count: number) => Array.from({ length: count }, () => captured("e"));
  const path = "/e/";
  const full = await send(server, { path, body: batch(events(EVENTS_PER_REQUEST_MAX)) });
  assert.deepEqual(full.body, { status: 1 });
  const over = await send(server, { path, body: batch(events(EVENTS_PER_REQUEST_MAX + 1)) });
  assert.equal(over.status, 200);
  assert.deepEqual(over.body.rejected.map(({ index }: Json) => index), [EVENTS_PER_REQUEST_MAX]);
});

test("posthog: a batch that is sent again adds nothing, with ids that are no UUID too", async () => {
  const body = batch([captured("a"), { ...captured("b"), uuid: undefined, message_id: "m-1" }]);
  for (let i = 0; i < 3; i++) assert.equal((await send(server, { path: "/e/", body })).status, 200);
  assert.deepEqual(await names(), ["a", "b"]);
  const [b] = (await server.stored(project)).filter(({ name }) => name === "b");
  assert.match(String(b?.eventId), /^.{14}8.{4}[89ab]/);
});

test("posthog: offset before sending, by a clock that is an hour behind", async () => {
  const sentAt = Date.now() - 3_600_000;
  const event = { event: "a", properties: { token: project.publicKey }, offset: 90_000 };
  const path = `/e/?_=${sentAt}`;
  assert.equal((await send(server, { path, body: JSON.stringify([event]) })).status, 200);
  const [stored] = await server.stored(project);
  assert.equal(stored?.clock, "corrected");
  const { server: { ingestedAt } } = stored?.properties as { server: { ingestedAt: string } };
  assert.equal(Date.parse(ingestedAt) - Date.parse(String(stored?.timestamp)), 90_000);
});

test("posthog: address and agent in a body are believed from a secret key alone", async () => {
  const properties = { $ip: "203.0.113.9", $raw_user_agent: "Mozilla/5.0 Firefox/140.0" };
  const path = "/e/";
  await send(server, { path, body: JSON.stringify(captured("open", properties)) });
  const headers = basic(project.secretKey);
  const body = JSON.stringify({ event: "secret", distinct_id: "u1", properties });
  assert.equal((await send(server, { path, body, headers })).status, 200);
  const address = Object.fromEntries((await server.stored(project)).map((event) => [
    event.name,
    (event.properties as { server: { ip: string } }).server.ip,
  ]));
  assert.deepEqual(address, { open: "8.8.8.8", secret: "203.0.113.9" });
});

test("posthog: technical events open no visit, undo no bounce, and are not counted", async () => {
  const events = ["$pageview", "$identify", "$autocapture", "$pageleave", "$feature_flag_called"]
    .map((name, i) => ({
      ...captured(name, { $device_id: "visitor-1", $current_url: "https://a.example/" }),
      // Two hours apart, so that each would be a visit of its own.
      timestamp: `2026-10-01T${String(2 * i).padStart(2, "0")}:00:00Z`,
    }));
  await send(server, { path: "/e/", body: batch(events) });
  const query = new URLSearchParams({
    project: project.id,
    from: "2026-10-01",
    to: "2026-10-01",
    bots: "include",
  });
  const { body } = await server.admin("GET", `/v1/kpis?${query}`);
  const { pageviews, sessions, events: counted, bounceRate: { value: bounceRate } } = body.totals;
  assert.deepEqual({ pageviews, sessions, counted, bounceRate }, {
    pageviews: 1,
    sessions: 1,
    counted: 1,
    bounceRate: 1,
  });
});

test("posthog: what posthog-js asks for as it starts is answered, with any key", async () => {
  for (const key of [project.publicKey, "phc_nobody", "</script>&\u2028"]) {
    const named = encodeURIComponent(key);
    const headers = { Origin: "https://shop.example" };
    const get = (path: string) => send(server, { path, method: "GET", body: null, headers });
    const config = await get(`/array/${named}/config?ip=0&_=1`);
    assert.equal(config.status, 200);
    assert.equal(config.headers.get("access-control-allow-origin"), "*");
    assert.deepEqual(config.body.supportedCompression, ["gzip", "gzip-js"]);
    const script = await get(`/array/${named}/config.js`);
    assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
    assert.doesNotMatch(script.body, /<\/script/);
    // deno-lint-ignore no-explicit-any -- a page's window
    const window: any = {};
    new Function("window", script.body)(window);
    assert.deepEqual(window._POSTHOG_REMOTE_CONFIG[key], { config: config.body, siteApps: [] });
  }
});

test("posthog: there are no flags, and recordings are dropped, whatever is sent", async () => {
  for (const path of ["/flags", "/flags/", "/decide", "/decide/"]) {
    for (const [method, body] of [["GET", null], ["POST", "data=e30%3D"], ["POST", "["]] as const) {
      const reply = await send(server, { path: `${path}?v=2&_=1`, method, body });
      assert.equal(reply.status, 200, `${method} ${path}`);
      const { flags, featureFlags, errorsWhileComputingFlags } = reply.body;
      assert.deepEqual([flags, featureFlags, errorsWhileComputingFlags], [{}, {}, false]);
    }
  }
  for (const path of ["/s", "/s/"]) {
    const reply = await send(server, { path: `${path}?ip=0`, body: await gzip("[]") });
    assert.deepEqual([reply.status, reply.body], [200, { status: 1 }]);
  }
  assert.deepEqual(await server.stored(project), []);
});
