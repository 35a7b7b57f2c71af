import assert from "node:assert/strict";
import { TestApp, type TestProject } from "../../support/app.ts";
import { testsAfter } from "../../support/prepared_tests.ts";
import { basic, send } from "../client_app.ts";

const server = new TestApp({});
let project: TestProject;
Deno.test.beforeAll(async () => void await server.start());
Deno.test.afterAll(() => server.stop());
const test = testsAfter(async () => void (project = await server.project()));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const payload = (said: Record<string, unknown> = {}) => ({
  website: project.publicKey,
  hostname: "shop.example",
  url: "/a?utm_source=x",
  referrer: "",
  screen: "1920x1080",
  language: "de",
  title: "Home",
  ...said,
});

function post(said: Record<string, unknown>, headers: Record<string, string> = {}, type = "event") {
  const body = JSON.stringify({ type, payload: payload(said) });
  return send(server, {
    path: "/api/send",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

test("umami: an adopted website is the key, and the event is one as any other", async () => {
  const website = crypto.randomUUID();
  await server.key(project.id, { kind: "public", value: website });
  const { status, body } = await post({ website, name: "signup", data: { plan: "pro" }, id: "u7" });
  assert.equal(status, 200);
  const { cache, sessionId, visitId } = body;
  for (const id of [cache, sessionId, visitId]) assert.match(id, UUID);
  // deno-lint-ignore no-explicit-any -- read as a client would
  const [event]: any[] = await server.stored(project);
  assert.equal(event.name, "signup");
  assert.equal(event.url, "https://shop.example/a?utm_source=x");
  assert.equal(event.path, "/a");
  assert.equal(event.userId, "u7");
  assert.equal(event.properties.plan, "pro");
  assert.deepEqual(event.context.screen, { width: 1920, height: 1080 });
  assert.equal(event.context.locale, "de");
  assert.equal(event.properties.server.ip, "8.8.8.8");
  assert.equal(event.browser, "Chrome");
});

test("umami: the cache comes back as long as the page sends it", async () => {
  const { body: first } = await post({});
  const { body: second } = await post({}, { "x-umami-cache": first.cache });
  assert.deepEqual(second, first);
  for (const cache of ["", "eyJhbGciOiJIUzI1NiJ9.e30.x", "x".repeat(2_000)]) {
    const { body } = await post({}, { "x-umami-cache": cache });
    assert.match(body.cache, UUID);
    assert.notEqual(body.cache, cache);
  }
});

test("umami: trackers of all ages: encoded titles and addresses, and the reply's text as the cache", async () => {
  const old = {
    title: encodeURIComponent("Café: 100 % off"),
    url: encodeURI("/caf%C3%A9?q=a%20b"),
    referrer: encodeURI("https://news.example/%C3%BC"),
  };
  const headers = { "Content-Type": "application/json" };
  const first = await post({ ...old, name: "old" }, headers);
  const again = await post({ ...old, name: "old again" }, {
    ...headers,
    "x-umami-cache": JSON.stringify(first.body),
  });
  assert.deepEqual(again.body, first.body);
  const now = {
    title: "100%: Café",
    url: "https://shop.example/caf%C3%A9?q=a%20b#c",
    referrer: "/before",
    tag: "spring",
  };
  const named = { ...headers, "x-umami-website-id": project.publicKey, "x-umami-hostname": "x" };
  assert.equal((await post({ ...now, name: "new" }, named)).status, 200);
  // `identify` forgets the cache: the header is there, and empty.
  assert.equal(
    (await post({ id: "u7" }, { ...named, "x-umami-cache": "" }, "identify")).status,
    200,
  );
  // deno-lint-ignore no-explicit-any -- read as a client would
  const events: any[] = await server.stored(project);
  const told = Object.fromEntries(
    events.map(({ name, title, url, path, referrer }) => [name, { title, url, path, referrer }]),
  );
  assert.deepEqual(told.old, {
    title: "Café: 100 % off",
    url: "https://shop.example/caf%C3%A9?q=a%20b",
    path: "/caf%C3%A9",
    referrer: "https://news.example/%C3%BC",
  });
  assert.deepEqual(told["old again"], told.old);
  assert.deepEqual(told.new, {
    title: "100%: Café",
    url: "https://shop.example/caf%C3%A9?q=a%20b#c",
    path: "/caf%C3%A9",
    referrer: "https://shop.example/before",
  });
});

test("umami: what cannot be stored is refused where it is encoded, too", async () => {
  for (const title of ["a%00b", "a\u0000b"]) {
    const { status, body } = await post({ title });
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(JSON.stringify(body), /NUL|invalid_text/);
  }
  assert.deepEqual(await server.stored(project), []);
});

test("umami: pages of other origins may ask for its header", async () => {
  for (const path of ["/api/send", "/api/batch"]) {
    const reply = await send(server, {
      path,
      method: "OPTIONS",
      body: null,
      headers: {
        "Origin": "https://shop.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-umami-cache",
      },
    });
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
    assert.match(reply.headers.get("access-control-allow-headers") ?? "", /x-umami-cache/i);
  }
  const { headers } = await post({}, { Origin: "https://shop.example" });
  assert.equal(headers.get("access-control-allow-origin"), "*");
});

test("umami: identify says who it is, opens no visit, and is no visitor", async () => {
  await post({ id: "u7", vid: "device-1", data: { plan: "pro" } }, {}, "identify");
  // deno-lint-ignore no-explicit-any -- read as a client would
  const [event]: any[] = await server.stored(project);
  assert.deepEqual([event.name, event.userId, event.anonymousId, event.inSession], [
    ...["$identify", "u7", "device-1", false],
  ]);
  assert.equal(event.properties.plan, "pro");
});

test("umami: address and agent of a body count with a secret Basic user alone", async () => {
  const visitor = {
    ip: "84.138.30.31",
    userAgent:
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
  };
  assert.equal((await post({ ...visitor, name: "public" })).status, 200);
  const secret = await post({ ...visitor, name: "secret" }, basic(project.secretKey));
  assert.equal(secret.status, 200);
  const misplaced = await post({ ...visitor, website: project.secretKey });
  assert.equal(misplaced.status, 403);
  assert.equal(misplaced.body.error.code, "key_not_allowed_here");
  // deno-lint-ignore no-explicit-any -- read as a client would
  const events: any[] = await server.stored(project);
  const told = Object.fromEntries(
    events.map(({ name, device, properties }) => [name, [device, properties.server.ip]]),
  );
  assert.deepEqual(told, {
    public: ["desktop", "8.8.8.8"],
    secret: ["mobile", "84.138.30.31"],
  });
});

test("umami: the made-up agent of its server library is none", async () => {
  await post({ name: "library" }, { "User-Agent": "Mozilla/5.0 Umami/0.4.0" });
  // deno-lint-ignore no-explicit-any -- read as a client would
  const [event]: any[] = await server.stored(project);
  assert.deepEqual([event.browser, event.os, event.device, event.bot], [null, null, null, null]);
});

test("umami: what is refused is told in its shape", async () => {
  const cases: [Record<string, unknown>, string, number, string][] = [
    [{ website: "unknown-website" }, "event", 401, "invalid_api_key"],
    [{ website: undefined }, "event", 401, "missing_api_key"],
    [{ name: "x".repeat(201) }, "event", 400, "too_long"],
    [{}, "recording", 400, "invalid_event"],
  ];
  for (const [said, type, status, code] of cases) {
    const reply = await post(said, {}, type);
    assert.equal(reply.status, status, code);
    assert.deepEqual([reply.body.error.code, reply.body.error.status], [code, status]);
    assert.equal(typeof reply.body.error.message, "string");
  }
  for (const body of ["", "{", "[]", "null"]) {
    assert.equal((await send(server, { path: "/api/send", body })).status, 400, body);
  }
  assert.deepEqual(await server.stored(project), []);
});

test("umami: a bad item never spoils its batch", async () => {
  const item = (said: Record<string, unknown>) => ({ type: "event", payload: payload(said) });
  const timestamp = Math.floor(Date.now() / 1000) - 3_600;
  const { status, body } = await send(server, {
    path: "/api/batch",
    body: JSON.stringify([
      item({ name: "first", timestamp }),
      item({ name: "x".repeat(201) }),
      item({ name: "other", website: "another" }),
      "nothing",
      item({ name: "last" }),
    ]),
  });
  assert.equal(status, 200);
  assert.deepEqual([body.size, body.processed, body.errors], [5, 2, 3]);
  assert.deepEqual(body.details.map(({ index }: { index: number }) => index), [1, 2, 3]);
  const events = await server.stored(project);
  assert.deepEqual(events.map(({ name }) => name).toSorted(), ["first", "last"]);
  const first = events.find(({ name }) => name === "first")!;
  assert.equal(first.timestamp, new Date(timestamp * 1000).toISOString());
  assert.equal(first.clock, "client");
});
