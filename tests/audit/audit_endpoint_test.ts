import assert from "node:assert/strict";
import { recordAudit, recordAuditOnce, visitorMark } from "../../src/audit/audit.ts";
import { purgeAudit } from "../../src/audit/audit_list.ts";
import { AUDIT_KEPT_DAYS, AUDIT_REPEAT_MS, DAY_MS, PAGE_ROWS_MAX } from "../../src/limits.ts";
import { authServer, openMigrated } from "../auth/auth_server.ts";
import { BASE, TestApp } from "../support/app.ts";
import { onBothEngines } from "../support/databases.ts";

const EVERYTHING = { scopes: ["read", "admin", "people"] };

interface Entry {
  readonly at: string;
  readonly who: string;
  readonly what: string;
  readonly subject: string;
  readonly project: string | null;
  readonly from: string | null;
}

onBothEngines("audit: projects and keys, with who and from where, newest first", async (_, db) => {
  const server = authServer(await openMigrated(db));
  const ann = await server.grant({ ...EVERYTHING, subject: "ann" });
  await server.call("POST", "/v1/projects", ann, { id: "prj_shop", name: "Shop" });
  const path = "/v1/projects/prj_shop";
  await server.call("PATCH", path, ann, { timezone: "Europe/Berlin", name: "Shop" });
  await server.call("PATCH", path, ann, { timezone: "Europe/Berlin" });
  await server.call("PATCH", path, ann, {});
  const key =
    (await server.call("POST", `${path}/keys`, ann, { kind: "secret", label: "Till" })).body;
  const next = (await server.call("POST", `${path}/keys/${key.id}/rotate`, ann, {})).body;
  await server.call("DELETE", `${path}/keys/${next.id}`, ann);
  await server.call("DELETE", `${path}/keys/${next.id}`, ann);
  await server.call("POST", `${path}/keys/${next.id}/rotate`, ann, {});
  const refused = await server.call("POST", `${path}/keys`, ann, { kind: "wrong" });
  assert.equal(refused.status, 400);

  const { body, status } = await server.call("GET", "/v1/audit", ann);
  assert.equal(status, 200);
  const shown = body.rows.map(({ what, subject }: Entry) => [what, subject]);
  assert.deepEqual(shown, [
    ["key.revoke", `secret key Till (…${next.hint})`],
    ["key.rotate", `secret key Till (…${next.hint}) in place of ${key.id}`],
    ["key.create", `secret key Till (…${key.hint})`],
    ["project.change", "Shop (prj_shop): timezone"],
    ["project.create", "Shop (prj_shop)"],
  ]);
  assert.equal(body.nextCursor, null);
  for (const entry of body.rows as Entry[]) {
    assert.deepEqual([entry.who, entry.project, entry.from], ["ann", "prj_shop", "127.0.0.1"]);
    assert.ok(Number.isFinite(Date.parse(entry.at)));
  }
  for (const secret of [key.key, next.key]) assert.ok(!JSON.stringify(body).includes(secret));
});

onBothEngines(
  "audit: tokens issued and revoked; subjects that look like a person",
  async (_, db) => {
    const server = authServer(await openMigrated(db));
    const ann = await server.grant({ ...EVERYTHING, subject: "ann@example.com" });
    const path = "/v1/internal/tokens";
    const wanted = { projects: ["*"], scope: "read", ttlSeconds: 60, subject: "till" };
    const { expiresAt } = (await server.call("POST", path, ann, wanted)).body;
    await server.call("DELETE", path, ann);
    const later = await server.grant(EVERYTHING);
    const { rows } = (await server.call("GET", "/v1/audit", later)).body;
    assert.deepEqual(rows.map(({ who, what, subject }: Entry) => [who, what, subject]), [
      [
        "a token for ann@example.com",
        "token.revoke_all",
        "all tokens, sessions and invitations so far",
      ],
      [
        "a token for ann@example.com",
        "token.issue",
        `till: read on every project, until ${expiresAt}`,
      ],
    ]);
  },
);

onBothEngines(
  "audit: paged without a gap while entries come in; bad pages refused",
  async (_, db) => {
    const sql = await openMigrated(db);
    const server = authServer(sql);
    const owner = await server.grant(EVERYTHING);
    const record = (subject: string) =>
      recordAudit(sql, { who: "ann", what: "project.change", subject, from: null });
    for (let i = 0; i < 7; i++) await record(String(i));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await server.call("GET", `/v1/audit?limit=3&cursor=${cursor}`, owner);
      assert.ok(body.rows.length <= 3);
      seen.push(...body.rows.map(({ subject }: Entry) => subject));
      cursor = body.nextCursor;
      await record("later");
    } while (cursor !== null);
    assert.deepEqual(seen, ["6", "5", "4", "3", "2", "1", "0"]);
    assert.equal((await server.call("GET", `/v1/audit?limit=${PAGE_ROWS_MAX}`, owner)).status, 200);
    for (const query of [`limit=${PAGE_ROWS_MAX + 1}`, "limit=0", "cursor=x", "who=ann"]) {
      const { status, body } = await server.call("GET", `/v1/audit?${query}`, owner);
      assert.deepEqual([status, body.code], [400, "invalid_parameter"], query);
    }
  },
);

onBothEngines("audit: only with the scope people, of the token's projects", async (_, db) => {
  const sql = await openMigrated(db);
  const server = authServer(sql);
  const admin = await server.grant();
  for (const id of ["prj_a", "prj_b"]) {
    await server.call("POST", "/v1/projects", admin, { id, name: id });
  }
  await recordAudit(sql, { who: "x", what: "person.invite", subject: "everybody", from: null });
  const refused = await server.call("GET", "/v1/audit", admin);
  assert.deepEqual([refused.status, refused.body.code], [403, "insufficient_scope"]);
  const subjectsFor = async (projects: string[] | "*") => {
    const token = await server.grant({ scopes: ["people"], projects });
    const { rows } = (await server.call("GET", "/v1/audit", token)).body;
    return rows.map(({ subject }: Entry) => subject);
  };
  assert.deepEqual(await subjectsFor("*"), ["everybody", "prj_b (prj_b)", "prj_a (prj_a)"]);
  assert.deepEqual(await subjectsFor(["prj_b", "prj_unknown"]), ["prj_b (prj_b)"]);
  assert.deepEqual(await subjectsFor([]), []);
});

onBothEngines("audit: an entry that cannot be stored undoes its change", async (_, db) => {
  const sql = await openMigrated(db);
  const server = authServer(sql);
  const admin = await server.grant();
  await server.call("POST", "/v1/projects", admin, { id: "prj_shop", name: "Shop" });
  await sql.query("ALTER TABLE audit ADD CONSTRAINT none CHECK (false) NOT VALID");
  const writing = console.error;
  console.error = () => {};
  try {
    const key = await server.call("POST", "/v1/projects/prj_shop/keys", admin, { kind: "public" });
    assert.equal(key.status, 500);
    assert.equal((await server.call("POST", "/v1/projects", admin, { name: "B" })).status, 500);
    assert.equal((await server.call("DELETE", "/v1/internal/tokens", admin)).status, 500);
  } finally {
    console.error = writing;
  }
  assert.deepEqual((await server.call("GET", "/v1/projects/prj_shop/keys", admin)).body.keys, []);
  assert.equal((await server.call("GET", "/v1/projects", admin)).body.projects.length, 1);
});

onBothEngines("audit: kept 400 days", async (_, db) => {
  const sql = await openMigrated(db);
  const nowMs = Date.UTC(2028, 1, 29, 2, 35);
  const edgeMs = nowMs - AUDIT_KEPT_DAYS * DAY_MS;
  for (const atMs of [edgeMs - 1, edgeMs, nowMs]) {
    await sql.query(
      "INSERT INTO audit (at, who, what, subject) VALUES ($1::text::timestamptz, 'a', 'b', 'c')",
      [new Date(atMs).toISOString()],
    );
  }
  assert.equal(await purgeAudit(sql, nowMs), 1);
  assert.equal(await purgeAudit(sql, nowMs), 0);
  const [left] = await sql.query<{ rows: number }>("SELECT count(*)::int AS rows FROM audit");
  assert.equal(left?.rows, 2);
});

onBothEngines("audit: an export of many requests is one entry", async (_, db) => {
  const sql = await openMigrated(db);
  const entry = { who: "ann", subject: "Shop", projectId: 1, from: null };
  const rows = async () =>
    (await sql.query<{ rows: number }>("SELECT count(*)::int AS rows FROM audit"))[0]?.rows;
  for (let i = 0; i < 3; i++) await recordAuditOnce(sql, { ...entry, what: "events.export" });
  assert.equal(await rows(), 1);
  await recordAuditOnce(sql, { ...entry, what: "events.export", from: "8.8.8.8" });
  await recordAuditOnce(sql, { ...entry, what: "events.export", projectId: 2 });
  await recordAuditOnce(sql, { ...entry, what: "events.export", who: "bob" });
  assert.equal(await rows(), 4);
  await sql.query("UPDATE audit SET at = at - make_interval(secs => $1::float8)", [
    AUDIT_REPEAT_MS / 1000,
  ]);
  await recordAuditOnce(sql, { ...entry, what: "events.export" });
  assert.equal(await rows(), 5, "an hour later it is another one");
});

Deno.test("audit: a HEAD gives nothing out, so it is no export", async () => {
  const world = await new TestApp({}).start();
  try {
    const project = await world.project();
    await world.post(project, [{ eventId: crypto.randomUUID(), userId: "jane" }]);
    const headers = {
      Accept: "application/x-ndjson",
      Authorization: `Bearer ${world.app.controlToken}`,
    };
    const exports = [`/v1/events`, `/v1/actors/jane`, `/v1/archive`];
    const recorded = async () => {
      const { body } = await world.admin("GET", "/v1/audit");
      const what = body.rows.map((entry: Entry) => entry.what);
      return what.filter((one: string) => /export|archive/.test(one)).toSorted();
    };
    for (const method of ["HEAD", "GET"]) {
      assert.deepEqual(await recorded(), []);
      for (const path of exports) {
        const reply = await world.fetch(`${path}?project=${project.id}`, { method, headers });
        assert.equal(reply.status, 200, `${method} ${path}`);
      }
    }
    assert.deepEqual(await recorded(), ["actor.export", "archive.make", "events.export"]);
  } finally {
    await world.stop();
  }
});

Deno.test("audit: exports and erasures, without the person's identity", async () => {
  const world = await new TestApp({}).start();
  try {
    const project = await world.project({ name: "Shop" });
    const events = [{ eventId: crypto.randomUUID(), name: "buy", userId: "jane@example.com" }];
    await world.post(project, events);
    const person = `/v1/actors/${encodeURIComponent("jane@example.com")}?project=${project.id}`;
    const lines = {
      Accept: "application/x-ndjson",
      Authorization: `Bearer ${world.app.controlToken}`,
    };
    for (
      const path of [`/v1/events?project=${project.id}`, `/v1/events?project=${project.id}&limit=1`]
    ) {
      assert.equal((await world.fetch(path, { headers: lines })).status, 200);
      assert.equal((await world.admin("GET", path)).status, 200);
    }
    assert.equal((await world.admin("GET", person)).status, 200);
    assert.equal((await world.admin("DELETE", person)).status, 200);
    assert.equal((await world.admin("DELETE", person)).status, 404);
    const { body } = await world.admin("GET", "/v1/audit?limit=3");
    const mark = visitorMark(project.id, "jane@example.com");
    const rest = { who: "operator", project: project.id, from: "8.8.8.8" };
    assert.deepEqual(body.rows.map(({ at: _, ...entry }: Entry) => entry), [
      { ...rest, what: "actor.erase", subject: mark },
      { ...rest, what: "actor.export", subject: mark },
      { ...rest, what: "events.export", subject: `Shop (${project.id})` },
    ]);
    assert.ok(!JSON.stringify(body).includes("jane"));
    const unknown = await world.app.fetch(new Request(`${BASE}/v1/audit`), null);
    assert.equal(unknown.status, 401);
    await unknown.body?.cancel();
  } finally {
    await world.stop();
  }
});
