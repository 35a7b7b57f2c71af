/** How large the bodies of other people's clients may be, before and after their key is known. */
import assert from "node:assert/strict";
import {
  LISTED_EVENTS_MAX,
  UNKNOWN_BODY_BYTES_MAX,
  UNKNOWN_BODY_CONTAINERS_MAX,
  UNKNOWN_BODY_VALUES_MAX,
} from "../../src/clients/client_limits.ts";
import { BODY_INFLATED_BYTES_MAX } from "../../src/limits.ts";
import { assertProblem, sharedApp, type TestProject } from "../support/app.ts";
import { testsAfter } from "../support/prepared_tests.ts";
import { basic, gzip, message, send } from "./client_app.ts";

const server = sharedApp();
let project: TestProject;
const test = testsAfter(async () => void (project = await server.project()));

const names = async () => (await server.stored(project)).map(({ name }) => name).toSorted();

/** A batch whose JSON has at least `bytes`. */
function large(bytes: number, key: string | null = project.publicKey): string {
  const properties = { text: "x".repeat(3_000) };
  const batch = Array.from({ length: Math.ceil(bytes / 3_000) }, () => message({ properties }));
  return JSON.stringify({ batch, ...(key === null ? {} : { writeKey: key }) });
}

test("clients: a body has at most 1 MiB inflated before its key is known, and then 10", async () => {
  const path = "/v1/batch";
  const text = large(UNKNOWN_BODY_BYTES_MAX - 100_000);
  const fits = await send(server, { path, body: await gzip(text) });
  assert.equal(fits.status, 200, JSON.stringify(fits.body).slice(0, 300));
  const more = await gzip(large(UNKNOWN_BODY_BYTES_MAX + 3_000, null));
  const refused = await send(server, { path, body: more });
  assertProblem(refused, 413, "body_too_large");
  assert.match(refused.body.detail, /needs its key in front of its events, or outside/);
  const known = await send(server, { path, body: more, headers: basic(project.publicKey) });
  assert.equal(known.status, 200);
  assert.equal(
    (await server.stored(project)).length,
    Math.ceil((UNKNOWN_BODY_BYTES_MAX - 100_000) / 3_000) +
      Math.ceil((UNKNOWN_BODY_BYTES_MAX + 3_000) / 3_000),
  );
  assert.equal(new Set(await names()).size, 1);
});

test("clients: a key in front of the events is known before they are, one behind them is not", async () => {
  const path = "/v1/batch";
  const sent = async (json: object) =>
    await send(server, { path, body: await gzip(JSON.stringify(json)) });
  const bytes = 2 * UNKNOWN_BODY_BYTES_MAX;
  const properties = { text: "x".repeat(30_000) };
  const batch = Array.from({ length: Math.ceil(bytes / 30_000) }, () => message({ properties }));
  const writeKey = project.publicKey;
  const { status, body } = await sent({ note: "\u00fc", writeKey, batch });
  assert.deepEqual([status, body], [200, { success: true }]);
  assert.equal((await server.stored(project)).length, batch.length);
  const others = await server.project();
  const { key: secret } = await server.key(project.id, { kind: "secret" });
  for (
    const refused of [
      { batch, writeKey },
      { writeKey: "unknown", batch },
      { writeKey: secret, batch },
      { writeKey: "a", api_key: "b", token: "c", $token: writeKey, batch },
    ]
  ) {
    assertProblem(await sent(refused), 413, "body_too_large");
  }
  // What looked like the key opens nothing that the key itself does not.
  for (const odd of [{}, { api_key: "a", writeKey: "b" }]) {
    const reply = await sent({
      ...odd,
      token: others.publicKey,
      batch,
      writeKey: "unknown",
    });
    assertProblem(reply, 401, "invalid_api_key");
  }
  const most = await gzip(
    large(BODY_INFLATED_BYTES_MAX, null).replace("{", `{"writeKey":"${writeKey}",`),
  );
  assertProblem(await send(server, { path, body: most }), 413, "body_too_large");
  const { body: metrics } = await server.fetch("/metrics", {}, "127.0.0.1");
  assert.match(metrics, /^footfall_body_bytes_in_flight 0$/m);
});

test("clients: Umami's website in front of a large batch is known before its events are", async () => {
  const count = Math.ceil(2 * UNKNOWN_BODY_BYTES_MAX / 30_000);
  const sent = async (website: string) => {
    const payload = { website, url: "/", name: "a", data: { text: "x".repeat(30_000) } };
    const items = Array.from({ length: count }, () => ({ type: "event", payload }));
    return await send(server, { path: "/api/batch", body: await gzip(JSON.stringify(items)) });
  };
  const { status, body } = await sent(project.publicKey);
  assert.deepEqual([status, body.processed], [200, count], JSON.stringify(body).slice(0, 300));
  assert.equal((await sent("unknown")).status, 413);
});

/** A batch of one event with so many commas and opening brackets, and so many of the latter. */
function counted(values: number, containers: number): string {
  const [before, rest] = [4, values - containers];
  const list = `[${"[],".repeat(containers - before)}${"0,".repeat(rest - containers + before)}0]`;
  return `{"batch":[{"list":${list}}]}`;
}

test("clients: what a body holds of somebody unknown is counted before it is parsed", async () => {
  const path = "/v1/batch";
  const [values, containers] = [UNKNOWN_BODY_VALUES_MAX, UNKNOWN_BODY_CONTAINERS_MAX];
  const refused: [string, string][] = [
    [counted(values + 1, 1_000), "body_too_large"],
    [counted(values, containers + 1), "body_too_large"],
    [`[${"0,".repeat(LISTED_EVENTS_MAX)}0]`, "too_many_events"],
    [`data=${btoa(`[${"0,".repeat(LISTED_EVENTS_MAX)}0]`)}`, "too_many_events"],
  ];
  // Each refusal waits for a second.
  await Promise.all(refused.map(async ([body, code]) => {
    assertProblem(await send(server, { path, body }), 413, code);
  }));
  const most = [
    counted(values, 1_000),
    counted(values, containers),
    `{"batch":[${"0,".repeat(LISTED_EVENTS_MAX - 1)}0]}`,
  ];
  for (const body of most) {
    assertProblem(await send(server, { path, body }), 401, "missing_api_key");
  }
});
