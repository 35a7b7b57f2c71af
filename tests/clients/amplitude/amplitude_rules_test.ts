/** Amplitude's paths, as its clients write to them. */
import assert from "node:assert/strict";
import { EVENTS_PER_REQUEST_MAX } from "../../../src/limits.ts";
import { type Json, sharedApp, type TestProject } from "../../support/app.ts";
import { testsAfter } from "../../support/prepared_tests.ts";
import { basic, gzip, send } from "../client_app.ts";

const server = sharedApp();
let project: TestProject;
const test = testsAfter(async () => void (project = await server.project()));

function tracked(type: string, event: Json = {}): Json {
  return {
    event_type: type,
    device_id: "device-1",
    insert_id: crypto.randomUUID(),
    time: Date.now(),
    ...event,
  };
}

function upload(events: readonly unknown[], envelope: Json = {}): string {
  const sent = { client_upload_time: new Date().toISOString(), options: {}, ...envelope };
  return JSON.stringify({ api_key: project.publicKey, events, ...sent });
}

const names = async () => (await server.stored(project)).map(({ name }) => name).toSorted();
const PATHS = ["/2/httpapi", "/batch", "/batch/"];

test("amplitude: each path takes uploads and answers in numbers", async () => {
  for (const path of PATHS) {
    const body = upload([tracked(path), tracked(path)]);
    const before = Date.now();
    const reply = await send(server, { path, body });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    const { server_upload_time: at, ...others } = reply.body;
    assert.deepEqual(others, { code: 200, events_ingested: 2, payload_size_bytes: body.length });
    assert.ok(Number.isInteger(at) && at >= before && at <= Date.now());
  }
  assert.equal((await names()).length, 2 * PATHS.length);
});

test("amplitude: beacons, gzip, and a key as Basic user", async () => {
  const path = "/2/httpapi";
  const text = { "Content-Type": "text/plain;charset=UTF-8" };
  const json = { "Content-Type": "application/json" };
  const encoded = { ...json, "Content-Encoding": "gzip" };
  const sent: [BodyInit, Record<string, string>][] = [
    [upload([tracked("a")]), text],
    [await gzip(upload([tracked("b")])), encoded],
    [JSON.stringify({ events: [tracked("c")] }), { ...json, ...basic(project.secretKey) }],
  ];
  for (const [body, headers] of sent) {
    const reply = await send(server, { path, body, headers });
    assert.equal(reply.body.events_ingested, 1, JSON.stringify(reply.body));
  }
  assert.deepEqual(await names(), ["a", "b", "c"]);
});

test("amplitude: a bad event never spoils its upload, and stands by its field", async () => {
  const events = [
    tracked("good"),
    tracked("bad", { time: "yesterday" }),
    tracked("bad", { user_id: "x".repeat(300) }),
    { device_id: "no name" },
    tracked("good"),
  ];
  for (const path of PATHS) {
    const reply = await send(server, { path, body: upload(events) });
    assert.deepEqual([reply.status, reply.body.code, reply.body.events_ingested], [200, 200, 2]);
    assert.deepEqual(reply.body.events_with_invalid_fields, {
      time: [1],
      user_id: [2],
      event: [3],
    });
    const none = await send(server, { path, body: upload(events.slice(1, 4)) });
    assert.deepEqual([none.status, none.body.code], [400, 400]);
    assert.deepEqual(none.body.events_with_invalid_fields, { time: [0], user_id: [1], event: [2] });
  }
  assert.deepEqual(await names(), ["good", "good"]);
});

test("amplitude: refusals have a number as `code`, which its clients read", async () => {
  const event = tracked("a");
  const nobody = JSON.stringify({ api_key: "nobody", events: [event] });
  const secret = JSON.stringify({ api_key: project.secretKey, events: [event] });
  const expected: [string, number, RegExp][] = [
    [JSON.stringify({ events: [event] }), 401, /^Invalid API key/],
    [nobody, 401, /^Invalid API key/],
    [secret, 403, /^Invalid API key/],
    ["{", 400, /JSON/],
    [JSON.stringify({ api_key: project.publicKey }), 400, /events/],
  ];
  for (const [body, status, error] of expected) {
    const reply = await send(server, { path: "/2/httpapi", body });
    assert.deepEqual([reply.status, reply.body.code], [status, status], body);
    assert.match(reply.body.error, error);
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  }
});

test("amplitude: of too many events those that fit are taken, and the others are told", async () => {
  const events = Array.from({ length: EVENTS_PER_REQUEST_MAX + 2 }, () => tracked("e"));
  const reply = await send(server, { path: "/2/httpapi", body: upload(events) });
  assert.deepEqual([reply.status, reply.body.events_ingested], [200, EVENTS_PER_REQUEST_MAX]);
  assert.deepEqual(reply.body.events_with_invalid_fields, {
    event: [EVENTS_PER_REQUEST_MAX, EVENTS_PER_REQUEST_MAX + 1],
  });
});

test("amplitude: what is sent again is ingested, and adds nothing", async () => {
  const body = upload([tracked("a"), tracked("b", { insert_id: "order-88231-completed" })]);
  for (let i = 0; i < 3; i++) {
    const reply = await send(server, { path: "/2/httpapi", body });
    assert.equal(reply.body.events_ingested, 2);
  }
  assert.deepEqual(await names(), ["a", "b"]);
});

test("amplitude: a clock that is off is corrected by client_upload_time", async () => {
  const behindMs = 3_600_000;
  const at = Date.now() - behindMs;
  const body = upload([tracked("a", { time: at - 60_000 })], {
    client_upload_time: new Date(at).toISOString(),
  });
  await send(server, { path: "/2/httpapi", body });
  const [stored] = await server.stored(project);
  assert.equal(stored?.clock, "corrected");
  const { server: { ingestedAt } } = stored?.properties as { server: { ingestedAt: string } };
  assert.equal(Date.parse(ingestedAt) - Date.parse(String(stored?.timestamp)), 60_000);
});

test("amplitude: what its browser client asks for as it starts is answered", async () => {
  for (const path of ["/config/anything?config_group=browser", "/config?api_key=a&config_keys=b"]) {
    const reply = await send(server, { path, method: "GET", body: null });
    assert.deepEqual([reply.status, reply.body], [200, { configs: {} }]);
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  }
});
