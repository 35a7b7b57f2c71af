import assert from "node:assert/strict";
import { assertProblem, keptApp, newEvent, type TestProject } from "../support/app.ts";

const HOUR_MS = 3_600_000;
/** How far the server's clock is set forward. */
let offsetMs = 0;

const server = keptApp({}, { now: () => Date.now() + offsetMs });
let project: TestProject;
Deno.test.beforeAll(async () => void (project = await server.project()));

Deno.test("API key: none is 401 missing_api_key", async () => {
  const none = { key: null };
  assertProblem(await server.post(project, [newEvent()], none), 401, "missing_api_key");
  for (const apiKey of [null, "", 5, {}]) {
    const reply = await server.post(project, [newEvent()], { ...none, envelope: { apiKey } });
    assertProblem(reply, 401, "missing_api_key");
  }
  const empty = await server.post(project, [newEvent()], { ...none, query: "?key=" });
  assertProblem(empty, 401, "missing_api_key");
});

Deno.test("API key: its absence is reported before the body is checked", async () => {
  for (const body of ["{}", "[]", "null", '{"events":5}']) {
    const reply = await server.fetch("/v1/events", { method: "POST", body });
    assertProblem(reply, 401, "missing_api_key");
  }
});

Deno.test("API key: one that never existed is 401 invalid_api_key, wherever it is sent", async () => {
  for (const key of ["pk_nobody00000000000000000000000000", "sk_nobody", "x", "k".repeat(10_000)]) {
    assertProblem(await server.post(project, [newEvent()], { key }), 401, "invalid_api_key");
    const query = { key: null, query: `?key=${key}` };
    assertProblem(await server.post(project, [newEvent()], query), 401, "invalid_api_key");
    const member = { key: null, envelope: { apiKey: key } };
    assertProblem(await server.post(project, [newEvent()], member), 401, "invalid_api_key");
  }
});

Deno.test("API key: a public key may be sent in the header, the query or the body", async () => {
  const { publicKey } = project;
  const ways = [
    {},
    { key: null, query: `?key=${publicKey}` },
    { key: null, envelope: { apiKey: publicKey } },
    { key: null, query: "?key=", envelope: { apiKey: publicKey } },
    { key: "", envelope: { apiKey: publicKey } },
  ];
  for (const way of ways) {
    const { status, body } = await server.post(project, [newEvent()], way);
    assert.deepEqual([status, body.accepted], [200, 1], JSON.stringify(way));
  }
});

Deno.test("API key: the header counts if there are several", async () => {
  const other = await server.project();
  const way = { query: "?key=pk_nobody", envelope: { apiKey: "pk_nobody" } };
  assert.equal((await server.post(other, [newEvent()], way)).status, 200);
  const wrong = { key: "pk_nobody", query: `?key=${project.publicKey}` };
  assertProblem(await server.post(project, [newEvent()], wrong), 401, "invalid_api_key");
});

Deno.test("API key: a secret one outside the header is 403 key_not_allowed_here", async () => {
  const own = await server.project();
  const ways = [
    { key: null, query: `?key=${own.secretKey}` },
    { key: null, envelope: { apiKey: own.secretKey } },
  ];
  for (const way of ways) {
    assertProblem(await server.post(own, [newEvent()], way), 403, "key_not_allowed_here");
  }
  assert.equal((await server.stored(own)).length, 0);
  assert.equal((await server.post(own, [newEvent()], { key: own.secretKey })).status, 200);
});

Deno.test("API key: a revoked one is 403 revoked_api_key at once", async () => {
  const made = await server.key(project.id, { kind: "public" });
  assert.equal((await server.post(project, [newEvent()], { key: made.key })).status, 200);
  const gone = await server.admin("DELETE", `/v1/projects/${project.id}/keys/${made.id}`);
  assert.equal(gone.status, 204);
  for (const way of [{ key: made.key }, { key: null, query: `?key=${made.key}` }]) {
    assertProblem(await server.post(project, [newEvent()], way), 403, "revoked_api_key");
  }
});

Deno.test("API key: an expired one is 403 expired_api_key, and rotated ones work both until then", async () => {
  const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
  const { key } = await server.key(project.id, { kind: "public", expiresAt });
  const old = await server.key(project.id, { kind: "secret" });
  const path = `/v1/projects/${project.id}/keys/${old.id}/rotate`;
  const rotated = await server.admin("POST", path, { overlapSeconds: 60 });
  assert.equal(rotated.status, 201);
  for (const one of [key, old.key, rotated.body.key]) {
    assert.equal((await server.post(project, [newEvent()], { key: one })).status, 200);
  }
  offsetMs = HOUR_MS;
  try {
    assertProblem(await server.post(project, [newEvent()], { key }), 403, "expired_api_key");
  } finally {
    offsetMs = 0;
  }
});

Deno.test("API key: a replaced one without overlap has expired", async () => {
  const old = await server.key(project.id, { kind: "public" });
  const path = `/v1/projects/${project.id}/keys/${old.id}/rotate`;
  await server.admin("POST", path, { overlapSeconds: 0 });
  assertProblem(await server.post(project, [newEvent()], { key: old.key }), 403, "expired_api_key");
});

Deno.test("API key: it does not read", async () => {
  for (const key of [project.publicKey, project.secretKey]) {
    const headers = { "X-API-Key": key };
    const reply = await server.fetch(`/v1/events?project=${project.id}`, { headers });
    assertProblem(reply, 401, "missing_token");
    assert.ok(reply.headers.get("www-authenticate"));
  }
});

Deno.test("API key: its project's allowedOrigins are enforced if an Origin is sent", async () => {
  const own = await server.project({
    allowedOrigins: ["https://shop.example", "https://*.pages.example"],
  });
  const from = (origin: string | null) =>
    server.post(own, [newEvent()], origin === null ? {} : { headers: { Origin: origin } });
  for (
    const origin of [
      null,
      "https://shop.example",
      "https://a.pages.example",
      "https://a.b.pages.example",
    ]
  ) {
    assert.equal((await from(origin)).status, 200, String(origin));
  }
  for (
    const origin of [
      "http://shop.example",
      "https://shop.example:8443",
      "https://shop.example.evil.example",
      "https://evilshop.example",
      "https://pages.example",
      "https://evilpages.example",
      "null",
    ]
  ) {
    const reply = await from(origin);
    assertProblem(reply, 403, "origin_not_allowed");
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  }
  assert.equal((await server.stored(own)).length, 4);
});

Deno.test("API key: no log line shows one, wherever it was sent", async () => {
  const secrets = [project.publicKey, project.secretKey, "pk_unknown_but_private"];
  for (const key of secrets) {
    await server.post(project, [newEvent()], { key });
    await server.post(project, [newEvent()], { key: null, query: `?key=${key}` });
    await server.post(project, [newEvent()], { key: null, envelope: { apiKey: key } });
    await server.postRaw(project, `{"apiKey":"${key}"`, { key: null });
    await server.fetch(`/v1/nothing?key=${key}`);
  }
  assert.ok(server.logLines.length > 10, "there is a log");
  for (const line of server.logLines) {
    for (const secret of [...secrets, server.app.controlToken]) {
      assert.ok(!line.includes(secret), line);
    }
  }
});
