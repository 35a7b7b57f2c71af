import assert from "node:assert/strict";
import { BODY_WIRE_BYTES_MAX, EVENT_BYTES_MAX, PROPERTIES_BYTES_MAX } from "../../src/limits.ts";
import { IMPORT_LINE_BYTES_MAX, IMPORT_LINES_MAX } from "../../src/ingest/import_limits.ts";
import { assertProblem, type Json, sharedApp, type TestProject } from "../support/app.ts";

const app = sharedApp();

const SERVER = {
  ip: "203.0.113.9",
  hash: "AAECAwQFBgcICQoLDA0ODw",
  geo: { country: "DE", region: "Berlin", city: "Berlin" },
  browser: "Chrome",
  os: "Linux",
  device: "tablet",
  bot: false,
  ingestedAt: "2025-11-21T12:00:00.000Z",
};

function line(members: Json = {}): Json {
  return { eventId: crypto.randomUUID(), name: "x", server: SERVER, ...members };
}

async function send(
  project: TestProject | string,
  body: BodyInit,
  { query = "", headers = {}, token = app.app.controlToken }: {
    query?: string;
    headers?: Record<string, string>;
    token?: string;
  } = {},
) {
  const id = typeof project === "string" ? project : project.id;
  return await app.fetch(`/v1/projects/${id}/import${query}`, {
    method: "POST",
    headers: {
      "Authorization": `Bearer ${token}`,
      "Content-Type": "application/x-ndjson",
      ...headers,
    },
    body,
  });
}

const bodyOf = (lines: readonly unknown[]) =>
  lines.map((one) => typeof one === "string" ? one : JSON.stringify(one)).join("\n");

Deno.test("import: what a line states as `server` is stored unchanged, and once", async () => {
  const project = await app.project({ ipStorage: "none" });
  const sent = line({ timestamp: "2025-11-20T10:00:00.000Z", clock: "corrected" });
  const body = bodyOf([sent]);
  assert.deepEqual((await send(project, body)).body, { accepted: 1, duplicates: 0, rejected: [] });
  assert.deepEqual((await send(project, body)).body, { accepted: 1, duplicates: 1, rejected: [] });
  const [event] = await app.stored(project);
  assert.deepEqual(event!.server, SERVER);
  const { browser: _1, os: _2, device: _3, bot: _4, ...found } = SERVER;
  assert.deepEqual(event!.properties, { server: found });
  assert.deepEqual([event!.timestamp, event!.clock], [sent.timestamp, "corrected"]);
});

Deno.test("import: the same members from any other client do not count as the server's", async () => {
  const project = await app.project();
  for (const key of [project.publicKey, project.secretKey]) {
    const event = await app.roundTrip(project, { ...line(), clock: "corrected" }, { key });
    assert.notEqual(event.server.ip, SERVER.ip);
    assert.notEqual(event.server.browser === "Chrome" && event.device === "tablet", true);
    assert.deepEqual(event.extra, { server: SERVER, clock: "corrected" });
  }
});

Deno.test("import: a bad line affects no other, and is rejected by its number", async () => {
  const project = await app.project();
  const big = { note: "x".repeat(IMPORT_LINE_BYTES_MAX) };
  const lines = [line(), "{", "", "  ", "[]", line({ eventId: "none" }), line(big), "5", line()];
  const { status, body } = await send(project, bodyOf(lines));
  assert.equal(status, 200);
  assert.equal(body.accepted, 2);
  assert.deepEqual(
    body.rejected.map(({ index, code, field }: Json) => `${index} ${code} ${field}`),
    [
      "1 invalid_json ",
      "4 invalid_event ",
      "5 invalid_event_id eventId",
      "6 event_too_large ",
      "7 invalid_event ",
    ],
  );
  const broken = new Uint8Array([0x7b, 0xff, 0x0a, ...new TextEncoder().encode(bodyOf([line()]))]);
  const { body: reply } = await send(project, broken);
  assert.deepEqual([reply.accepted, reply.rejected[0].code], [1, "invalid_encoding"]);
  const none = await send(project, "{");
  assert.deepEqual([none.status, none.body.accepted, none.body.rejected.length], [200, 0, 1]);
});

Deno.test("import: an event as large as ingestion takes comes back from its export", async () => {
  const project = await app.project();
  const properties = { note: "p".repeat(PROPERTIES_BYTES_MAX - '{"note":""}'.length) };
  const url = `https://shop.example/${"u".repeat(2_000)}`;
  const event = { eventId: crypto.randomUUID(), properties, url, own: "" };
  const room = EVENT_BYTES_MAX - JSON.stringify(event).length;
  event.own = "o".repeat(room);
  assert.equal(JSON.stringify(event).length, EVENT_BYTES_MAX);
  const stored = await app.roundTrip(project, event);
  const copy = await app.project();
  const { body } = await send(copy, JSON.stringify(stored));
  assert.deepEqual(body, { accepted: 1, duplicates: 0, rejected: [] });
  assert.deepEqual(await app.stored(copy), [stored]);
});

Deno.test("import: bodies have the same limits as all bodies", async () => {
  const project = await app.project();
  const many = (count: number) => bodyOf(Array.from({ length: count }, () => "{}"));
  assert.equal(
    (await send(project, many(IMPORT_LINES_MAX))).body.rejected.length,
    IMPORT_LINES_MAX,
  );
  assertProblem(await send(project, many(IMPORT_LINES_MAX + 1)), 413, "too_many_events");
  const wide = " ".repeat(BODY_WIRE_BYTES_MAX);
  assert.equal((await send(project, wide)).status, 200);
  assertProblem(await send(project, `${wide} `), 413, "body_too_large");
  const json = { headers: { "Content-Type": "application/json" } };
  assertProblem(await send(project, "{}", json), 415, "unsupported_media_type");
});

Deno.test("import: compressed bodies, blank ones, and a byte order mark", async () => {
  const project = await app.project();
  const packed = new Blob([bodyOf([line(), line()])]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  const bytes = await new Response(packed).bytes();
  const { body } = await send(project, bytes, { headers: { "Content-Encoding": "gzip" } });
  assert.equal(body.accepted, 2);
  assert.deepEqual((await send(project, "")).body, { accepted: 0, duplicates: 0, rejected: [] });
  assert.equal((await send(project, `\ufeff${JSON.stringify(line())}\r\n`)).body.accepted, 1);
});

Deno.test("import: a dry run stores nothing, and says what is known", async () => {
  const project = await app.project();
  const known = line();
  await send(project, bodyOf([known]));
  const body = bodyOf([known, line(), "{"]);
  const reply = await send(project, body, { query: "?dryRun=true" });
  assert.deepEqual([reply.body.accepted, reply.body.duplicates, reply.body.rejected.length], [
    2,
    1,
    1,
  ]);
  for (const unknown of ["1", "True", ""]) {
    const said = await send(project, body, { query: `?dryRun=${unknown}` });
    assertProblem(said, 400, "invalid_parameter");
    assert.equal(said.body.errors[0].field, "dryRun");
  }
  assert.equal((await app.stored(project)).length, 1);
});

Deno.test("import: it needs the scope `admin` of the project, and is once in the audit", async () => {
  const project = await app.project();
  const other = await app.project();
  const body = bodyOf([line()]);
  for (const scope of ["read", "write", "jobs"]) {
    const token = await app.token([project.id], scope);
    assertProblem(await send(project, body, { token }), 403, "insufficient_scope");
  }
  const token = await app.token([project.id], "admin");
  assertProblem(await send(other, body, { token }), 403, "insufficient_scope");
  assertProblem(await send("prj_none", body), 404, "not_found");
  for (let i = 0; i < 3; i++) await send(project, body, { token, query: "?import=first" });
  await send(project, body, { token, query: "?import=second" });
  await send(project, body, { token, query: "?import=third&dryRun=true" });
  const { body: { rows } } = await app.admin("GET", "/v1/audit?limit=1000");
  const imports = rows.filter(({ what, project: of }: Json) =>
    what === "events.import" && of === project.id
  );
  assert.deepEqual(imports.map(({ subject }: Json) => String(subject).split(" ").at(-1)), [
    "second",
    "first",
  ]);
});
