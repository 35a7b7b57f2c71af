/** What the browser libraries of Segment and RudderStack ask for as they start, and a key over its rate. */
import assert from "node:assert/strict";
import { assertProblem, sharedApp } from "../../support/app.ts";
import { basic, message, postBatch, send } from "../client_app.ts";

const server = sharedApp({
  BASE_PATH: "/analytics",
  TRUSTED_PROXIES: "8.8.8.8",
  RATE_LIMIT_EVENTS_PER_SECOND: "1",
});
const get = (path: string, headers = {}) =>
  send(server, { path, method: "GET", body: null, headers });

Deno.test("settings: analytics.js is sent to where it asked", async () => {
  const { publicKey } = await server.project();
  const ask = (headers = {}) => get(`/analytics/v1/projects/${publicKey}/settings`, headers);
  const host = async (headers = {}) => {
    const { status, body } = await ask(headers);
    assert.equal(status, 200);
    const { apiKey, apiHost, protocol } = body.integrations["Segment.io"];
    assert.equal(apiKey, publicKey);
    return `${protocol}://${apiHost}`;
  };
  assert.equal(await host(), "http://footfall.test/analytics/v1");
  const proxied = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "stats.example.com" };
  assert.equal(await host(proxied), "https://stats.example.com/analytics/v1");
  const reply = await ask({ Origin: "https://shop.example" });
  assert.equal(reply.headers.get("access-control-allow-origin"), "*");
});

Deno.test("settings: they tell nothing without a key, and the project stays an operator's", async () => {
  const { id, publicKey, secretKey } = await server.project();
  assertProblem(await get("/analytics/v1/projects/nobody/settings"), 401, "invalid_api_key");
  const secret = await get(`/analytics/v1/projects/${secretKey}/settings`);
  assertProblem(secret, 403, "key_not_allowed_here");
  for (const name of [id, publicKey]) {
    assertProblem(await get(`/analytics/v1/projects/${name}`), 401, "missing_token");
    assertProblem(await get(`/analytics/v1/projects/${name}/keys`), 401, "missing_token");
  }
  assertProblem(await get(`/analytics/v1/projects/${id}/settings`), 401, "invalid_api_key");
});

Deno.test("source configuration: by Basic credentials or the query, with and without a slash", async () => {
  const { id, publicKey, secretKey } = await server.project();
  for (const path of ["/analytics/sourceConfig", "/analytics/sourceConfig/"]) {
    for (
      const [query, headers] of [
        [`?p=npm&v=3&writeKey=${publicKey}`, {}],
        ["", basic(publicKey)],
        [`?writeKey=${publicKey}`, basic(publicKey)],
      ] as const
    ) {
      const { status, body, headers: replied } = await get(path + query, headers);
      assert.equal(status, 200);
      assert.deepEqual(
        [body.source.id, body.source.enabled, body.source.destinations, body.source.config],
        [id, true, [], {
          statsCollection: { errors: { enabled: false }, metrics: { enabled: false } },
        }],
      );
      assert.equal(replied.get("access-control-allow-origin"), "*");
    }
    assertProblem(await get(path), 401, "missing_api_key");
    assertProblem(await get(`${path}?writeKey=nobody`), 401, "invalid_api_key");
    assertProblem(await get(`${path}?writeKey=${secretKey}`), 403, "key_not_allowed_here");
  }
  assert.equal((await get("/analytics/sourceConfig", basic(secretKey))).status, 200);
});

Deno.test("messages: a key over its rate is 429 with Retry-After, readable for pages", async () => {
  const project = await server.project();
  const many = Array.from({ length: 400 }, () => message());
  assert.deepEqual((await postBatch(server, project, many)).body, { success: true });
  const late = await postBatch(server, project, [message()]);
  assertProblem(late, 429, "rate_limited");
  assert.match(late.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.match(late.headers.get("access-control-expose-headers") ?? "", /Retry-After/);
});
