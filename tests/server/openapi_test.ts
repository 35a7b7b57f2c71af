import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { PROBLEMS } from "../../src/problem.ts";
import { assertProblem, type Json, newEvent, type Reply, sharedApp } from "../support/app.ts";

const server = sharedApp({ BASE_PATH: "/analytics" });

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: Json[];
  readonly parameters: { name: string; in: string; required: boolean }[];
  readonly responses: Record<string, { description: string; content?: Json; headers: Json }>;
  readonly requestBody?: { required: boolean; content: Json };
}

async function document(): Promise<Json> {
  const { status, body, headers } = await server.fetch("/v1/openapi.json");
  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  return body;
}

async function operations(): Promise<[string, string, Operation][]> {
  const { paths } = await document() as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, it]): [string, string, Operation] => [path, method, it])
  );
}

Deno.test("OpenAPI: the document is 3.1, open to everyone, and served below the base path", async () => {
  const { openapi, servers, info } = await document();
  assert.equal(openapi, "3.1.0");
  assert.deepEqual(servers, [{ url: "/analytics" }]);
  assert.equal((info as Json).title, "Footfall");
});

Deno.test("OpenAPI: it is sent gzipped to whoever takes that, and not again to whoever has it", async () => {
  const plain = await server.fetch("/v1/openapi.json");
  const etag = plain.headers.get("etag");
  assert.ok(etag);
  const path = "http://footfall.test/analytics/v1/openapi.json";
  const takesGzip = new Request(path, { headers: { "Accept-Encoding": "gzip" } });
  const gzipped = await server.app.fetch(takesGzip, null);
  assert.equal(gzipped.headers.get("content-encoding"), "gzip");
  assert.deepEqual(JSON.parse(gunzipSync(await gzipped.bytes()).toString()), plain.body);
  const again = await server.fetch("/v1/openapi.json", { headers: { "If-None-Match": etag } });
  assert.equal(again.status, 304);
});

Deno.test("OpenAPI: every reference leads somewhere in the document", async () => {
  const whole = await document();
  let references = 0;
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name === "$ref") {
        references++;
        assert.match(member, /^#\//);
        let at: unknown = whole;
        for (const part of member.slice(2).split("/")) at = (at as Json)?.[part];
        assert.ok(at !== undefined, member);
      } else walk(member);
    }
  };
  walk(whole);
  assert.ok(references > 0);
});

Deno.test("OpenAPI: the difference of each compared rate is documented as points", async () => {
  const whole = await document();
  const resolved = (schema: Json): Json => {
    const at = schema["$ref"];
    if (typeof at !== "string") return schema;
    return at.slice(2).split("/").reduce<unknown>(
      (part, name) => (part as Json)[name],
      whole,
    ) as Json;
  };
  const points: string[] = [];
  const look = (schema: Json, place: string): void => {
    const { properties = {}, items, anyOf = [] } = resolved(schema) as {
      properties?: Record<string, Json>;
      items?: Json;
      anyOf?: Json[];
    };
    for (const [name, member] of Object.entries(properties)) {
      if (/points$/i.test(name)) points.push(`${place}.${name}`);
      else if (/rate|conversionfrom/i.test(name)) {
        assert.ok(`${name}Points` in properties, `${place}.${name} has no points beside it`);
      } else look(member, `${place}.${name}`);
    }
    for (const part of [...items === undefined ? [] : [items], ...anyOf]) look(part, place);
  };
  for (const [path, method, { responses }] of await operations()) {
    if (method !== "get") continue;
    const { schema } = (responses["200"]?.content?.["application/json"] ?? {}) as { schema?: Json };
    const { change } = (resolved(schema ?? {}).properties ?? {}) as { change?: Json };
    if (change !== undefined) look(change, `${path} change`);
  }
  assert.deepEqual(points.map((place) => place.replace(/^\S+ change\.?/, "")).toSorted(), [
    "average.points",
    "bounceRatePoints",
    "conversionRatePoints",
    "conversionRatePoints",
    "conversionRatePoints",
    "steps.conversionFromPreviousPoints",
    "steps.conversionFromPreviousPoints",
    "steps.conversionFromStartPoints",
    "steps.conversionFromStartPoints",
  ]);
});

Deno.test("OpenAPI: operation ids differ, path parameters are declared, and each has a summary", async () => {
  const all = await operations();
  assert.equal(new Set(all.map(([, , it]) => it.operationId)).size, all.length);
  for (const [path, method, it] of all) {
    assert.ok(it.summary.length > 5, `${method} ${path}`);
    const declared = it.parameters.filter((one) => one.in === "path").map((one) => one.name);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(declared, named);
  }
});

Deno.test("OpenAPI: documented operations exist: none is 404 or 405", async () => {
  for (const [path, method] of await operations()) {
    const address = path.replace(/\{\w+\}/g, "x");
    const headers = method === "get" ? {} : { "Content-Type": "application/json" };
    const { body } = await server.fetch(address, { method: method.toUpperCase(), headers });
    // An unknown share is not found either; for an unknown path the router says so.
    const isMissing = body.code === "not_found" && body.detail.startsWith("No endpoint");
    assert.ok(!isMissing && body.code !== "method_not_allowed", `${method} ${path}`);
  }
});

Deno.test("OpenAPI: undocumented methods are 405, and name the documented ones", async () => {
  const byPath = Map.groupBy(await operations(), ([path]) => path);
  for (const [path, entries] of byPath) {
    const documented = new Set(entries.map(([, method]) => method.toUpperCase()));
    const address = path.replace(/\{\w+\}/g, "x");
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      if (documented.has(method)) continue;
      const reply = await server.fetch(address, { method });
      assertProblem(reply, 405, "method_not_allowed");
      const allow = new Set(reply.headers.get("allow")?.split(", "));
      assert.ok(allow.has("OPTIONS"));
      for (const one of documented) assert.ok(allow.has(one), `${path} ${one}`);
      assert.equal(allow.has("HEAD"), documented.has("GET"));
    }
  }
});

Deno.test("OpenAPI: every problem code is listed, and replies list theirs by status", async () => {
  const { components } = await document() as { components: { schemas: { Problem: Json } } };
  const { code } = components.schemas.Problem.properties as { code: { enum: string[] } };
  assert.deepEqual(code.enum, Object.keys(PROBLEMS));
  const post = (await operations()).find(([path, method]) =>
    path === "/v1/events" && method === "post"
  )?.[2];
  assert.ok(post);
  const named = Object.values(post.responses).map((one) => one.description).join(" ");
  for (
    const one of [
      ...["invalid_json", "invalid_encoding", "invalid_envelope", "invalid_events"],
      ...["missing_api_key", "invalid_api_key", "revoked_api_key", "expired_api_key"],
      ...["origin_not_allowed", "key_not_allowed_here", "body_timeout", "body_too_large"],
      ...["too_many_events", "unsupported_media_type", "unsupported_encoding", "rate_limited"],
      ...["overloaded", "database_unavailable", "shutting_down"],
    ]
  ) assert.ok(named.includes(`\`${one}\``), one);
  assert.deepEqual(post.security, [{ apiKey: [] }]);
  assert.deepEqual(Object.keys(post.requestBody?.content ?? {}), [
    "application/json",
    "text/plain",
  ]);
});

const DOCUMENTED_HEADERS = ["x-request-id", "retry-after", "etag", "location"];

/** Asserts that an operation documents a reply: status, code of a problem, media type and headers. */
function assertDocumented({ responses }: Operation, reply: Reply, of: string): void {
  const told = responses[reply.status];
  assert.ok(told !== undefined, `${of} ${reply.status} ${JSON.stringify(reply.body)}`);
  const { code } = reply.body ?? {};
  if (reply.status >= 400 && typeof code === "string") {
    assert.ok(told.description.includes(`\`${code}\``), `${of} ${reply.status} ${code}`);
  }
  const type = reply.headers.get("content-type")?.split(";")[0];
  // A 304 has no body; it may name the type of the one that the caller has.
  if (type !== undefined && reply.status !== 304) {
    assert.ok(type in (told.content ?? {}), `${of} ${reply.status} ${type}`);
  }
  const headers = Object.keys(told.headers).map((name) => name.toLowerCase());
  for (const name of DOCUMENTED_HEADERS) {
    assert.ok(!reply.headers.has(name) || headers.includes(name), `${of} ${reply.status} ${name}`);
  }
}

Deno.test("OpenAPI: the problems of JSON bodies are documented for the routes that read one, and only there", async () => {
  const bodies: [HeadersInit, string][] = [
    [{ "Content-Type": "application/json" }, "{"],
    [{ "Content-Type": "application/json" }, '"no object"'],
    [{ "Content-Type": "text/csv" }, "a,b"],
    [{ "Content-Type": "application/json", "Content-Encoding": "br" }, "{}"],
    [{ "Content-Type": "application/json", "Content-Encoding": "gzip" }, "not gzip"],
  ];
  const seen = new Set<string>();
  for (const [path, method, operation] of await operations()) {
    if (operation.requestBody === undefined) {
      const named = Object.values(operation.responses).map((one) => one.description).join();
      assert.doesNotMatch(named, /invalid_json|body_too_large|unsupported_/, `${method} ${path}`);
      continue;
    }
    for (const [headers, body] of bodies) {
      const address = path.replace(/\{\w+\}/g, "x");
      const all = new Headers(headers);
      all.set("Authorization", `Bearer ${server.app.controlToken}`);
      const reply = await server.fetch(address, {
        method: method.toUpperCase(),
        headers: all,
        body,
      });
      assertDocumented(operation, reply, `${method} ${path}`);
      seen.add(reply.body.code);
    }
  }
  for (
    const code of ["invalid_json", "invalid_encoding", "invalid_body", "unsupported_media_type"]
  ) assert.ok(seen.has(code), code);
});

Deno.test("OpenAPI: a body is required where the server refuses a request without one", async () => {
  const { id } = await server.project({ name: "Bodies" });
  const key = await server.admin("POST", `/v1/projects/${id}/keys`, { kind: "public" });
  const asked: [string, string, string, number][] = [
    ["post", "/v1/projects", "/v1/projects", 400],
    ["patch", "/v1/projects/{id}", `/v1/projects/${id}`, 200],
    ["post", "/v1/projects/{id}/keys", `/v1/projects/${id}/keys`, 400],
    [
      "post",
      "/v1/projects/{id}/keys/{keyId}/rotate",
      `/v1/projects/${id}/keys/${key.body.id}/rotate`,
      201,
    ],
    ["put", "/v1/goals/{slug}", `/v1/goals/a?project=${id}`, 400],
    ["post", "/v1/projects/{id}/import/file", `/v1/projects/${id}/import/file`, 400],
  ];
  const all = await operations();
  for (const [method, path, address, status] of asked) {
    const headers = { Authorization: `Bearer ${server.app.controlToken}` };
    const reply = await server.fetch(address, { method: method.toUpperCase(), headers });
    assert.equal(reply.status, status, `${path} ${JSON.stringify(reply.body)}`);
    const operation = all.find(([at, by]) => at === path && by === method)![2];
    assert.equal(operation.requestBody!.required, status === 400, path);
  }
  const events = all.find(([at, by]) => at === "/v1/events" && by === "post")![2];
  assert.equal(events.requestBody!.required, true);
});

Deno.test("OpenAPI: the replies of a server that moves or is overloaded are documented", async () => {
  const all = await operations();
  const responses = (path: string) =>
    all.find(([at, by]) => at === path && by === "get")![2].responses;
  for (const path of ["/v1/kpis", "/v1/events", "/v1/funnels/{slug}"]) {
    const { description, headers } = responses(path)["503"]!;
    for (const code of ["moving", "moved", "overloaded"]) {
      assert.ok(description.includes(`\`${code}\``), `${path} ${code}`);
    }
    assert.deepEqual(headers["Retry-After"], { $ref: "#/components/headers/Retry-After" });
    assert.match(responses(path)["409"]!.description, /`conflict`/);
  }
  assert.match(responses("/v1/events")["400"]!.description, /`cursor_expired`/);
  assert.doesNotMatch(responses("/share/{shareId}")["503"]!.description, /`overloaded`/);
});

Deno.test("OpenAPI: replies of other types are documented", async () => {
  const { id, publicKey } = await server.project({ name: "Shapes" });
  const visit = { n: "pageview", u: "https://shop.example/", d: publicKey };
  const told = { jsonrpc: "2.0", method: "notifications/initialized" };
  const json = { "Content-Type": "application/json" };
  const access = { Authorization: `Bearer ${server.app.controlToken}` };
  const mcp = { ...json, ...access, Accept: "application/json, text/event-stream" };
  const project = { method: "POST", headers: { ...json, ...access }, body: '{"name":"New"}' };
  const asked: [string, string, number, RequestInit?][] = [
    ["/share/{shareId}", "/share/none", 404],
    ["/readyz", "/readyz", 200],
    ["/api/event", "/api/event", 202, { method: "POST", body: JSON.stringify(visit) }],
    ["/api/event", "/api/event", 400, { method: "POST", body: "{" }],
    ["/array/{key}/config.js", "/array/x/config.js", 200],
    ["/mcp", "/mcp", 202, { method: "POST", headers: mcp, body: JSON.stringify(told) }],
    ["/v1/projects", "/v1/projects", 201, project],
    ["/v1/kpis", `/v1/kpis?project=${id}`, 200, { headers: access }],
    ["/metrics", "/metrics", 403],
  ];
  const all = await operations();
  for (const [path, address, status, init = {}] of asked) {
    const method = init.method?.toLowerCase() ?? "get";
    const operation = all.find(([at, by]) => at === path && by === method)![2];
    const reply = await server.fetch(address, init);
    assert.equal(reply.status, status, `${address} ${JSON.stringify(reply.body)}`);
    assertDocumented(operation, reply, `${method} ${path}`);
  }
  const of = (path: string, method: string) =>
    all.find(([at, by]) => at === path && by === method)![2];
  assert.ok("application/json" in of("/readyz", "get").responses["503"]!.content!);
  assert.deepEqual(of("/metrics", "get").security, [{}, { metricsToken: [] }]);
  const frames = of("/v1/restorations/frames", "post");
  assert.deepEqual(Object.keys(frames.requestBody!.content), ["application/octet-stream"]);
  assert.deepEqual(
    frames.parameters.map(({ name, required }) => [name, required]),
    [["archive", true], ["kind", true], ["project", false]],
  );
});

Deno.test("OpenAPI: other successes are documented: 201, 304 and other types", async () => {
  const { id } = await server.project({ name: "Documented" });
  const all = await operations();
  const steps = JSON.stringify([{ name: "a" }]);
  const asked: [string, string, RequestInit?][] = [
    ["/v1/goals/{slug}", "put", { body: '{"title":"A","match":{"name":"a"}}' }],
    ["/v1/funnels/{slug}", "put", { body: `{"title":"A","steps":${steps}}` }],
    ["/v1/segments/{slug}", "put", { body: '{"title":"A","filters":[]}' }],
    ["/v1/webhooks/{slug}", "put", { body: '{"title":"A","url":"https://hooks.example/a"}' }],
    ["/v1/kpis", "get", { headers: { "If-None-Match": "*" } }],
    ["/v1/overview", "get", { headers: { "If-None-Match": "*" } }],
    ["/v1/events", "get", { headers: { "If-None-Match": "*" } }],
    ["/v1/events", "get", { headers: { Accept: "application/x-ndjson" } }],
    ...["/", "/sdk.js", "/script.js", "/assets/app.js", "/array/{key}/array.js"].flatMap(
      (path): [string, string, RequestInit?][] => [
        [path, "get"],
        [path, "get", { headers: { "If-None-Match": "*" } }],
      ],
    ),
  ];
  const seen = new Set<number>();
  // The second request does not make it anew.
  for (const [path, method, init] of [...asked, ...asked]) {
    const address = `${path.replace(/\{\w+\}/, "a")}?project=${id}`;
    const access = { Authorization: `Bearer ${server.app.controlToken}` };
    const headers = { ...access, "Content-Type": "application/json", ...init?.headers };
    const reply = await server.fetch(address, { ...init, method: method.toUpperCase(), headers });
    const documented = all.find(([at, by]) => at === path && by === method)![2];
    assertDocumented(documented, reply, `${method} ${path}`);
    seen.add(reply.status);
  }
  assert.deepEqual([...seen].sort(), [200, 201, 304]);
});

Deno.test("OpenAPI: an event's members may be null, its objects too, as the server takes them", async () => {
  const { components } = await document() as { components: { schemas: { Event: Json } } };
  const { eventId: _, ...optional } = components.schemas.Event.properties as Record<string, Json>;
  const [context] = optional["context"]!["anyOf"] as [{ properties: Record<string, Json> }];
  const nothing = (members: Json) =>
    Object.fromEntries(Object.keys(members).map((name) => [name, null]));
  const project = await server.project();
  const event = { ...newEvent(), ...nothing(optional), context: nothing(context.properties) };
  assert.equal((await server.post(project, [event])).body.accepted, 1);
  for (const [name, schema] of Object.entries({ ...optional, ...context.properties })) {
    if (schema["type"] === undefined) assert.match(JSON.stringify(schema), /"type":"null"/, name);
    else assert.ok([schema["type"]].flat().includes("null"), name);
  }
});

Deno.test("OpenAPI: a job that is waited for has a Location, like one that is queued", async () => {
  const path = "/v1/internal/jobs/heatmap-captures";
  const post = (await operations()).find(([at, by]) => at === path && by === "post")![2];
  assert.deepEqual(post.parameters.map((one) => [one.in, one.name]), [["header", "Prefer"]]);
  const location = { $ref: "#/components/headers/Location" };
  for (const status of ["200", "202"]) {
    assert.deepEqual(post.responses[status]!.headers["Location"], location);
  }
});

Deno.test("OpenAPI: the documented parameters of GET /v1/events are those that it accepts", async () => {
  const get = (await operations()).find(([path, method]) =>
    path === "/v1/events" && method === "get"
  )?.[2];
  const project = await server.project();
  await server.post(project, [newEvent()]);
  const names = get?.parameters.map((one) => one.name) ?? [];
  assert.ok(names.length > 5);
  for (const name of names) {
    const { body } = await server.read(project, name === "project" ? {} : { [name]: "" });
    assert.equal(body.code, undefined, name);
  }
});

Deno.test("OpenAPI: it lists what is wrong with a body's members", async () => {
  const { components } = await document() as { components: { schemas: { Problem: unknown } } };
  const told = JSON.stringify(components.schemas.Problem);
  const codes = new Set<string>();
  for (const body of [{ slug: "a" }, { name: 5 }, { name: "" }]) {
    const reply = await server.admin("POST", "/v1/projects", body);
    for (const { code } of reply.body.errors) codes.add(code);
  }
  assert.deepEqual([...codes].sort(), [
    ...["invalid_type", "invalid_value", "required", "unknown_member"],
  ]);
  for (const code of codes) assert.match(told, new RegExp(`\\b${code}\\b`));
});
