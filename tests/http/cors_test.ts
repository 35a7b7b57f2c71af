import assert from "node:assert/strict";
import { originMatches, originPatternMistake } from "../../src/http/cors.ts";
import { assertProblem, newEvent, sharedApp } from "../support/app.ts";

const ALLOWED = "https://shop.example, https://*.pages.example";
const server = sharedApp({
  CORS_ALLOWED_ORIGINS: ALLOWED,
  RATE_LIMIT_EVENTS_PER_SECOND: "3",
  BASE_PATH: "/analytics",
  IP_STORAGE: "truncated",
});

const preflight = (path: string, origin: string) =>
  server.fetch(path, {
    method: "OPTIONS",
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type,x-api-key",
    },
  });

Deno.test("CORS: a preflight needs no key and is 204 for every /v1 path, known or not", async () => {
  const paths = ["/v1/events", "/v1/session", "/v1/projects/x/keys/y", "/v1/nothing", "/v1/"];
  for (const path of [...paths, "/v1/events?key=nonsense", "/analytics/v1/events"]) {
    const { status, headers, body } = await preflight(path, "https://shop.example");
    assert.deepEqual([status, body], [204, ""], path);
    assert.equal(headers.get("access-control-allow-origin"), "https://shop.example");
    assert.match(headers.get("access-control-allow-methods") ?? "", /\w/);
    assert.equal(
      headers.get("access-control-allow-headers"),
      "Content-Type, Content-Encoding, X-API-Key, Authorization",
    );
    assert.equal(headers.get("access-control-max-age"), "86400");
    assert.equal(
      headers.get("vary"),
      "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    );
    assert.ok(headers.get("x-request-id"));
  }
  const methods = (await preflight("/v1/events", "https://shop.example")).headers
    .get("access-control-allow-methods")?.split(", ");
  assert.deepEqual(new Set(methods), new Set(["POST", "GET", "HEAD", "OPTIONS"]));
});

Deno.test("CORS: a preflight is never 400, whatever it asks", async () => {
  for (const headers of [{}, { Origin: "nonsense" }, { "Access-Control-Request-Method": "?" }]) {
    const { status } = await server.fetch("/v1/events", { method: "OPTIONS", headers });
    assert.equal(status, 204);
  }
});

Deno.test("CORS: origins that are not allowed get no Access-Control-Allow-Origin", async () => {
  for (const origin of ["https://evil.example", "http://shop.example", "https://pages.example"]) {
    assert.equal(
      (await preflight("/v1/events", origin)).headers.get("access-control-allow-origin"),
      null,
    );
  }
  const { headers } = await preflight("/v1/events", "https://a.pages.example");
  assert.equal(headers.get("access-control-allow-origin"), "https://a.pages.example");
});

Deno.test("CORS: every reply of a /v1 path has the headers, whatever its status", async () => {
  const project = await server.project();
  const large = "x".repeat(1024 * 1024 + 1);
  const headers = { Origin: "https://shop.example" };
  const key = { ...headers, "X-API-Key": project.publicKey };
  const post = (body: string, sent: Record<string, string>) =>
    server.fetch("/v1/events", { method: "POST", headers: sent, body });
  const events = JSON.stringify({ events: [newEvent(), newEvent(), newEvent(), newEvent()] });
  const replies = [
    await post('{"events":[]}', key),
    await post("{", key),
    await post('{"events":[]}', headers),
    await server.fetch("/v1/nothing", { headers }),
    await server.fetch("/v1/events", { method: "DELETE", headers }),
    await post(large, key),
    await post("{}", { ...key, "Content-Type": "text/html" }),
    await post(events, key),
    await post(events, key),
    await post("{}", { ...headers, "X-API-Key": "pk_nobody" }),
  ];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 400, 401, 404, 405, 413, 415, 200, 429, 401],
  );
  for (const reply of replies) {
    assert.equal(reply.headers.get("access-control-allow-origin"), "https://shop.example");
    const exposed = reply.headers.get("access-control-expose-headers") ?? "";
    assert.match(exposed, /Retry-After/);
    assert.match(exposed, /X-Request-Id/);
    assert.match(reply.headers.get("vary") ?? "", /Origin/);
  }
});

Deno.test("rate limit: a key above its events per second is 429 with Retry-After, another is not", async () => {
  const [one, two] = [await server.project(), await server.project()];
  const four = () => Array.from({ length: 4 }, () => newEvent());
  assert.equal((await server.post(one, four())).status, 200);
  const over = await server.post(one, [newEvent()]);
  assertProblem(over, 429, "rate_limited");
  assert.match(over.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.equal((await server.post(two, four())).status, 200);
  assert.equal((await server.stored(one)).length, 4);
  await new Promise((resolve) =>
    setTimeout(resolve, 1000 * Number(over.headers.get("retry-after")))
  );
  assert.equal((await server.post(one, [newEvent()])).status, 200);
});

Deno.test("IP_STORAGE: it applies unless the project has a setting of its own", async () => {
  const ip = async (settings: Record<string, unknown>) => {
    const project = await server.project(settings);
    return (await server.roundTrip(project, {})).properties.server.ip;
  };
  assert.equal(await ip({}), "8.8.8.0");
  assert.equal(await ip({ ipStorage: "full" }), "8.8.8.8");
  assert.equal(await ip({ ipStorage: "none" }), null);
});

Deno.test("BASE_PATH: every address works below it, and without it behind a proxy that strips it", async () => {
  const project = await server.project();
  const body = '{"events":[]}';
  const init = { method: "POST", headers: { "X-API-Key": project.publicKey }, body };
  for (const path of ["/analytics/v1/events", "/v1/events"]) {
    assert.equal((await server.fetch(path, init)).status, 200, path);
  }
  assert.equal((await server.fetch("/analytics")).status, 200);
  assert.equal((await server.fetch("/analyticsv1/events", init)).status, 404);
  assert.equal((await server.fetch("/other/v1/events", init)).status, 404);
  assert.equal((await server.fetch("/analytics/healthz")).status, 200);
});

Deno.test("originMatches: exact origins, subdomain patterns, and *", () => {
  const cases: [string, string, boolean][] = [
    ["https://a.example", "https://a.example", true],
    ["https://a.example", "https://a.example:8443", false],
    ["https://a.example:8443", "https://*.example:8443", true],
    ["https://x.a.example", "https://*.a.example", true],
    ["https://x.y.a.example", "https://*.a.example", true],
    ["https://a.example", "https://*.a.example", false],
    ["https://.a.example", "https://*.a.example", false],
    ["https://evil-a.example", "https://*.a.example", false],
    ["http://x.a.example", "https://*.a.example", false],
    ["null", "*", true],
    ["null", "https://a.example", false],
  ];
  for (const [origin, pattern, matches] of cases) {
    assert.equal(originMatches(origin, [pattern]), matches, `${origin} ${pattern}`);
  }
  assert.equal(originMatches("https://a.example", []), false);
});

Deno.test("originPatternMistake: only origins and patterns of subdomains are right", () => {
  for (const right of ["https://a.example", "http://localhost:3000", "https://*.a.example"]) {
    assert.equal(originPatternMistake(right), null, right);
  }
  const wrong = ["a.example", "https://a.example/", "https://a.example/x", "ftp://a.example", ""];
  for (const pattern of [...wrong, "https://*", "https://a.*.example", "https://a.example:port"]) {
    assert.match(originPatternMistake(pattern) ?? "", /origin/, pattern);
  }
});
