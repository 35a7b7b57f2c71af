import assert from "node:assert/strict";
import {
  MINIMUM_VISITORS_MAX,
  SHARE_ATTEMPTS_MAX,
  SHARE_FILTERS_MAX,
  SHARE_HASHES_PER_PROJECT_MAX,
  SHARE_ORIGINS_MAX,
  SHARES_MAX,
} from "../../src/shares/share_limits.ts";
import { hashingFor } from "../../src/shares/share_hashes.ts";
import { assertProblem, BASE, type Json, PUBLIC_PEER, sharedApp } from "../support/app.ts";
import { ask, enter, people, post, read, share, tokenOf } from "./shared_shop.ts";

const app = sharedApp();
const ELSEWHERE = "9.9.9.9";

const sharesOf = (project: string) => `/v1/projects/${project}/shares`;

Deno.test("share: made, listed, changed and revoked, with its link, without its password", async () => {
  const project = await app.project();
  const path = sharesOf(project.id);
  const made = await app.admin("POST", path, {
    title: "  For our investors ",
    views: ["trends", "overview"],
    filters: [{ field: "path", op: "starts_with", values: ["/shop"] }],
    expiresAt: "2099-01-01T00:00:00+01:00",
    password: "open sesame, please",
    embedOrigins: ["https://Intranet.Example.com:443/", "https://*.bücher.example"],
    minimumVisitors: 5,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, url, createdAt, ...rest } = made.body;
  assert.match(id, /^shr_[A-Za-z0-9]{32}$/);
  assert.equal(url, `${BASE}/share/${id}`);
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    title: "For our investors",
    views: ["trends", "overview"],
    filters: [{ field: "path", op: "starts_with", values: ["/shop"] }],
    expiresAt: "2098-12-31T23:00:00.000Z",
    hasPassword: true,
    embedOrigins: ["https://intranet.example.com", "https://*.xn--bcher-kva.example"],
    minimumVisitors: 5,
    status: "active",
  });
  assert.deepEqual((await app.admin("GET", path)).body, { shares: [made.body] });
  const changed = await app.admin("PATCH", `${path}/${id}`, { title: "Shop", password: null });
  assert.deepEqual(changed.body, { ...made.body, title: "Shop", hasPassword: false });
  assert.equal((await app.admin("DELETE", `${path}/${id}`)).status, 204);
  assert.deepEqual((await app.admin("GET", path)).body, { shares: [] });
  assertProblem(await app.admin("DELETE", `${path}/${id}`), 404, "not_found");
  assertProblem(await app.admin("PATCH", `${path}/${id}`, {}), 404, "not_found");
});

Deno.test("share: by default the overview, without a password, for groups of three", async () => {
  const { id } = await app.project();
  const { body } = await app.admin("POST", sharesOf(id), { title: "Shop" });
  const { views, filters, expiresAt, hasPassword, embedOrigins, minimumVisitors } = body;
  assert.deepEqual(
    { views, filters, expiresAt, hasPassword, embedOrigins, minimumVisitors },
    {
      views: ["overview"],
      filters: [],
      expiresAt: null,
      hasPassword: false,
      embedOrigins: [],
      minimumVisitors: 3,
    },
  );
});

const filter = { field: "path", op: "is", values: ["/"] };
const BAD: readonly (readonly [string, Json])[] = [
  ["title", { title: " " }],
  ["views", { title: "x", views: [] }],
  ["views", { title: "x", views: ["overview", "overview"] }],
  ["views.0", { title: "x", views: ["events"] }],
  ["filters", { title: "x", filters: Array(SHARE_FILTERS_MAX + 1).fill(filter) }],
  ["filters", { title: "x", filters: [{ field: "userId", op: "is", values: ["anna"] }] }],
  ["filters", { title: "x", filters: [{ field: "anonymousId", op: "is", values: ["a1"] }] }],
  ["expiresAt", { title: "x", expiresAt: "soon" }],
  ["expiresAt", { title: "x", expiresAt: "2026-01-01T00:00:00Z" }],
  ["password", { title: "x", password: "1234567" }],
  ["embedOrigins.0", { title: "x", embedOrigins: ["https://example.com/page"] }],
  ["embedOrigins.0", { title: "x", embedOrigins: ["*"] }],
  ["embedOrigins.0", { title: "x", embedOrigins: ["https://a.example; script-src *"] }],
  ["embedOrigins.0", { title: "x", embedOrigins: ["https://a.example;script-src"] }],
  ["embedOrigins", {
    title: "x",
    embedOrigins: Array.from({ length: SHARE_ORIGINS_MAX + 1 }, (_, i) => `https://${i}.example`),
  }],
  ["minimumVisitors", { title: "x", minimumVisitors: 0 }],
  ["minimumVisitors", { title: "x", minimumVisitors: 1.5 }],
  ["minimumVisitors", { title: "x", minimumVisitors: MINIMUM_VISITORS_MAX + 1 }],
  ["colour", { title: "x", colour: "red" }],
];

for (const [field, body] of BAD) {
  Deno.test(`share: ${JSON.stringify(body).slice(0, 80)} is refused for ${field}`, async () => {
    const { id } = await app.project();
    const reply = await app.admin("POST", sharesOf(id), body);
    assertProblem(reply, 400, "invalid_body");
    assert.deepEqual(reply.body.errors.map((part: Json) => part.field), [field]);
    assert.deepEqual((await app.admin("GET", sharesOf(id))).body.shares, []);
  });
}

Deno.test("share: values just within each bound are accepted", async () => {
  const { id } = await app.project();
  const { status } = await app.admin("POST", sharesOf(id), {
    title: "x",
    filters: [
      ...Array(SHARE_FILTERS_MAX - 1).fill(filter),
      { field: "userId", op: "exists" },
    ],
    password: "12345678",
    embedOrigins: Array.from({ length: SHARE_ORIGINS_MAX }, (_, i) => `https://${i}.example`),
    minimumVisitors: MINIMUM_VISITORS_MAX,
  });
  assert.equal(status, 201);
});

Deno.test(`share: a project has at most ${SHARES_MAX}`, async () => {
  const project = await app.project();
  for (let i = 0; i < SHARES_MAX; i++) await share(app, project);
  assertProblem(await app.admin("POST", sharesOf(project.id), { title: "x" }), 409, "conflict");
});

Deno.test("share: only its own project's admins see and change it", async () => {
  const [mine, other] = [await app.project(), await app.project()];
  const { id } = await share(app, mine);
  const admin = await app.token([other.id], "read write jobs admin");
  const editor = await app.token([mine.id], "read write jobs");
  assertProblem(await ask(app, admin, sharesOf(mine.id)), 403, "insufficient_scope");
  assertProblem(await ask(app, editor, sharesOf(mine.id)), 403, "insufficient_scope");
  const path = `${sharesOf(other.id)}/${id}`;
  assertProblem(await app.admin("PATCH", path, { title: "x" }), 404, "not_found");
  assertProblem(await app.admin("DELETE", path), 404, "not_found");
  await tokenOf(app, id);
});

Deno.test("share: the audit has its making, change and revocation, without its link and password", async () => {
  const project = await app.project();
  const { id } = await share(app, project, { title: "Board", password: "open sesame" });
  await app.admin("PATCH", `${sharesOf(project.id)}/${id}`, { title: "The board" });
  await app.admin("DELETE", `${sharesOf(project.id)}/${id}`);
  const { body } = await app.admin("GET", "/v1/audit?limit=1000");
  const entries = body.rows.filter((entry: Json) => entry.project === project.id)
    .filter(({ what }: { what: string }) => what.startsWith("share."));
  assert.deepEqual(entries.map(({ what, subject }: Json) => [what, subject]), [
    ["share.revoke", "The board"],
    ["share.change", "The board"],
    ["share.create", "Board"],
  ]);
  assert.doesNotMatch(JSON.stringify(body), new RegExp(`${id}|sesame`));
});

Deno.test("share: its token lasts 15 minutes, and ends with the share", async () => {
  const project = await app.project({ name: "Shop", timezone: "Europe/Berlin" });
  const filters = [{ field: "path", op: "starts_with", values: ["/"] }];
  await post(app, project, people(4).map((who) => ({ who })));
  const { id } = await share(app, project, { title: "Board", filters, minimumVisitors: 4 });
  const { status, body } = await enter(app, id);
  assert.equal(status, 200);
  const { token, expiresAt, share: shown } = body;
  const leftMs = Date.parse(expiresAt) - Date.now();
  assert.ok(leftMs > 14 * 60_000 && leftMs <= 15 * 60_000, String(leftMs));
  assert.deepEqual(shown, {
    title: "Board",
    views: ["overview"],
    filters,
    minimumVisitors: 4,
    project: { id: project.id, name: "Shop", timezone: "Europe/Berlin" },
  });
  assert.equal((await read(app, token, "kpis")).status, 200);
  await app.admin("DELETE", `${sharesOf(project.id)}/${id}`);
  assertProblem(await read(app, token, "kpis"), 401, "invalid_token");
  assertProblem(await enter(app, id), 404, "not_found");
});

Deno.test("share: an expired one is not found, but still listed", async () => {
  const project = await app.project();
  const { id } = await share(app, project);
  const token = await tokenOf(app, id);
  const expiresAt = new Date(Date.now() - 1000).toISOString();
  const path = `${sharesOf(project.id)}/${id}`;
  assert.equal((await app.admin("PATCH", path, { expiresAt })).body.status, "expired");
  assertProblem(await read(app, token, "kpis"), 401, "invalid_token");
  const never = await enter(app, `shr_${"x".repeat(32)}`);
  const ended = await enter(app, id);
  assertProblem(ended, 404, "not_found");
  assert.equal(ended.body.detail, never.body.detail);
  await app.admin("PATCH", path, { expiresAt: null });
  await tokenOf(app, id);
});

Deno.test("share: its token does not outlive it", async () => {
  const { id } = await share(app, await app.project(), {
    expiresAt: new Date(Date.now() + 120_000).toISOString(),
  });
  const { body } = await enter(app, id);
  assert.ok(Date.parse(body.expiresAt) <= Date.now() + 120_000);
});

Deno.test("share: a change of the password ends earlier tokens", async () => {
  const project = await app.project();
  await post(app, project, people(3).map((who) => ({ who })));
  const { id } = await share(app, project, { password: "open sesame" });
  assertProblem(await enter(app, id), 401, "password_required");
  assertProblem(await enter(app, id, "open barley"), 401, "invalid_password");
  const token = await tokenOf(app, id, "open sesame");
  const path = `${sharesOf(project.id)}/${id}`;
  await app.admin("PATCH", path, { title: "Renamed" });
  assert.equal((await read(app, token, "kpis")).status, 200);
  await app.admin("PATCH", path, { password: "close sesame" });
  assertProblem(await read(app, token, "kpis"), 401, "expired_token");
  assertProblem(await enter(app, id, "open sesame"), 401, "invalid_password");
  assert.equal((await read(app, await tokenOf(app, id, "close sesame"), "kpis")).status, 200);
});

Deno.test(`share: from one network ${SHARE_ATTEMPTS_MAX} passwords may fail, and others are let in all the same`, async () => {
  const { id } = await share(app, await app.project(), { password: "open sesame" });
  // What succeeds is not counted.
  for (let i = 0; i < 2; i++) await tokenOf(app, id, "open sesame");
  for (let i = 0; i < SHARE_ATTEMPTS_MAX; i++) {
    assertProblem(await enter(app, id, `guess ${i}`, PUBLIC_PEER), 401, "invalid_password");
  }
  const refused = await enter(app, id, "open sesame", PUBLIC_PEER);
  assertProblem(refused, 429, "too_many_attempts");
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.equal((await enter(app, id, "open sesame", ELSEWHERE)).status, 200);
});

Deno.test("share: a password that could not be checked does not count as failed", async () => {
  const { id } = await share(app, await app.project(), { password: "open sesame" });
  const room = Promise.withResolvers<void>();
  // Whatever number the project has.
  const others = Array.from(
    { length: 100 * SHARE_HASHES_PER_PROJECT_MAX },
    (_, i) => hashingFor(i % 100, () => room.promise),
  );
  for (let i = 0; i < SHARE_ATTEMPTS_MAX; i++) {
    assertProblem(await enter(app, id, "open sesame", PUBLIC_PEER), 503, "overloaded");
  }
  room.resolve();
  await Promise.all(others);
  assert.equal((await enter(app, id, "open sesame", PUBLIC_PEER)).status, 200);
});

Deno.test("share: only its page may be framed, and only by its origins", async () => {
  const project = await app.project();
  const page = async (path: string) => {
    const { status, headers } = await app.fetch(path);
    const policy = headers.get("content-security-policy") ?? "";
    return { status, headers, ancestors: /frame-ancestors ([^;]*)/.exec(policy)?.[1] };
  };
  const closed = await share(app, project);
  assert.equal((await page(`/share/${closed.id}`)).ancestors, "'none'");
  const open = await share(app, project, {
    embedOrigins: ["https://a.example", "https://*.b.example:8443"],
  });
  const shown = await page(`/share/${open.id}`);
  assert.equal(shown.status, 200);
  assert.equal(shown.ancestors, "https://a.example https://*.b.example:8443");
  assert.equal(shown.headers.get("referrer-policy"), "no-referrer");
  assert.equal(shown.headers.get("cache-control"), "no-store");
  assert.equal(shown.headers.get("x-robots-tag"), "noindex");
  assert.equal((await page("/")).ancestors, "'none'");
  await app.admin("DELETE", `${sharesOf(project.id)}/${open.id}`);
  const ended = await page(`/share/${open.id}`);
  assert.deepEqual([ended.status, ended.ancestors], [404, "'none'"]);
  assert.match(ended.headers.get("content-type") ?? "", /^text\/html/);
  assert.equal((await page("/share/nothing%00")).status, 404);
});

Deno.test("share: no log line shows its link", () => {
  const lines = app.logLines.join("\n");
  assert.doesNotMatch(lines, /shr_[A-Za-z0-9]{32}/);
});
