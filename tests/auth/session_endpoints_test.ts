import assert from "node:assert/strict";
import { exportSPKI, generateKeyPair, SignJWT } from "jose";
import { onBothEngines } from "../support/databases.ts";
import { authServer, openMigrated } from "./auth_server.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 4);
const TOKENS = "/v1/internal/tokens";

onBothEngines(
  "getSession: the token's subject, and those of its projects that exist",
  async (_, db) => {
    const server = authServer(await openMigrated(db), { now: () => NOW_MS });
    const admin = await server.grant();
    for (const id of ["prj_a", "prj_b"]) {
      const body = { id, name: `The ${id}`, siteUrl: "https://a.example", timezone: "Asia/Tokyo" };
      await server.call("POST", "/v1/projects", admin, body);
    }
    const shown = (id: string) => ({
      id,
      name: `The ${id}`,
      siteUrl: "https://a.example",
      timezone: "Asia/Tokyo",
    });
    const some = {
      subject: "ada",
      scopes: ["read"],
      projects: ["prj_b", "prj_gone"],
      ttlSeconds: 60,
    };
    assert.deepEqual((await server.call("GET", "/v1/session", await server.grant(some))).body, {
      subject: "ada",
      scopes: ["read"],
      projects: [shown("prj_b")],
      expiresAt: "2026-11-21T04:01:00.000Z",
    });
    const every = await server.call("GET", "/v1/session", admin);
    assert.deepEqual(every.body.projects, [shown("prj_a"), shown("prj_b")]);
    const nothing = await server.grant({ scopes: [], projects: [] });
    assert.deepEqual((await server.call("GET", "/v1/session", nothing)).body.projects, []);
    const bad = await server.call("GET", "/v1/session", "not.a.token");
    assert.deepEqual([bad.status, bad.body.code], [401, "invalid_token"]);
    assert.match(bad.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
    const old = await server.call("GET", "/v1/session", await server.grant({ ttlSeconds: 0 }));
    assert.deepEqual([old.status, old.body.code], [401, "expired_token"]);
  },
);

onBothEngines("getSession: thousands of projects come gzipped", async (_, db) => {
  const sql = await openMigrated(db);
  const server = authServer(sql);
  await sql.query(
    `INSERT INTO projects (public_id, name, timezone)
    SELECT 'prj_' || n, 'Project ' || n, 'UTC' FROM generate_series(1, 2000) n`,
  );
  const { body, headers } = await server.call("GET", "/v1/session", await server.grant());
  assert.equal(headers.get("content-encoding"), "gzip");
  assert.deepEqual([body.projects.length, body.projects.at(-1).name], [2000, "Project 2000"]);
});

onBothEngines(
  "postToken: grants what is asked for, and no more than the caller has",
  async (_, db) => {
    const server = authServer(await openMigrated(db), { now: () => NOW_MS });
    const admin = await server.grant({ scopes: ["read", "write", "jobs", "admin"] });
    for (const id of ["prj_a", "prj_b"]) {
      await server.call("POST", "/v1/projects", admin, { id, name: id });
    }
    const wanted = { projects: ["prj_a"], scope: "read  write read", ttlSeconds: 60 };
    const made = await server.call("POST", TOKENS, admin, wanted);
    assert.equal(made.status, 201);
    assert.equal(made.body.expiresAt, "2026-11-21T04:01:00.000Z");
    const { subject, scopes, projects } = await server.tokens.verify(made.body.token);
    assert.deepEqual({ subject, scopes, projects }, {
      subject: "operator",
      scopes: new Set(["read", "write"]),
      projects: ["prj_a"],
    });
    const every = await server.call("POST", TOKENS, admin, {
      projects: ["*"],
      scope: "jobs",
      ttlSeconds: 315_360_000,
      subject: "cron",
    });
    assert.equal((await server.tokens.verify(every.body.token)).projects, "*");
    assert.equal((await server.tokens.verify(every.body.token)).subject, "cron");

    const limited = await server.grant({ projects: ["prj_a"], scopes: ["admin", "read"] });
    const own = { projects: ["prj_a"], scope: "read admin", ttlSeconds: 60 };
    assert.equal((await server.call("POST", TOKENS, limited, own)).status, 201);
    for (
      const more of [{ projects: ["prj_a", "prj_b"] }, { projects: ["*"] }, { scope: "write" }]
    ) {
      const { status, body } = await server.call("POST", TOKENS, limited, { ...own, ...more });
      assert.deepEqual([status, body.code], [403, "insufficient_scope"], JSON.stringify(more));
    }
    const reader = await server.grant({ scopes: ["read"] });
    assert.equal((await server.call("POST", TOKENS, reader, own)).status, 403);

    const wrong: [Record<string, unknown>, string][] = [
      [{ projects: [] }, "projects"],
      [{ projects: ["prj_a", "prj_gone"] }, "projects.1"],
      [{ projects: ["everything"] }, "projects.0"],
      [{ scope: "" }, "scope"],
      [{ scope: "read root" }, "scope"],
      [{ ttlSeconds: 0 }, "ttlSeconds"],
      [{ ttlSeconds: 315_360_001 }, "ttlSeconds"],
      [{ subject: "" }, "subject"],
      [{ alg: "none" }, "alg"],
    ];
    for (const [change, field] of wrong) {
      const { status, body } = await server.call("POST", TOKENS, admin, { ...own, ...change });
      assert.equal(status, 400, field);
      assert.deepEqual(body.errors.map((part: { field: string }) => part.field), [field]);
    }
  },
);

onBothEngines("postToken: no token outlives or outranks the one that made it", async (_, db) => {
  const server = authServer(await openMigrated(db), { now: () => NOW_MS });
  const everywhere = await server.grant({ scopes: ["admin"], ttlSeconds: 5 });
  await server.call("POST", "/v1/projects", await server.grant(), { id: "prj_a", name: "A" });
  const wanted = { projects: ["prj_a"], scope: "admin", ttlSeconds: 315_360_000 };
  const made = await server.call("POST", TOKENS, everywhere, wanted);
  assert.deepEqual([made.status, made.body.expiresAt], [201, "2026-11-21T04:00:05.000Z"]);
  assert.equal((await server.tokens.verify(made.body.token)).expiresAtMs, NOW_MS + 5_000);
  const shorter = await server.call("POST", TOKENS, everywhere, { ...wanted, ttlSeconds: 4 });
  assert.equal(shorter.body.expiresAt, "2026-11-21T04:00:04.000Z");
  for (const scope of ["read", "admin write"]) {
    const { status, body } = await server.call("POST", TOKENS, everywhere, { ...wanted, scope });
    assert.deepEqual([status, body.code], [403, "insufficient_scope"], scope);
  }
});

onBothEngines("postToken: with an identity provider, it is the one that issues", async (_, db) => {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const jwt = { secret: null, publicKey: await exportSPKI(publicKey) };
  const server = authServer(await openMigrated(db), { now: () => NOW_MS, jwt });
  const admin = await new SignJWT({ scope: "admin", projects: ["*"], exp: NOW_MS / 1000 + 60 })
    .setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
  const wanted = { projects: ["*"], scope: "read", ttlSeconds: 60 };
  const { status, body } = await server.call("POST", TOKENS, admin, wanted);
  assert.deepEqual([status, body.code], [409, "conflict"]);
  assert.match(body.detail, /identity provider/);
});
