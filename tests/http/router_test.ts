import assert from "node:assert/strict";
import { DatabaseUnavailable } from "../../src/db/sql.ts";
import { ClientGone } from "../../src/http/client_gone.ts";
import { createCors } from "../../src/http/cors.ts";
import { createLog } from "../../src/http/log.ts";
import { createRouter, type Exchange, type Route } from "../../src/http/router.ts";
import { Problem, type ProblemCode, PROBLEMS } from "../../src/problem.ts";
import { assertProblem, readReply } from "../support/app.ts";

type Handler = (exchange: Exchange<string>) => Response | Promise<Response>;

const told = (exchange: Exchange<string>) => Response.json(exchange.params);

function start(routes: [string, Route<string, string>["method"], Handler][], basePath = "") {
  const lines: string[] = [];
  const observed: [string, string, number][] = [];
  const log = createLog({
    level: "debug",
    format: "json",
    colour: false,
    now: Date.now,
    write: (line) => lines.push(line),
  });
  const handle = createRouter(
    routes.map(([path, method, handler]) => ({ path, method, handler, access: "open" })),
    {
      basePath,
      cors: createCors(["*"]),
      log,
      authorize: (access) => Promise.resolve(`allowed ${access}`),
      observe: (route, method, status) => observed.push([route, method, status]),
    },
  );
  const send = async (method: string, path: string, headers: Record<string, string> = {}) =>
    await readReply(await handle(new Request(`http://x${path}`, { method, headers }), "192.0.2.1"));
  return { send, lines, observed };
}

Deno.test("router: an unknown path is 404 not_found, a known one with another method 405 with Allow", async () => {
  const { send } = start([
    ["/v1/things", "GET", told],
    ["/v1/things", "POST", told],
    ["/v1/things/:id", "DELETE", told],
  ]);
  for (const path of ["/", "/v1", "/v1/thing", "/v1/things/", "//v1/things", "/V1/things"]) {
    assertProblem(await send("GET", path), 404, "not_found");
  }
  const wrong = await send("PATCH", "/v1/things");
  assertProblem(wrong, 405, "method_not_allowed");
  assert.equal(wrong.headers.get("allow"), "GET, POST, HEAD, OPTIONS");
  const named = await send("GET", "/v1/things/5");
  assertProblem(named, 405, "method_not_allowed");
  assert.equal(named.headers.get("allow"), "DELETE, OPTIONS");
});

Deno.test("router: named segments are decoded; one that cannot be decoded is not found", async () => {
  const { send } = start([["/v1/things/:id/parts/:part", "GET", told]]);
  const { body } = await send("GET", "/v1/things/a%2Fb/parts/%C3%A4?x=1");
  assert.deepEqual(body, { id: "a/b", part: "ä" });
  for (
    const path of ["/v1/things/%E0%A4/parts/x", "/v1/things//parts/x", "/v1/things/a/b/parts/x"]
  ) {
    assertProblem(await send("GET", path), 404, "not_found");
  }
});

Deno.test("router: HEAD works wherever GET does, and only there", async () => {
  const { send } = start([["/v1/read", "GET", told], ["/v1/write", "POST", told]]);
  assert.equal((await send("HEAD", "/v1/read")).status, 200);
  assert.equal((await send("HEAD", "/v1/write")).status, 405);
});

Deno.test("router: a sane request id is echoed, another one replaced, in every reply", async () => {
  const { send } = start([["/v1/read", "GET", told]]);
  const echoed = async (path: string, id: string) =>
    (await send("GET", path, { "X-Request-Id": id })).headers.get("x-request-id");
  for (const path of ["/v1/read", "/nothing", "/v1/nothing"]) {
    for (const sane of ["a", "0a1b-2c.3d_4e:5f/6g+7h=", "x".repeat(128)]) {
      assert.equal(await echoed(path, sane), sane);
    }
    for (const insane of ["", "a b", "x".repeat(129), "<script>", "a;b", "ä"]) {
      assert.match(await echoed(path, insane) ?? "", /^[0-9a-f-]{36}$/);
    }
  }
  const { headers } = await send("OPTIONS", "/v1/read", { "X-Request-Id": "mine" });
  assert.equal(headers.get("x-request-id"), "mine");
  const first = (await send("GET", "/v1/read")).headers.get("x-request-id");
  assert.notEqual(first, (await send("GET", "/v1/read")).headers.get("x-request-id"));
});

Deno.test("router: browsers keep to the type of every reply's body", async () => {
  const { send } = start([
    ["/v1/read", "GET", told],
    ["/v1/gone", "DELETE", () => new Response(null, { status: 204 })],
    ["/page", "GET", () => new Response("<p>", { headers: { "Content-Type": "text/html" } })],
    ["/v1/fail", "GET", () => Promise.reject(new Error("it fails"))],
  ]);
  const asked = ["GET /v1/read", "HEAD /v1/read", "OPTIONS /v1/read", "POST /v1/read", "GET /page"];
  for (const each of [...asked, "DELETE /v1/gone", "GET /v1/fail", "GET /v1/nothing"]) {
    const [method, path] = each.split(" ") as [string, string];
    const { headers } = await send(method, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff", each);
  }
});

Deno.test("router: every problem is sent with its status and its headers", async () => {
  for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
    const { send } = start([["/v1/fail", "GET", () => {
      throw new Problem(code, "Do it differently.", {
        errors: [{ code: "x", message: "y", field: "z" }],
        headers: { "Retry-After": "7" },
      });
    }]]);
    const reply = await send("GET", "/v1/fail");
    assertProblem(reply, PROBLEMS[code].status, code);
    assert.equal(reply.headers.get("retry-after"), "7");
    assert.deepEqual(reply.body.errors, [{ code: "x", message: "y", field: "z" }]);
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  }
});

Deno.test("router: an unavailable database is 503 with Retry-After", async () => {
  const { send } = start([["/v1/fail", "GET", () => {
    throw new DatabaseUnavailable("connect ECONNREFUSED 10.0.0.5:5432");
  }]]);
  const reply = await send("GET", "/v1/fail");
  assertProblem(reply, 503, "database_unavailable");
  assert.match(reply.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.ok(!JSON.stringify(reply.body).includes("10.0.0.5"));
});

Deno.test("router: an unexpected error is 500, with its cause in the log and not in the reply", async () => {
  for (const thrown of [new TypeError("x is not a function at /app/src/x.ts"), "SELECT secret"]) {
    const { send, lines } = start([["/v1/fail", "GET", () => Promise.reject(thrown)]]);
    const reply = await send("GET", "/v1/fail", { "X-Request-Id": "r1" });
    assertProblem(reply, 500, "internal_error");
    assert.doesNotMatch(JSON.stringify(reply.body), /function|SELECT|\/app|\.ts/);
    const logged = lines.map((line) => JSON.parse(line)).find(({ level }) => level === "error");
    assert.equal(logged.requestId, "r1");
    assert.match(logged.reason, /not a function|SELECT secret/);
  }
});

Deno.test("router: only patterns and known methods are observed, so that metrics stay few", async () => {
  const { send, observed } = start([["/v1/things/:id", "GET", told], ["/v1/gone", "POST", () => {
    throw new ClientGone("gone");
  }]]);
  await send("GET", "/v1/things/5");
  await send("GET", "/v1/anything");
  await send("HEAD", "/v1/things/6");
  await send("MADEUP", "/v1/things/6");
  await send("POST", "/v1/gone");
  assert.deepEqual(observed, [
    ["/v1/things/:id", "GET", 200],
    ["unknown", "GET", 404],
    ["/v1/things/:id", "HEAD", 200],
    ["/v1/things/:id", "other", 405],
    ["/v1/gone", "POST", 499],
  ]);
});

Deno.test("router: /v1 and the SDK have CORS headers, the operators' pages do not", async () => {
  const { send } = start([["/sdk.js", "GET", told], ["/metrics", "GET", told]]);
  const allowed = async (path: string) =>
    (await send("GET", path)).headers.get("access-control-allow-origin");
  assert.equal(await allowed("/sdk.js"), "*");
  assert.equal(await allowed("/metrics"), null);
});

Deno.test("router: below a base path, with and without the prefix", async () => {
  const { send } = start([["/v1/read", "GET", told], ["/", "GET", told]], "/a/b");
  for (const path of ["/a/b/v1/read", "/v1/read", "/a/b", "/a/b/", "/"]) {
    assert.equal((await send("GET", path)).status, 200, path);
  }
  for (const path of ["/a/v1/read", "/a/bc/v1/read", "/a/b/a/b/v1/read"]) {
    assert.equal((await send("GET", path)).status, 404, path);
  }
});

Deno.test("router: a path in Location has the base path, whether or not a proxy removes it", async () => {
  const made = ({ url }: Exchange<string>) =>
    new Response(null, { status: 201, headers: { Location: `${url.pathname}/5` } });
  const led = () =>
    new Response(null, { status: 303, headers: { Location: "https://x.example/" } });
  const { send } = start([["/v1/things", "POST", made], ["/v1/led", "GET", led]], "/analytics");
  for (const base of ["", "/analytics"]) {
    const { headers } = await send("POST", `${base}/v1/things`);
    assert.equal(headers.get("location"), "/analytics/v1/things/5");
  }
  assert.equal((await send("GET", "/v1/led")).headers.get("location"), "https://x.example/");
});
