import assert from "node:assert/strict";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import {
  API_TOKEN_CACHED_MS_MAX,
  API_TOKEN_DEFAULT_MS,
} from "../../../src/auth/api_tokens/api_token_limits.ts";
import { DAY_MS, TOKEN_LIFETIME_S_MAX } from "../../../src/limits.ts";
import { onBothEngines } from "../../support/databases.ts";
import { type AuthServer, authServer, openMigrated } from "../auth_server.ts";
import { iso, listed, made, NOW_MS, OWNER, signedIn, WANTED, world } from "./token_world.ts";

onBothEngines("API tokens: made, used, listed without the token itself, revoked", async (_, db) => {
  const { clock, one, owner } = await world(await openMigrated(db));
  const expiresAt = iso(NOW_MS + 3_600_500);
  const answer = await one.call("POST", "/v1/tokens", owner, { ...WANTED, expiresAt });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("location"), `/v1/tokens/${answer.body.id}`);
  const { id, token } = answer.body;
  assert.match(id, /^tok_[A-Za-z0-9]{22}$/);
  assert.equal(answer.body.expiresAt, iso(NOW_MS + 3_600_000), "whole seconds");

  const before = await listed(one, owner);
  assert.deepEqual(before, [{
    id,
    name: "Weekly report",
    scope: "read",
    projects: ["prj_a"],
    createdBy: "operator",
    createdAt: iso(NOW_MS),
    expiresAt: iso(NOW_MS + 3_600_000),
    lastUsedAt: null,
    status: "active",
  }]);
  assert.ok(!JSON.stringify(before).includes(token.split(".")[2]));
  const session = (await one.call("GET", "/v1/session", token)).body;
  assert.equal(session.subject, "Weekly report (operator)");
  assert.deepEqual([session.scopes, session.expiresAt], [["read"], iso(NOW_MS + 3_600_000)]);
  assert.deepEqual(session.projects.map((p: { id: string }) => p.id), ["prj_a"]);
  assert.equal((await one.call("GET", "/v1/projects", token)).status, 403);

  const gone = await one.call("DELETE", `/v1/tokens/${id}`, owner);
  assert.deepEqual([gone.status, gone.body], [204, null]);
  const refused = await one.call("GET", "/v1/session", token);
  assert.deepEqual([refused.status, refused.body.code], [401, "invalid_token"]);
  assert.match(refused.body.detail, /revoked/);
  assert.deepEqual(await listed(one, owner), []);
  for (const unknown of [id, "tok_unknown", "tok_%00", "x"]) {
    assert.equal((await one.call("DELETE", `/v1/tokens/${unknown}`, owner)).status, 404);
  }
  const audit = (await one.call("GET", "/v1/audit?limit=2", owner)).body.rows;
  assert.deepEqual(
    audit.map(({ who, what, subject, from }: Record<string, string>) => [who, what, subject, from]),
    [
      ["operator", "token.revoke", "Weekly report", "127.0.0.1"],
      [
        "operator",
        "token.create",
        `Weekly report: read on prj_a, until ${iso(NOW_MS + 3_600_000)}`,
        "127.0.0.1",
      ],
    ],
  );

  const short = await made(one, owner, { expiresAt: iso(NOW_MS + 1_000) });
  assert.equal((await one.call("GET", "/v1/session", short.token)).status, 200);
  clock.nowMs += 1_000;
  assert.equal((await one.call("GET", "/v1/session", short.token)).body.code, "expired_token");
  assert.equal((await listed(one, owner))[0]?.status, "expired");
});

onBothEngines("API tokens: a revocation reaches every server within a second", async (_, db) => {
  const { clock, one, two, owner } = await world(await openMigrated(db));
  const { id, token } = await made(one, owner);
  const status = async (server: AuthServer) =>
    (await server.call("GET", "/v1/session", token)).status;
  assert.deepEqual([await status(one), await status(two)], [200, 200]);
  await one.call("DELETE", `/v1/tokens/${id}`, owner);
  assert.equal(await status(one), 401);
  clock.nowMs += API_TOKEN_CACHED_MS_MAX;
  assert.equal(await status(two), 200, "believed for so long, and looked up meanwhile");
  clock.nowMs += 1;
  assert.equal(await status(two), 401);
  assert.ok(API_TOKEN_CACHED_MS_MAX < 1_000);
});

onBothEngines("API tokens: never exceed their maker's rights and expiry", async (_, db) => {
  const { one, owner } = await world(await openMigrated(db));
  const caller = await one.grant({
    scopes: ["read", "write"],
    projects: ["prj_a"],
    ttlSeconds: 60,
  });
  const beyond: Record<string, unknown>[] = [
    { scope: "read admin" },
    { scope: "people" },
    { scope: "aggregates" },
    { projects: ["prj_b"] },
    { projects: ["prj_a", "prj_b"] },
    { projects: ["*"] },
  ];
  for (const change of beyond) {
    const { status, body } = await one.call("POST", "/v1/tokens", caller, { ...WANTED, ...change });
    assert.deepEqual([status, body.code], [403, "insufficient_scope"], JSON.stringify(change));
  }
  for (const expiresAt of [null, undefined, iso(NOW_MS + DAY_MS)]) {
    assert.equal((await made(one, caller, { expiresAt })).expiresAt, iso(NOW_MS + 60_000));
  }
  const write = await one.grant({ scopes: ["write", "admin", "aggregates"] });
  for (const [method, path] of [["GET", ""], ["POST", ""], ["DELETE", "/tok_1"]] as const) {
    const { status } = await one.call(
      method,
      `/v1/tokens${path}`,
      write,
      method === "POST" ? WANTED : undefined,
    );
    assert.equal(status, 403, "who cannot read has no tokens");
  }
  assert.equal((await listed(one, owner)).length, 3);
});

onBothEngines("API tokens: invalid bodies are refused, and make nothing", async (_, db) => {
  const { one, owner } = await world(await openMigrated(db));
  const wrong: [Record<string, unknown>, string][] = [
    [{ name: " " }, "name"],
    [{ name: "x".repeat(201) }, "name"],
    [{ scope: "" }, "scope"],
    [{ scope: "read everything" }, "scope"],
    [{ projects: [] }, "projects"],
    [{ projects: ["prj_unknown"] }, "projects.0"],
    [{ expiresAt: "tomorrow" }, "expiresAt"],
    [{ expiresAt: iso(NOW_MS) }, "expiresAt"],
    [{ expiresAt: iso(NOW_MS + TOKEN_LIFETIME_S_MAX * 1000 + 1) }, "expiresAt"],
    [{ id: "tok_mine" }, "id"],
  ];
  for (const [change, field] of wrong) {
    const { status, body } = await one.call("POST", "/v1/tokens", owner, { ...WANTED, ...change });
    assert.deepEqual([status, body.code], [400, "invalid_body"], JSON.stringify(change));
    assert.deepEqual(body.errors.map((part: { field: string }) => part.field), [field]);
    if (field !== "scope") continue;
    const [{ message }] = body.errors;
    assert.match(message, /^Name one or more of read, write, jobs, admin, people, separated/);
  }
  assert.deepEqual(await listed(one, owner), []);
});

onBothEngines(
  "API tokens: a signed-in person makes lasting ones, which end with the person's rights",
  async (_, db) => {
    const sql = await openMigrated(db);
    const { clock, one, two, owner } = await world(sql);
    const annAs = await signedIn(sql, one, "ann", "admin", "{*}");
    const ann = await annAs(["read", "admin"]);
    const bob = await (await signedIn(sql, one, "bob", "viewer", "{prj_a}"))(["read"], ["prj_a"]);
    const { token } = await made(one, ann, { scope: "read admin", projects: ["*"] });
    const { token: lesser, expiresAt } = await made(one, ann);
    assert.equal(expiresAt, iso(NOW_MS + API_TOKEN_DEFAULT_MS), "longer than the browser's own");
    const far = await made(one, ann, { expiresAt: iso(NOW_MS + TOKEN_LIFETIME_S_MAX * 1000) });
    assert.equal(far.expiresAt, iso(NOW_MS + TOKEN_LIFETIME_S_MAX * 1000));
    const handed = await one.call("POST", "/v1/internal/tokens", ann, {
      ...{ projects: ["*"], scope: "read", ttlSeconds: 60, subject: "a friend" },
    });
    const friends = await made(one, handed.body.token, { expiresAt: iso(NOW_MS + DAY_MS) });
    assert.equal(friends.expiresAt, iso(NOW_MS + 60_000), "whom they hand a token to is not they");
    await one.call("DELETE", `/v1/tokens/${friends.id}`, ann);
    await made(one, bob);
    assert.deepEqual([(await listed(one, ann)).length, (await listed(one, bob)).length], [3, 1]);
    assert.equal((await listed(one, owner)).length, 4, "an owner sees everybody's");
    const foreign = await one.call("DELETE", `/v1/tokens/${far.id}`, bob);
    assert.equal(foreign.status, 404, "nobody revokes another one's");

    clock.nowMs += API_TOKEN_CACHED_MS_MAX + 1;
    const later = await annAs(["read", "admin"]);
    assert.equal((await two.call("GET", "/v1/projects", token)).status, 200);
    await sql.query("UPDATE people SET role = 'viewer' WHERE person_id = 'per_ann'");
    clock.nowMs += API_TOKEN_CACHED_MS_MAX + 1;
    const refused = await two.call("GET", "/v1/projects", token);
    assert.deepEqual([refused.status, refused.body.code], [401, "invalid_token"]);
    assert.match(refused.body.detail, /may do more than the person/);
    assert.equal((await two.call("GET", "/v1/session", lesser)).status, 200);
    assert.deepEqual(
      (await listed(one, owner)).map(({ status }) => status).toSorted(),
      ["active", "active", "active", "exceeding"],
    );
    await sql.query("UPDATE people SET projects = '{prj_b}' WHERE person_id = 'per_ann'");
    clock.nowMs += API_TOKEN_CACHED_MS_MAX + 1;
    assert.equal(
      (await two.call("GET", "/v1/session", lesser)).status,
      401,
      "prj_a is theirs no more",
    );

    await sql.query("DELETE FROM people WHERE person_id = 'per_ann'");
    assert.deepEqual(
      (await listed(one, owner)).map(({ name }) => name),
      ["Weekly report"],
      "bob's",
    );
    clock.nowMs += API_TOKEN_CACHED_MS_MAX + 1;
    assert.equal((await two.call("GET", "/v1/session", far.token)).status, 401);
    assert.equal((await two.call("GET", "/v1/session", later)).status, 401);
  },
);

onBothEngines("API tokens: tokens made with one end with it", async (_, db) => {
  const sql = await openMigrated(db);
  const { one, owner } = await world(sql);
  const parent = await made(one, owner, { scope: "read admin", projects: ["*"] });
  const child = await made(one, parent.token, { name: "Child" });
  const grandchild = await made(one, child.token, { name: "Grandchild" });
  const stateless = await one.call("POST", "/v1/internal/tokens", parent.token, {
    ...{ projects: ["*"], scope: "read", ttlSeconds: 60, subject: "ann@example.com" },
  });
  assert.equal(stateless.status, 201);
  const made_ = [child.token, grandchild.token, stateless.body.token as string];
  for (const token of made_) {
    assert.equal((await one.call("GET", "/v1/session", token)).status, 200);
  }
  assert.deepEqual((await listed(one, parent.token)).map(({ name }) => name), ["Child"]);
  const other = await made(one, owner, { name: "Other" });
  assert.equal((await one.call("DELETE", `/v1/tokens/${other.id}`, parent.token)).status, 404);
  const whose = (await one.call("GET", "/v1/session", stateless.body.token)).body.subject;
  assert.equal(whose, "ann@example.com (Weekly report (operator))", "nobody poses as a person");

  await one.call("DELETE", `/v1/tokens/${parent.id}`, owner);
  for (const token of made_) {
    assert.equal((await one.call("GET", "/v1/session", token)).status, 401);
  }
  assert.deepEqual((await listed(one, owner)).map(({ name }) => name), ["Other"]);
});

onBothEngines(
  "API tokens: a revocation of all tokens includes them, and the list shows it",
  async (_, db) => {
    const { one, owner } = await world(await openMigrated(db));
    const { token } = await made(one, owner);
    await one.call("DELETE", "/v1/internal/tokens", owner);
    assert.equal((await one.call("GET", "/v1/session", token)).status, 401);
    const again = await one.grant(OWNER);
    assert.equal((await listed(one, again))[0]?.status, "revoked");
    assert.equal(
      (await one.call("GET", "/v1/session", (await made(one, again)).token)).status,
      200,
    );
  },
);

onBothEngines(
  "API tokens: of some projects, an owner sees those that stay within them",
  async (_, db) => {
    const { one, owner } = await world(await openMigrated(db));
    await made(one, owner, { name: "A" });
    await made(one, owner, { name: "Both", projects: ["prj_a", "prj_b"] });
    await made(one, owner, { name: "All", projects: ["*"] });
    const partial = await one.grant({ ...OWNER, projects: ["prj_a"], subject: "partial" });
    assert.deepEqual((await listed(one, partial)).map(({ name }) => name), ["A"]);
  },
);

onBothEngines(
  "API tokens: none are made if an identity provider issues the tokens",
  async (_, db) => {
    const sql = await openMigrated(db);
    const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
    const jwk = JSON.stringify(await exportJWK(publicKey));
    const server = authServer(sql, { jwt: { secret: null, publicKey: jwk } });
    // A `jti` of theirs says nothing here, whatever it looks like.
    const theirs = await new SignJWT({ scope: "read people", projects: ["*"], jti: "tok_1" })
      .setProtectedHeader({ alg: "EdDSA" }).setExpirationTime("1h").sign(privateKey);
    const answer = await server.call("POST", "/v1/tokens", theirs, { ...WANTED, projects: ["*"] });
    assert.deepEqual([answer.status, answer.body.code], [409, "conflict"]);
    assert.deepEqual((await server.call("GET", "/v1/tokens", theirs)).body, { tokens: [] });
  },
);
