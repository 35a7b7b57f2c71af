import assert from "node:assert/strict";
import { createKeyDirectory } from "../../src/auth/keys.ts";
import { createProject, patchProject, type Project } from "../../src/auth/projects.ts";
import { withSiteKeys } from "../../src/auth/site_keys.ts";
import { createKey, revokeKey } from "../../src/auth/stored_keys.ts";
import { normaliseSiteUrls } from "../../src/auth/stored_site_urls.ts";
import { DatabaseUnavailable, type Sql } from "../../src/db/sql.ts";
import { KEY_CACHED_MS_MAX, KEY_FRESH_MS } from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import { RULES_VERSION } from "../../src/projection/dictionaries.ts";
import { STALE_PROJECTS } from "../../src/projection/projected_project.ts";
import { onBothEngines } from "../support/databases.ts";
import { withMembers } from "../support/fake_sql.ts";
import { authServer, counted, openMigrated, SILENT } from "./auth_server.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 4);

function refused(code: string) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    return true;
  };
}

function project(sql: Sql, id: string, siteUrl: string | null): Promise<Project> {
  return createProject(sql, {
    id,
    name: "Shop",
    siteUrl,
    timezone: "UTC",
    allowedOrigins: ["https://shop.example"],
    ipStorage: "truncated",
    retentionDays: null,
  });
}

function newKey(sql: Sql, { projectId }: Project, kind: "public" | "secret", key: string) {
  return createKey(sql, { projectId, kind, label: null, expiresAt: null, nowMs: NOW_MS, key });
}

function directory(sql: Sql, now: () => number) {
  return withSiteKeys(createKeyDirectory(sql, { now, log: SILENT }), sql, { now, log: SILENT });
}

onBothEngines("site key: the host of a project's site, with or without www", async (_, db) => {
  const sql = counted(await openMigrated(db));
  const keys = directory(sql, () => NOW_MS);
  const shop = await project(sql, "prj_shop", "https://www.Shop.example:8443/de/");
  const local = await project(sql, "prj_local", "http://localhost:3000");
  await project(sql, "prj_none", null);
  sql.queries = 0;
  for (const name of ["shop.example", "www.shop.example", "Shop.Example", "shop.example."]) {
    assert.deepEqual(await keys.authenticate(`site:${name}`), {
      keyId: "site:prj_shop",
      kind: "public",
      projectId: shop.projectId,
      projectPublicId: "prj_shop",
      projectIpStorage: "truncated",
      allowedOrigins: ["https://shop.example"],
    }, name);
  }
  const asked = sql.queries;
  await keys.authenticate("site:shop.example");
  assert.equal(sql.queries, asked, "what is known is not asked for again");
  assert.equal((await keys.authenticate("site:localhost")).projectId, local.projectId);
  for (
    const name of [
      ...["example", "other.example", "de.shop.example", "www.www.shop.example", "", " ", "%", "_"],
      ...["https://shop.example", "shop.example/de", "shop.example:8443", "'", "\u0000", "\ud800"],
    ]
  ) {
    await assert.rejects(keys.authenticate(`site:${name}`), refused("invalid_api_key"), name);
  }
  await assert.rejects(keys.authenticate("shop.example"), refused("invalid_api_key"), "no prefix");
});

onBothEngines("site key: a public key takes precedence, a secret one is refused", async (_, db) => {
  const sql = await openMigrated(db);
  let nowMs = NOW_MS;
  const keys = directory(sql, () => nowMs);
  const shop = await project(sql, "prj_shop", "https://shop.example");
  const other = await project(sql, "prj_other", "https://other.example");
  assert.equal((await keys.authenticate("site:shop.example")).projectId, shop.projectId);

  const named = await newKey(sql, other, "public", "shop.example");
  nowMs += KEY_CACHED_MS_MAX + 1;
  const found = await keys.authenticate("site:shop.example");
  assert.deepEqual([found.keyId, found.projectId], [named.id, other.projectId]);
  await revokeKey(sql, { projectId: other.projectId, keyId: named.id, nowMs });
  nowMs += KEY_CACHED_MS_MAX + 1;
  await assert.rejects(keys.authenticate("site:shop.example"), refused("revoked_api_key"));

  await newKey(sql, shop, "secret", "sk_of_the_shop");
  await assert.rejects(keys.authenticate("site:sk_of_the_shop"), refused("key_not_allowed_here"));
  assert.equal((await keys.authenticate("sk_of_the_shop")).kind, "secret");
});

onBothEngines(
  "site key: a change takes effect within a second, and a shared site is refused",
  async (_, db) => {
    const sql = await openMigrated(db);
    let nowMs = NOW_MS;
    const keys = directory(sql, () => nowMs);
    const shop = await project(sql, "prj_shop", "https://shop.example");
    await keys.authenticate("site:shop.example");
    await patchProject(sql, shop.id, { siteUrl: "https://store.example" }, true);
    nowMs += KEY_CACHED_MS_MAX + 1;
    await assert.rejects(keys.authenticate("site:shop.example"), refused("invalid_api_key"));
    await keys.authenticate("site:store.example");

    await project(sql, "prj_second", "https://www.store.example/");
    keys.invalidate();
    await assert.rejects(keys.authenticate("site:store.example"), (error) => {
      refused("invalid_api_key")(error);
      assert.match((error as Problem).detail, /Several projects/);
      return true;
    });
  },
);

onBothEngines("site key: only the operator gives two projects one site", async (_, db) => {
  const sql = await openMigrated(db);
  const server = authServer(sql);
  const operator = await server.grant();
  const admin = await server.grant({ projects: ["prj_shop"] });
  await project(sql, "prj_shop", "https://shop.example");
  await project(sql, "prj_blog", "https://www.blog.example/news");
  const change = async (token: string, siteUrl: string | null) => {
    const reply = await server.call("PATCH", "/v1/projects/prj_shop", token, { siteUrl });
    return reply.body.code ?? reply.status;
  };
  for (const taken of ["https://blog.example", "http://WWW.Blog.example:8443/x"]) {
    assert.equal(await change(admin, taken), "conflict", taken);
  }
  assert.equal(await change(admin, "https://evil.example\\@blog.example"), "invalid_body");
  assert.equal((await directory(sql, () => NOW_MS).authenticate("site:blog.example")).projectId, 2);
  assert.equal(await change(admin, "https://other.example"), 200);
  assert.equal(await change(operator, "https://blog.example"), 200);
  // Where they share it already, nothing is taken.
  assert.equal(await change(admin, "https://blog.example/shop"), 200);
  assert.equal(await change(admin, null), 200);
});

onBothEngines(
  "site key: a host with letters beyond ASCII, in any notation",
  async (_, db) => {
    const sql = await openMigrated(db);
    const server = authServer(sql);
    const operator = await server.grant();
    const admin = await server.grant({ projects: ["prj_blog"] });
    const shop = await project(sql, "prj_shop", null);
    await project(sql, "prj_blog", null);
    const change = async (token: string, id: string, siteUrl: string) => {
      const { status, body } = await server.call("PATCH", `/v1/projects/${id}`, token, { siteUrl });
      return [status, body.siteUrl ?? body.code];
    };
    const site = "https://xn--mller-kva.example/de";
    assert.deepEqual(await change(operator, "prj_shop", "https://www.Müller.example/de"), [
      200,
      "https://www.xn--mller-kva.example/de",
    ]);
    const keys = directory(sql, () => NOW_MS);
    for (const name of ["müller.example", "WWW.MÜLLER.example", "xn--mller-kva.example"]) {
      assert.equal((await keys.authenticate(`site:${name}`)).projectId, shop.projectId, name);
    }
    await assert.rejects(keys.authenticate("site:müller.example/x"), refused("invalid_api_key"));
    assert.deepEqual(await change(admin, "prj_blog", "https://müller.example"), [409, "conflict"]);
    assert.deepEqual(await change(admin, "prj_blog", site), [409, "conflict"]);
    const long = `https://xn--bcher-kva.example/${"ü".repeat(700)}`;
    assert.deepEqual(await change(admin, "prj_blog", long.replace("xn--bcher-kva", "bücher")), [
      200,
      long,
    ]);
    for (const kept of [long, "https://Blog.example:8443/a?b#c", "https://blog.example"]) {
      assert.deepEqual(await change(admin, "prj_blog", kept), [200, kept]);
    }
  },
);

onBothEngines(
  "site key: a host with letters beyond ASCII that an earlier version has stored",
  async (_, db) => {
    const sql = await openMigrated(db);
    const server = authServer(sql);
    const admin = await server.grant({ projects: ["prj_blog"] });
    const stored: [id: string, before: string | null, after: string | null][] = [
      ["prj_shop", "https://www.Müller.example/ü", "https://www.xn--mller-kva.example/ü"],
      ["prj_odd", "https://a_b.example/ü", "https://a_b.example/ü"],
      ["prj_plain", "https://Shop.example/ü", "https://Shop.example/ü"],
      ["prj_blog", null, null],
    ];
    for (const [id, before] of stored) {
      await project(sql, id, null);
      await sql.query(
        `UPDATE projects SET site_url = $2::text, site_url_by_operator = public_id <> 'prj_shop'
        WHERE public_id = $1::text`,
        [id, before],
      );
    }
    await Promise.all([normaliseSiteUrls(sql), normaliseSiteUrls(sql)]);
    const rows = await sql.query(
      "SELECT public_id, site_url, site_url_by_operator FROM projects ORDER BY project_id",
    );
    assert.deepEqual(
      rows.map((row) => [row.public_id, row.site_url, row.site_url_by_operator]),
      stored.map(([id, , after]) => [id, after, id !== "prj_shop"]),
    );
    const audit = await sql.query("SELECT what, subject FROM audit");
    assert.deepEqual(audit, [{ what: "project.change", subject: "Shop (prj_shop): siteUrl" }]);
    const transaction = () => Promise.reject(new Error("a start began a transaction"));
    await normaliseSiteUrls(withMembers(sql, { transaction }));
    const body = { siteUrl: "https://müller.example" };
    const reply = await server.call("PATCH", "/v1/projects/prj_blog", admin, body);
    assert.deepEqual([reply.status, reply.body.code], [409, "conflict"]);
  },
);

onBothEngines(
  "site key: of two projects given the same site at once, one gets it",
  async (_, db) => {
    const sql = await openMigrated(db);
    const server = authServer(sql);
    const ids = ["prj_a", "prj_b", "prj_c", "prj_d"];
    const changes = [];
    for (const id of ids) {
      await project(sql, id, null);
      const token = await server.grant({ projects: [id] });
      const body = { siteUrl: "https://shop.example" };
      changes.push(() => server.call("PATCH", `/v1/projects/${id}`, token, body));
    }
    const replies = await Promise.all(changes.map((change) => change()));
    const statuses = replies.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, 409, 409, 409]);
  },
);

onBothEngines(
  "site key: one in use is refreshed in the background, and stays valid if that fails",
  async (_, db) => {
    const sql = await openMigrated(db);
    let nowMs = NOW_MS;
    let isAway = false;
    const failing = withMembers(sql, {
      query(text, params) {
        if (isAway) throw new DatabaseUnavailable("away");
        return sql.query(text, params);
      },
    });
    const keys = directory(failing, () => nowMs);
    await project(sql, "prj_shop", "https://shop.example");
    await keys.authenticate("site:shop.example");
    isAway = true;
    nowMs += KEY_FRESH_MS + 1;
    assert.equal((await keys.authenticate("site:shop.example")).projectPublicId, "prj_shop");
    nowMs += KEY_CACHED_MS_MAX;
    await assert.rejects(keys.authenticate("site:shop.example"), DatabaseUnavailable);
    isAway = false;
    assert.equal((await keys.authenticate("site:shop.example")).projectPublicId, "prj_shop");
  },
);

onBothEngines(
  "site key: among ten thousand projects, finding one or those that changed takes a plain scan",
  async (_, db) => {
    const sql = await openMigrated(db);
    await sql.query(
      `INSERT INTO projects (public_id, name, site_url)
      SELECT 'prj_' || i, 'Shop', 'https://www.shop-' || i || '.example/de' FROM generate_series(1, 10000) i`,
    );
    await sql.query(
      `INSERT INTO projections (project_id, site_host, rules_version, timezone)
      SELECT project_id, site_host, ${RULES_VERSION}, timezone FROM projects`,
    );
    let nowMs = NOW_MS;
    const keys = directory(sql, () => nowMs);
    const find = async () => {
      nowMs += KEY_CACHED_MS_MAX + 1;
      const { projectPublicId } = await keys.authenticate("site:shop-7777.example");
      assert.equal(projectPublicId, "prj_7777");
    };
    const look = async () => assert.deepEqual(await sql.query(STALE_PROJECTS), []);
    const scan = async () => {
      const rows = await sql.query(
        "SELECT count(*)::int AS n FROM projects JOIN projections USING (project_id) WHERE name <> site_url",
      );
      assert.deepEqual(rows, [{ n: 10_000 }]);
    };
    const took: Record<string, number[]> = { find: [], look: [], scan: [] };
    for (let round = 0; round < 9; round++) {
      for (const [name, work] of Object.entries({ find, look, scan })) {
        const begun = performance.now();
        await work();
        took[name]!.push(performance.now() - begun);
      }
    }
    const quickest = (name: string) => Math.min(...took[name]!);
    assert.ok(quickest("find") < 4 * quickest("scan"), JSON.stringify(took));
    assert.ok(quickest("look") < 4 * quickest("scan"), JSON.stringify(took));
  },
);
