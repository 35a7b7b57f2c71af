import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { EXCESS_PAUSE_MS, KEYED_BODY_BYTES_MAX } from "../../src/limits.ts";
import { assertProblem, type Json, newEvent, sharedApp, type TestProject } from "../support/app.ts";
import { HeldTimers } from "../support/held_timers.ts";

const server = sharedApp();
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

/** Far more than it takes, on a slow machine too; what this guards against took minutes. */
const UNNOTICED_MS_MAX = 20_000;

const gzipped = (text: string) => new Uint8Array(gzipSync(text, { level: 9 }));
const ZIPPED = { "Content-Encoding": "gzip" };

/** 10 MiB when inflated: millions of arrays, and a key that has to be given its own name. */
function manyArrays(): string {
  const head = String.raw`{"events":1,"\u0061":1,"b":[`;
  return `${head}${"[],".repeat(Math.floor((10 * 1024 * 1024 - head.length - 10) / 3))}[]]}`;
}

Deno.test("body without a key before it: not compressed and at most 64 KiB", async () => {
  const body = JSON.stringify({ apiKey: project.publicKey, events: [newEvent()] });
  const send = (text: string) => server.postRaw(project, text, { key: null });
  const whole = await send(body.padEnd(KEYED_BODY_BYTES_MAX));
  assert.deepEqual([whole.status, whole.body.accepted], [200, 1]);
  assertProblem(await send(body.padEnd(KEYED_BODY_BYTES_MAX + 1)), 413, "body_too_large");
  const packed = await server.postRaw(project, gzipped(body), { key: null, headers: ZIPPED });
  assertProblem(packed, 415, "unsupported_encoding");
});

Deno.test("body: a key in the query is as good as one in the header, whatever the body", async () => {
  const query = `?a=b&key=${encodeURIComponent(project.publicKey)}`;
  const body = JSON.stringify({ events: [newEvent()] });
  const packed = gzipped(body.padEnd(300_000));
  const reply = await server.postRaw(project, packed, { key: null, query, headers: ZIPPED });
  assert.deepEqual([reply.status, reply.body.accepted], [200, 1]);
  const long = await server.postRaw(project, body.padEnd(300_000), { key: null, query });
  assert.deepEqual([long.status, long.body.accepted], [200, 1]);
  const flood = `?${"a&".repeat(100_000)}key=${project.publicKey}`;
  assert.equal((await server.postRaw(project, body, { key: null, query: flood })).status, 200);
});

Deno.test("body: the refusal of one that contains too much is delayed, and delays nobody else", async () => {
  using timers = new HeldTimers(EXCESS_PAUSE_MS);
  let isRefused = false;
  const refused = server.postRaw(project, gzipped(manyArrays()), { headers: ZIPPED })
    .then((reply) => {
      isRefused = true;
      return reply;
    });
  assert.equal((await server.post(project, [newEvent()])).status, 200);
  assert.equal(isRefused, false, "others are answered meanwhile");
  await Promise.race([timers.until(EXCESS_PAUSE_MS), refused]);
  timers.advance(EXCESS_PAUSE_MS - 1);
  assert.equal((await server.post(project, [newEvent()])).status, 200);
  assert.equal(isRefused, false);
  timers.advance(1);
  assertProblem(await refused, 413, "body_too_large");
});

Deno.test("body: millions of arrays are refused before they are parsed, with a key and without", async () => {
  const body = gzipped(manyArrays());
  assert.ok(body.length < 12_000);
  // Whoever parses one finds that it is no JSON any more, or that `events` is no list.
  await Promise.all(Array.from({ length: 10 }, async () => {
    const without = await server.postRaw(project, body, { key: null, headers: ZIPPED });
    assertProblem(without, 415, "unsupported_encoding");
    const plain = manyArrays().slice(0, KEYED_BODY_BYTES_MAX);
    assertProblem(await server.postRaw(project, plain, { key: null }), 413, "body_too_large");
    const known = await server.postRaw(project, body, { headers: ZIPPED });
    assertProblem(known, 413, "body_too_large");
  }));
});

Deno.test("body: a blank content type is refused at once", async () => {
  const type = `text/plain${" ".repeat(100_000)}x`;
  const startedAt = performance.now();
  const reply = await server.postRaw(project, "{}", {
    key: null,
    headers: { "Content-Type": type },
  });
  assertProblem(reply, 415, "unsupported_media_type");
  assert.ok(performance.now() - startedAt < UNNOTICED_MS_MAX);
});

const filled = (properties: Json) => newEvent({ properties });
const many = (count: number, make: () => Json) => Array.from({ length: count }, make);

/** The largest bodies that ordinary clients send: 10 MiB, when inflated, of legal events. */
const LARGEST: readonly [string, () => Json[]][] = [
  ["500 events of 20 KB", () => many(500, () => filled({ text: "ä".repeat(10_000) }))],
  [
    "500 events of 2,000 properties",
    () =>
      many(
        500,
        () => filled(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, 1]))),
      ),
  ],
  [
    "500 events with 200 items each, 10 levels deep",
    () =>
      many(
        500,
        () =>
          filled({
            items: many(200, () => ({ sku: "A-12" })),
            deep: JSON.parse("[".repeat(9) + "]".repeat(9)),
          }),
      ),
  ],
  ["one event of 21,000 arrays", () => [newEvent({ extra: Array(21_000).fill([]) })]],
];

for (const [what, make] of LARGEST) {
  Deno.test(`body: ${what} are taken`, async () => {
    const own = await server.project();
    const events = make();
    const body = gzipped(JSON.stringify({ events }));
    const reply = await server.postRaw(own, body, { headers: ZIPPED });
    assert.deepEqual([reply.status, reply.body.accepted], [200, events.length]);
  });
}

Deno.test("body: an event of far too many values is rejected alone", async () => {
  const wide = newEvent({ properties: { a: Array(60_000).fill(0) } });
  const { status, body } = await server.post(project, [newEvent(), wide, newEvent()]);
  assert.equal(status, 200);
  assert.deepEqual([body.accepted, body.rejected.length], [2, 1]);
  assert.deepEqual([body.rejected[0].index, body.rejected[0].code], [1, "event_too_large"]);
});

Deno.test("body: invalid JSON is reported wherever it is, and nothing of the body is stored", async () => {
  const own = await server.project();
  const good = JSON.stringify(newEvent());
  const texts = [
    ...[`[${good},]`, `[,${good}]`, `[${good} ${good}]`, `[${good},{]`, `[${good},\ufeff{}]`],
    ...[`[${good}],"a":}`, `[${good}]]`, `[${good}],"sentAt":`, `[${good},"x]`],
  ];
  for (const events of texts) {
    assertProblem(await server.postRaw(own, `{"events":${events}}`), 400, "invalid_json");
  }
  assert.equal((await server.stored(own)).length, 0);
});
