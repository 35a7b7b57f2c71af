import assert from "node:assert/strict";
import { onBothEngines } from "../support/databases.ts";
import { type Answer, authServer, openMigrated } from "./auth_server.ts";

function fieldsOf({ body }: Answer): string[] {
  return body.errors.map((part: { field: string; code: string }) => `${part.field} ${part.code}`);
}

onBothEngines("postProject: 201 with the project, which can then be read", async (_, db) => {
  const server = authServer(await openMigrated(db), { basePath: "/analytics" });
  const admin = await server.grant();
  const least = await server.call("POST", "/analytics/v1/projects", admin, { name: " Shop " });
  assert.equal(least.status, 201);
  const { id, createdAt, ...rest } = least.body;
  assert.match(id, /^prj_[A-Za-z0-9]{16}$/);
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    name: "Shop",
    siteUrl: null,
    timezone: "UTC",
    allowedOrigins: [],
    ipStorage: null,
    retentionDays: null,
  });
  const location = least.headers.get("location") ?? "";
  assert.equal(location, `/analytics/v1/projects/${id}`);
  assert.deepEqual((await server.call("GET", location, admin)).body, least.body);

  const full = {
    id: "prj_my-own_1",
    name: "Blog",
    siteUrl: "https://blog.example/start",
    timezone: "Europe/Berlin",
    allowedOrigins: [
      "https://Blog.example:443/",
      "https://*.Blog.example",
      "http://127.0.0.1:3000",
    ],
    ipStorage: "truncated",
    retentionDays: 365,
  };
  const created = await server.call("POST", "/v1/projects", admin, full);
  assert.deepEqual({ ...created.body, createdAt: 0 }, {
    ...full,
    allowedOrigins: ["https://blog.example", "https://*.blog.example", "http://127.0.0.1:3000"],
    createdAt: 0,
  });
  const again = await server.call("POST", "/v1/projects", admin, full);
  assert.deepEqual([again.status, again.body.code], [409, "conflict"]);
});

onBothEngines("postProject: reports every invalid member at once", async (_, db) => {
  const server = authServer(await openMigrated(db));
  const admin = await server.grant();
  const wrong = await server.call("POST", "/v1/projects", admin, {
    id: "shop",
    siteUrl: "javascript:alert(1)",
    timezone: "+01:00",
    allowedOrigins: ["https://ok.example", "https://shop.example/path", "*"],
    ipStorage: "half",
    retentionDays: 0.5,
    owner: "me",
    colour: "red",
  });
  assert.deepEqual([wrong.status, wrong.body.code], [400, "invalid_body"]);
  assert.deepEqual(fieldsOf(wrong).sort(), [
    "allowedOrigins.1 invalid_value",
    "allowedOrigins.2 invalid_value",
    "colour unknown_member",
    "id invalid_value",
    "ipStorage invalid_value",
    "name required",
    "owner unknown_member",
    "retentionDays invalid_type",
    "siteUrl invalid_value",
    "timezone invalid_value",
  ]);
  const hostile: [string, unknown][] = [
    ["name", ""],
    ["name", "   "],
    ["name", "a\u0000b"],
    ["name", "\ud800"],
    ["name", "x".repeat(201)],
    ["name", 7],
    ["name", null],
    ["siteUrl", "https://user:secret@shop.example"],
    ["siteUrl", `https://shop.example/${"x".repeat(2048)}`],
    ["siteUrl", `https://${"ü.".repeat(600)}example`],
    ["timezone", "Mars/Olympus"],
    ["timezone", null],
    ["retentionDays", 0],
    ["retentionDays", 36_501],
    ["allowedOrigins", Array(101).fill("https://shop.example")],
    ["allowedOrigins", "https://shop.example"],
    ["id", "prj_"],
    ["id", "prj_a/b"],
  ];
  for (const [member, value] of hostile) {
    const body = { name: "Shop", [member]: value };
    const answer = await server.call("POST", "/v1/projects", admin, body);
    assert.equal(answer.status, 400, `${member}: ${JSON.stringify(value)?.slice(0, 80)}`);
    assert.deepEqual(answer.body.errors.map((part: { field: string }) => part.field), [member]);
  }
  assert.deepEqual((await server.call("GET", "/v1/projects", admin)).body, { projects: [] });
});

onBothEngines(
  "patchProjectById: changes named members, null clears, the others stay",
  async (_, db) => {
    const server = authServer(await openMigrated(db));
    const admin = await server.grant();
    const before = await server.call("POST", "/v1/projects", admin, {
      id: "prj_shop",
      name: "Shop",
      siteUrl: "https://shop.example",
      ipStorage: "none",
      retentionDays: 30,
      allowedOrigins: ["https://shop.example"],
    });
    const path = "/v1/projects/prj_shop";
    assert.deepEqual((await server.call("PATCH", path, admin, {})).body, before.body);
    const change = { timezone: "Asia/Tokyo", siteUrl: null, ipStorage: null, allowedOrigins: [] };
    const after = await server.call("PATCH", path, admin, change);
    assert.equal(after.status, 200);
    assert.deepEqual(after.body, { ...before.body, ...change });
    assert.deepEqual((await server.call("GET", path, admin)).body, after.body);
    const refused = await server.call("PATCH", path, admin, { id: "prj_x", name: null });
    assert.deepEqual(fieldsOf(refused).sort(), ["id unknown_member", "name invalid_type"]);
  },
);

onBothEngines("projects: a token has access only to its own", async (_, db) => {
  const server = authServer(await openMigrated(db));
  const admin = await server.grant();
  for (const id of ["prj_a", "prj_b", "prj_c"]) {
    await server.call("POST", "/v1/projects", admin, { id, name: id });
  }
  const ids = async (token: string) =>
    (await server.call("GET", "/v1/projects", token)).body.projects
      .map((project: { id: string }) => project.id);
  assert.deepEqual(await ids(admin), ["prj_a", "prj_b", "prj_c"]);
  const own = await server.grant({ projects: ["prj_c", "prj_a", "prj_gone"] });
  assert.deepEqual(await ids(own), ["prj_a", "prj_c"]);
  assert.deepEqual(await ids(await server.grant({ projects: [] })), []);

  const calls: [string, string, unknown?][] = [
    ["GET", "/v1/projects/prj_b"],
    ["PATCH", "/v1/projects/prj_b", { name: "Mine" }],
    ["GET", "/v1/projects/prj_b/keys"],
    ["POST", "/v1/projects/prj_b/keys", { kind: "public" }],
    ["DELETE", "/v1/projects/prj_b/keys/key_1"],
    ["POST", "/v1/projects/prj_b/keys/key_1/rotate", {}],
    ["POST", "/v1/projects", { name: "Another" }],
  ];
  const reader = await server.grant({ scopes: ["read", "write", "jobs"] });
  for (const [method, path, body] of calls) {
    const bare = await server.call(method, path, undefined, body);
    assert.deepEqual([bare.status, bare.body.code], [401, "missing_token"]);
    for (const token of [own, reader]) {
      const { status, body: problem } = await server.call(method, path, token, body);
      assert.deepEqual([status, problem.code], [403, "insufficient_scope"], `${method} ${path}`);
    }
  }
  for (const unknown of ["prj_gone", "prj_%00", "%F0%9F%92%A9", "x".repeat(300)]) {
    for (const path of [`/v1/projects/${unknown}`, `/v1/projects/${unknown}/keys`]) {
      const { status, body } = await server.call("GET", path, admin);
      assert.deepEqual([status, body.code], [404, "not_found"], path);
    }
  }
  const patched = await server.call("PATCH", "/v1/projects/prj_gone", admin, { name: "x" });
  assert.equal(patched.status, 404);
});

onBothEngines(
  "projects: a lost database is 503 with Retry-After, never 401 or 404",
  async (_, db) => {
    const sql = await openMigrated(db);
    const configured = authServer(sql);
    const unconfigured = authServer(sql, { jwt: { secret: null } });
    const admin = await configured.grant();
    await sql.close();
    for (const server of [configured, unconfigured]) {
      for (const path of ["/v1/projects", "/v1/projects/prj_a", "/v1/session"]) {
        const { status, body, headers } = await server.call("GET", path, admin);
        assert.deepEqual([status, body.code], [503, "database_unavailable"]);
        assert.ok(headers.get("retry-after"));
      }
    }
  },
);
