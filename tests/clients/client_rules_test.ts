/** What holds for every protocol, tried with the paths of Segment's. */
import assert from "node:assert/strict";
import { CLIENT_ROUTES } from "../../src/clients/protocols.ts";
import { EVENTS_PER_REQUEST_MAX } from "../../src/limits.ts";
import { assertProblem, type Json, sharedApp, type TestProject } from "../support/app.ts";
import { testsAfter } from "../support/prepared_tests.ts";
import { basic, deflate, gzip, message, postBatch, rawDeflate, send } from "./client_app.ts";

const server = sharedApp();
let project: TestProject;
const test = testsAfter(async () => void (project = await server.project()));

const FORM = "application/x-www-form-urlencoded";
const names = async () => (await server.stored(project)).map(({ name }) => name).toSorted();
const bodyOf = (...batch: Json[]) => JSON.stringify({ batch, writeKey: project.publicKey });

/** A batch whose JSON has at least `bytes`. */
function large(bytes: number, key: string | null = project.publicKey): string {
  const properties = { text: "x".repeat(3_000) };
  const batch = Array.from({ length: Math.ceil(bytes / 3_000) }, () => message({ properties }));
  return JSON.stringify({ batch, ...(key === null ? {} : { writeKey: key }) });
}

test("clients: of a query the few parameters that are known are looked for, and nothing is parsed", async () => {
  const written = "compression=gzip-js&sent_at=1795248000000&writeKey=pk_1";
  const url = new URL(`http://footfall.test/?${"a=1&".repeat(1_000)}${written}`);
  Object.defineProperty(url, "searchParams", { get: () => assert.fail("all of it is parsed") });
  const request = { headers: new Headers(), url, params: {}, receivedAtMs: 0 };
  const ownUrl = "http://footfall.test";
  const authenticate = () => Promise.resolve({ projectPublicId: "prj_1" });
  for (const route of CLIENT_ROUTES) {
    if (route.kind === "reply") await route.reply(request, { authenticate, ownUrl });
    else {
      route.keyOf?.(request);
      if (route.protocol === "posthog") {
        assert.equal(route.read([], request).sentAt, 1_795_248_000_000);
      }
    }
  }
});

test("clients: nothing is stored of a page that is photographed, wherever its events go", async () => {
  const headers = { ...basic(project.publicKey), DNT: "1footfall-capture" };
  const routes = CLIENT_ROUTES.filter(({ kind }) => kind === "events").map(({ path }) => path);
  for (const path of ["/v1/events", ...routes]) {
    const reply = await send(server, { path, headers, body: bodyOf(message()) });
    assert.equal(reply.status, 403, path);
  }
  assert.deepEqual(await names(), []);
});

test("clients: bodies are read by their first bytes, whatever the headers say", async () => {
  const text = (event: string) => bodyOf(message({ event }));
  const base64 = (json: string) => btoa(json);
  const bodies: [BodyInit, Record<string, string>][] = [
    [text("0"), {}],
    [text("1"), { "Content-Type": FORM }],
    [text("2"), { "Content-Encoding": "gzip" }],
    [`\uFEFF ${text("3")}`, { "Content-Type": "text/plain" }],
    [await gzip(text("4")), {}],
    [await gzip(text("5")), { "Content-Type": FORM }],
    [await gzip(text("6")), { "Content-Encoding": "deflate", "Content-Type": "image/png" }],
    [await gzip(text("7")), { "Content-Encoding": "br" }],
    [await deflate(text("8")), {}],
    [await rawDeflate(text("9")), { "Content-Encoding": "deflate" }],
    [`data=${encodeURIComponent(base64(text("a")))}`, { "Content-Type": FORM }],
    [`ip=1&data=${base64(text("b"))}&v=1`, { "Content-Type": "application/json" }],
    [`data=${encodeURIComponent(text("c ü"))}`, { "Content-Type": FORM }],
    [`data=${base64(text("d")).replaceAll("+", "-").replaceAll("/", "_")}`, {}],
    [await gzip(`data=${base64(text("e"))}`), {}],
    [`data=${encodeURIComponent(text("f g")).replaceAll("%20", "+")}`, {}],
  ];
  for (const [i, [body, headers]] of bodies.entries()) {
    const reply = await send(server, { path: "/v1/batch", body, headers });
    assert.deepEqual([i, reply.status, reply.body], [i, 200, { success: true }]);
  }
  const stored = [..."0123456789abde", "c ü", "f g"];
  assert.deepEqual(await names(), stored.toSorted());
});

test("clients: what is no JSON, no text or no known encoding is 400 or 415, by name", async () => {
  const wrong: [BodyInit | null, Record<string, string>, number, string][] = [
    ["", {}, 400, "invalid_json"],
    [null, {}, 400, "invalid_json"],
    ["{", {}, 400, "invalid_json"],
    ["batch=1", {}, 400, "invalid_json"],
    ["data=", {}, 400, "invalid_json"],
    ["data=%", {}, 400, "invalid_encoding"],
    ["data=%%%", {}, 400, "invalid_encoding"],
    ["data=a", {}, 400, "invalid_encoding"],
    [`data=${btoa("no JSON")}`, {}, 400, "invalid_json"],
    [Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), {}, 400, "invalid_encoding"],
    [Uint8Array.of(0x1f, 0x8b, 1, 2, 3), {}, 400, "invalid_encoding"],
    ["[]", { "Content-Encoding": "br" }, 415, "unsupported_encoding"],
    ["[]", {}, 400, "invalid_envelope"],
    ["5", {}, 400, "invalid_envelope"],
    ["null", {}, 400, "invalid_envelope"],
    ['{"batch":{}}', {}, 400, "invalid_envelope"],
  ];
  for (const [body, headers, status, code] of wrong) {
    const sent = { path: "/v1/batch", body, headers: { ...basic(project.publicKey), ...headers } };
    const reply = await send(server, sent);
    assert.deepEqual([String(body), reply.body.code], [String(body), code]);
    assertProblem(reply, status, code);
  }
});

test("clients: keys stand in Basic credentials or the body; the former count", async () => {
  const body = bodyOf(message());
  const path = "/v1/batch";
  assert.equal((await send(server, { path, body })).status, 200);
  const named = JSON.stringify({ batch: [message()], writeKey: "unknown" });
  assertProblem(await send(server, { path, body: named }), 401, "invalid_api_key");
  const both = { path, body: named, headers: basic(project.publicKey) };
  assert.equal((await send(server, both)).status, 200);
  assertProblem(
    await send(server, { path, body, headers: basic("nobody") }),
    401,
    "invalid_api_key",
  );
  const beacon = { path: `/beacon/v1/batch?v=1&writeKey=${project.publicKey}`, body: named };
  assert.equal((await send(server, beacon)).status, 200, "the query counts before the body");
  const refused = { path: `${path}?writeKey=${project.secretKey}`, body };
  assertProblem(await send(server, refused), 403, "key_not_allowed_here");
  for (const Authorization of ["Basic", "Basic ===", "Basic Og==", "Bearer a.b.c", "Basic !"]) {
    const reply = await send(server, { path, body: '{"batch":[]}', headers: { Authorization } });
    assertProblem(reply, 401, "missing_api_key");
  }
});

test("clients: a secret key is taken as Basic user alone", async () => {
  const batch = [message()];
  const body = JSON.stringify({ batch, writeKey: project.secretKey });
  const refused = await send(server, { path: "/v1/batch", body });
  assertProblem(refused, 403, "key_not_allowed_here");
  assert.equal((await server.stored(project)).length, 0);
  const { status } = await postBatch(server, project, batch, { key: project.secretKey });
  assert.equal(status, 200);
  const settings = {
    path: `/v1/projects/${project.secretKey}/settings`,
    method: "GET",
    body: null,
  };
  assertProblem(await send(server, settings), 403, "key_not_allowed_here");
});

test("clients: an adopted key with colons is taken as Basic user", async () => {
  const adopted = { kind: "secret", value: `old:key:${project.id}` };
  const { key } = await server.key(project.id, adopted);
  assert.equal((await postBatch(server, project, [message()], { key })).status, 200);
  const credentials = btoa(`${project.publicKey}:pass:word`);
  const headers = { Authorization: `Basic ${credentials}` };
  const sent = { path: "/v1/batch", body: bodyOf(message()), headers };
  assert.equal((await send(server, sent)).status, 200, "a password is not looked at");
});

test("clients: revoked keys are refused by name", async () => {
  const { id, key } = await server.key(project.id, { kind: "public" });
  await server.admin("DELETE", `/v1/projects/${project.id}/keys/${id}`);
  assertProblem(await postBatch(server, project, [message()], { key }), 403, "revoked_api_key");
});

test("clients: address and agent in a body are believed from secret keys alone", async () => {
  const context = {
    ip: "81.2.69.142",
    userAgent:
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1",
  };
  const seen = async (key: string) => {
    const anonymousId = crypto.randomUUID();
    await postBatch(server, project, [message({ context, anonymousId })], { key });
    const stored = await server.stored(project);
    // deno-lint-ignore no-explicit-any
    const found = stored.find((one) => one.anonymousId === anonymousId) as any;
    return [found.properties.server.ip, found.os];
  };
  assert.deepEqual(await seen(project.publicKey), ["8.8.8.8", "Linux"]);
  assert.deepEqual(await seen(project.secretKey), ["81.2.69.142", "iOS"]);
});

test("clients: a secret key's visitor without a readable address is of none", async () => {
  const batch = [message({ context: { ip: "unknown" } })];
  const { body } = await postBatch(server, project, batch, { key: project.secretKey });
  assert.deepEqual(body, { success: true });
});

test("clients: the user agent of a library is no user agent, and no bot; a bot is one, however it begins", async () => {
  const bots: readonly [agent: string, bot: true | null][] = [
    ["node", null],
    ["analytics-node-next/2.3.0", null],
    ["axios/1.7.2", null],
    ["python-requests/2.32.3", null],
    ["posthog-node/5.0.0", null],
    ["okhttp/4.12.0", null],
    ["Mozilla/5.0 Umami/0.2.0", null],
    ["Dalvik/2.1.0 (Linux; U; Android 11; CUBOT X30 Build/RP1A)", null],
    ["Twitterbot/1.0", true],
    ["facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", true],
    ["Baiduspider+(+http://www.baidu.com/search/spider.htm)", true],
    ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", true],
  ];
  for (const [agent] of bots) {
    await postBatch(server, project, [message({ event: agent })], {
      headers: { "User-Agent": agent },
    });
  }
  const stored = new Map((await server.stored(project)).map((one) => [one.name, one]));
  for (const [agent, bot] of bots) {
    const { browser, bot: found } = stored.get(agent)!;
    assert.equal(found, bot, agent);
    if (bot === null) assert.equal(browser, null, agent);
  }
});

test("clients: an id is one event however often it is sent; without one each is new", async () => {
  const batch = [message(), message({ messageId: crypto.randomUUID().toUpperCase() })];
  const first = await postBatch(server, project, batch);
  const again = await postBatch(server, project, batch);
  assert.deepEqual([first.body, again.body], [{ success: true }, { success: true }]);
  assert.equal((await server.stored(project)).length, 2);
  const without = [message({ messageId: undefined }), message({ messageId: "" })];
  for (let i = 0; i < 2; i++) await postBatch(server, project, without);
  assert.equal((await server.stored(project)).length, 6);
});

test("clients: a property that is null is kept, as every value beside it", async () => {
  const api_key = project.publicKey;
  const own = { coupon: null, total: 5, none: "", inner: { coupon: null } };
  const page = { type: "page", name: null, category: null, properties: own };
  const event = { event: "a", distinct_id: "u", properties: own };
  const payload = { website: api_key, name: "a", data: own };
  const bodies: [string, Json][] = [
    ["/v1/batch", { writeKey: api_key, batch: [message({ properties: own }), message(page)] }],
    ["/e/", { api_key, ...event }],
    ["/2/httpapi", { api_key, events: [{ event_type: "a", user_id: "u", event_properties: own }] }],
    ["/api/send", { type: "event", payload }],
    ["/api/event", { d: api_key, n: "a", u: "https://shop.example/", p: own }],
  ];
  for (const [path, body] of bodies) {
    assert.ok((await send(server, { path, body: JSON.stringify(body) })).status < 300, path);
  }
  const stored = await server.stored(project);
  assert.equal(stored.length, bodies.length + 1);
  for (const event of stored) {
    const { server: _, ...kept } = event.properties as Json;
    assert.deepEqual(kept, own);
  }
});

test("clients: equal ids of two projects are two events", async () => {
  const other = await server.project();
  const batch = [message({ messageId: "node-next-1" })];
  for (const one of [project, other]) {
    assert.equal((await postBatch(server, one, batch)).status, 200);
    assert.equal((await server.stored(one)).length, 1);
  }
});

test("clients: a bad event never spoils its batch; none good is 400 with all reasons", async () => {
  const bad = [
    null,
    5,
    message({ type: "purchase" }),
    message({ timestamp: "yesterday" }),
    message({ anonymousId: "x".repeat(201) }),
    message({ properties: { text: "x".repeat(33_000) } }),
    message({ properties: { text: "a\u0000b" } }),
  ];
  const { status, body } = await postBatch(server, project, [message(), ...bad]);
  assert.deepEqual([status, body.success], [200, true]);
  assert.equal((await server.stored(project)).length, 1);
  assert.deepEqual(
    body.rejected.map(({ index, code }: Json) => [index, code]),
    [
      [1, "invalid_event"],
      [2, "invalid_event"],
      [3, "invalid_event"],
      [4, "invalid_timestamp"],
      [5, "too_long"],
      [6, "properties_too_large"],
      [7, "invalid_text"],
    ],
  );
  const none = await postBatch(server, project, bad);
  assertProblem(none, 400, "invalid_events");
  assert.equal(none.body.errors.length, bad.length);
  assert.equal((await postBatch(server, project, [])).status, 200);
});

test("clients: of too many events the first are taken, and the others told; never 413", async () => {
  const batch = Array.from(
    { length: EVENTS_PER_REQUEST_MAX + 2 },
    (_, i) =>
      message({ event: `e${i}`, messageId: `m${i}`, properties: { text: "x".repeat(200) } }),
  );
  for (const headers of [{}, { "Content-Type": "text/plain" }]) {
    const { status, body } = await postBatch(server, project, batch, { headers });
    assert.deepEqual([status, body.success], [200, true]);
    assert.deepEqual(body.rejected.map(({ index, code }: Json) => [index, code]), [
      [EVENTS_PER_REQUEST_MAX, "too_many_events"],
      [EVENTS_PER_REQUEST_MAX + 1, "too_many_events"],
    ]);
  }
  const exact = await postBatch(server, project, batch.slice(0, EVENTS_PER_REQUEST_MAX));
  assert.deepEqual(exact.body, { success: true });
  assert.equal((await server.stored(project)).length, EVENTS_PER_REQUEST_MAX);
});

test("clients: a large body of somebody known is read event by event", async () => {
  const deep = message({
    event: "deep",
    properties: { a: JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`) },
  });
  const many = message({ event: "many", properties: { list: Array(44_000).fill(0) } });
  const text = JSON.stringify({
    context: { locale: "de-DE" },
    batch: [...JSON.parse(large(70_000)).batch, deep, many, message({ event: "last" })],
  });
  const { status, body } = await send(server, {
    path: "/v1/batch",
    body: text,
    headers: basic(project.publicKey),
  });
  assert.equal(status, 200);
  const count = Math.ceil(70_000 / 3_000);
  assert.equal((await server.stored(project)).length, count + 1, JSON.stringify(body.rejected));
  assert.deepEqual(body.rejected.map(({ index, code }: Json) => [index, code]), [
    [count, "too_deep"],
    [count + 1, "invalid_event"],
  ]);
  const last = (await server.stored(project)).find(({ name }) => name === "last");
  assert.equal((last?.context as Json).locale, "de-DE");
});

test("clients: allowed origins are those of POST /v1/events", async () => {
  const own = await server.project({ allowedOrigins: ["https://shop.example"] });
  const from = (Origin: string) => postBatch(server, own, [message()], { headers: { Origin } });
  assert.equal((await from("https://shop.example")).status, 200);
  const refused = await from("https://evil.example");
  assertProblem(refused, 403, "origin_not_allowed");
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
});

test("clients: preflights allow what is asked for, and replies are for pages of all origins", async () => {
  const preflight = (path: string, asked: string) =>
    send(server, {
      path,
      method: "OPTIONS",
      body: null,
      headers: {
        "Origin": "https://shop.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": asked,
      },
    });
  const usual = "Content-Type, Content-Encoding, X-API-Key, Authorization";
  const asked: [string, string][] = [
    ["anonymousid,authorization,sentat", ", anonymousid, sentat"],
    ["x-umami-cache", ", x-umami-cache"],
    ["content-type", ""],
    ["a\u00e4", ""],
    ["x".repeat(1_001), ""],
  ];
  for (const { path } of CLIENT_ROUTES) {
    for (const [names, more] of asked) {
      const reply = await preflight(path.replace(/:\w+/g, "x"), names);
      assert.equal(reply.status, 204);
      assert.equal(reply.headers.get("access-control-allow-origin"), "*", path);
      assert.equal(reply.headers.get("access-control-allow-headers"), usual + more, path);
    }
  }
  const own = await preflight("/v1/events", "anonymousid");
  assert.equal(own.headers.get("access-control-allow-headers"), usual);
});

test("clients: no path stores or tells anything without a key", async () => {
  for (const { kind, method, path } of CLIENT_ROUTES) {
    if (kind === "reply") continue;
    const body = method === "GET" ? null : '{"batch":[],"events":[]}';
    const reply = await send(server, { path: path.replace(/:\w+/g, "x"), method, body });
    const told = `${method} ${path}: ${reply.status}`;
    assert.ok(reply.status === 401 || reply.status === 400, told);
    assert.equal(reply.headers.get("access-control-allow-origin"), "*", told);
  }
});

test("clients: no log line shows a key, wherever it travelled", async () => {
  const secrets = [project.publicKey, project.secretKey];
  for (const key of secrets) {
    await postBatch(server, project, [message()], { key });
    await send(server, {
      path: "/v1/batch",
      body: JSON.stringify({ batch: [message()], writeKey: key }),
    });
    await send(server, { path: `/v1/projects/${key}/settings`, method: "GET", body: null });
    await send(server, { path: `/sourceConfig?writeKey=${key}`, method: "GET", body: null });
  }
  for (const key of secrets) assert.ok(!server.logLines.some((line) => line.includes(key)));
});
