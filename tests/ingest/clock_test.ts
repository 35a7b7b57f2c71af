import assert from "node:assert/strict";
import { type Json, newEvent, sharedApp, type TestProject } from "../support/app.ts";

const server = sharedApp();
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** More than a request takes here, less than any rule looks at. */
const SLACK = 20 * SECOND;

async function timed(event: Json, sentAt?: unknown) {
  const sent = newEvent(event);
  const before = Date.now();
  const { status, body } = await server.post(project, [sent], { envelope: { sentAt } });
  assert.equal(status, 200, JSON.stringify(body));
  const found = (await server.stored(project)).find((one) => one.eventId === sent.eventId)!;
  const server_ = (found.properties as { server: { ingestedAt: string } }).server;
  const receivedAt = Date.parse(server_.ingestedAt);
  assert.ok(receivedAt >= before && receivedAt <= Date.now());
  return { at: Date.parse(found.timestamp as string), clock: found.clock, receivedAt };
}

Deno.test("clock: an event without a timestamp happened when it was received", async () => {
  for (const event of [{}, { timestamp: null }]) {
    const { at, clock, receivedAt } = await timed(event);
    assert.deepEqual([at, clock], [receivedAt, "received"]);
  }
});

Deno.test("clock: ISO 8601 and epoch milliseconds are read, to the millisecond", async () => {
  const at = Date.now() - HOUR;
  for (const timestamp of [at, new Date(at).toISOString()]) {
    assert.deepEqual((({ at, clock }) => [at, clock])(await timed({ timestamp })), [at, "client"]);
  }
  const offset = new Date(at + 2 * HOUR).toISOString().replace("Z", "+02:00");
  assert.equal((await timed({ timestamp: offset })).at, at);
});

Deno.test("clock: an unreadable timestamp is invalid_timestamp, naming the field", async () => {
  const wrong = ["", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30", true, {}, [], 1e300];
  const { status, body } = await server.post(
    project,
    wrong.map((timestamp) => newEvent({ timestamp })),
  );
  assert.equal(status, 400);
  assert.deepEqual(
    body.errors.map((one: Json) => [one.code, one.field]),
    wrong.map(() => ["invalid_timestamp", "timestamp"]),
  );
});

Deno.test("clock: one up to five minutes off is accepted", async () => {
  for (const offset of [5 * MINUTE - SLACK, -(5 * MINUTE - SLACK)]) {
    const timestamp = Date.now() + offset - HOUR;
    const sentAt = new Date(Date.now() + offset).toISOString();
    const { at, clock } = await timed({ timestamp }, sentAt);
    assert.deepEqual([at, clock], [timestamp, "client"]);
  }
});

Deno.test("clock: one further off is corrected by what sentAt shows", async () => {
  for (
    const offset of [5 * MINUTE + SLACK, -(5 * MINUTE + SLACK), 400 * 24 * HOUR, -30 * 24 * HOUR]
  ) {
    const sentAt = Date.now() + offset;
    const { at, clock, receivedAt } = await timed({ timestamp: sentAt - 90 * SECOND }, sentAt);
    assert.deepEqual([at, clock], [receivedAt - 90 * SECOND, "corrected"]);
  }
});

Deno.test("clock: a correction does not touch an event without a timestamp", async () => {
  const { at, clock, receivedAt } = await timed({}, Date.now() - HOUR);
  assert.deepEqual([at, clock], [receivedAt, "received"]);
});

Deno.test("clock: an unreadable sentAt is ignored", async () => {
  const timestamp = Date.now() - HOUR;
  for (const sentAt of ["now", "", {}, [], true, null, 1e300]) {
    const { at, clock } = await timed({ timestamp }, sentAt);
    assert.deepEqual([at, clock], [timestamp, "client"], JSON.stringify(sentAt));
  }
});

Deno.test("clock: up to 24 hours ahead is accepted, more is clamped to the receive time", async () => {
  const ahead = Date.now() + 24 * HOUR - SLACK;
  const near = await timed({ timestamp: ahead });
  assert.deepEqual([near.at, near.clock], [ahead, "client"]);
  for (const timestamp of [Date.now() + 24 * HOUR + SLACK, "9999-12-31T23:59:59Z", 8.64e15]) {
    const far = await timed({ timestamp });
    assert.deepEqual([far.at, far.clock], [far.receivedAt, "clamped"]);
  }
});

Deno.test("clock: it is clamped after the correction, not before", async () => {
  const sentAt = Date.now() + 48 * HOUR;
  const right = await timed({ timestamp: sentAt - MINUTE }, sentAt);
  assert.deepEqual([right.at, right.clock], [right.receivedAt - MINUTE, "corrected"]);
  const wrong = await timed({ timestamp: sentAt + 25 * HOUR }, sentAt);
  assert.deepEqual([wrong.at, wrong.clock], [wrong.receivedAt, "clamped"]);
});

Deno.test("clock: old events are kept as they are", async () => {
  const own = await server.project();
  const times = [
    "1969-07-20T20:17:40.123Z",
    "0001-01-01T00:00:00.000Z",
    "1000-02-28T12:00:00.000Z",
  ];
  const { body } = await server.post(own, times.map((timestamp) => newEvent({ timestamp })));
  assert.equal(body.accepted, 3);
  for (const time of times) {
    const year = time.slice(0, 4);
    const range = { from: `${year}-01-01`, to: `${year}-12-31` };
    const found = await server.stored(own, range);
    assert.deepEqual(found.map((one) => [one.timestamp, one.clock]), [[time, "client"]]);
  }
});
