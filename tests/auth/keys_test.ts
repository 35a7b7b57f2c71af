import assert from "node:assert/strict";
import { createKeyDirectory, type KeyDirectory } from "../../src/auth/keys.ts";
import { createProject, patchProject, type Project } from "../../src/auth/projects.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "../../src/auth/stored_keys.ts";
import { DatabaseUnavailable, type Sql } from "../../src/db/sql.ts";
import { createLog } from "../../src/http/log.ts";
import {
  KEY_CACHED_MS_MAX,
  KEY_FRESH_MS,
  KEYS_PER_LOOK_UP_MAX,
  KEYS_WAITING_MAX,
} from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import { onBothEngines } from "../support/databases.ts";
import { withMembers } from "../support/fake_sql.ts";
import { counted, openMigrated, SILENT } from "./auth_server.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 4);
const WAIT_MS_MAX = 20_000;

function refused(code: string) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    return true;
  };
}

function project(sql: Sql, id: string): Promise<Project> {
  return createProject(sql, {
    id,
    name: "Shop",
    siteUrl: null,
    timezone: "UTC",
    allowedOrigins: ["https://shop.example"],
    ipStorage: "truncated",
    retentionDays: null,
  });
}

function newKey(
  sql: Sql,
  { projectId }: Project,
  change: { kind?: "secret"; expiresAt?: Date; key?: string } = {},
) {
  const wanted = { projectId, label: null, expiresAt: null, nowMs: NOW_MS };
  return createKey(sql, { ...wanted, kind: "public", ...change });
}

function clock() {
  const state = { nowMs: NOW_MS };
  return { state, now: () => state.nowMs };
}

/** Waits for a background refresh, which nothing announces. */
async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!await done()) {
    assert.ok(performance.now() < deadline, `it did not happen within ${WAIT_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

onBothEngines("authenticate: a key answers with its project, asked for once", async (_, db) => {
  const sql = counted(await openMigrated(db));
  const { state, now } = clock();
  const keys = createKeyDirectory(sql, { now, log: SILENT });
  const shop = await project(sql, "prj_shop");
  const made = await newKey(sql, shop);
  sql.queries = 0;
  for (state.nowMs = NOW_MS; state.nowMs <= NOW_MS + KEY_FRESH_MS; state.nowMs += 50) {
    assert.deepEqual(await keys.authenticate(made.key), {
      keyId: made.id,
      kind: "public",
      projectId: shop.projectId,
      projectPublicId: "prj_shop",
      projectIpStorage: "truncated",
      allowedOrigins: ["https://shop.example"],
    });
  }
  assert.equal(sql.queries, 1);
  await assert.rejects(keys.authenticate("x".repeat(201)), refused("invalid_api_key"));
  assert.equal(sql.queries, 1, "an absurd key is not looked up");
  for (const unknown of ["", "pk_unknown", made.key.slice(0, -1), `${made.key} `, "\u0000\ud800"]) {
    await assert.rejects(keys.authenticate(unknown), refused("invalid_api_key"));
  }
});

onBothEngines("authenticate: every change reaches every server within a second", async (_, db) => {
  const sql = await openMigrated(db);
  const { state, now } = clock();
  const other = await db.open().catch(() => sql); // the embedded engine is opened by one process
  const servers = [sql, other].map((s) => createKeyDirectory(s, { now, log: SILENT }));
  const shop = await project(sql, "prj_shop");
  const everywhere = (use: (server: KeyDirectory) => Promise<unknown>) =>
    Promise.all(servers.map(use));

  await everywhere((s) =>
    assert.rejects(s.authenticate("pk_the_new_one"), refused("invalid_api_key"))
  );
  const given = await newKey(sql, shop, { key: "pk_the_new_one" });
  await everywhere((s) => s.authenticate(given.key));

  await patchProject(sql, shop.id, { ipStorage: "none", allowedOrigins: [] }, true);
  state.nowMs += KEY_CACHED_MS_MAX + 1;
  await everywhere(async (s) => {
    const { projectIpStorage, allowedOrigins } = await s.authenticate(given.key);
    assert.deepEqual({ projectIpStorage, allowedOrigins }, {
      projectIpStorage: "none",
      allowedOrigins: [],
    });
  });

  const change = { projectId: shop.projectId, keyId: given.id };
  const rotated = await rotateKey(sql, { ...change, nowMs: state.nowMs, overlapSeconds: 60 });
  state.nowMs += KEY_CACHED_MS_MAX + 1;
  await everywhere((s) => s.authenticate(given.key));
  await everywhere((s) => s.authenticate(rotated.key));
  state.nowMs += 60_000;
  await everywhere((s) => assert.rejects(s.authenticate(given.key), refused("expired_api_key")));
  await everywhere((s) => s.authenticate(rotated.key));

  await revokeKey(sql, { ...change, keyId: rotated.id, nowMs: state.nowMs });
  servers[0]!.invalidate();
  await assert.rejects(servers[0]!.authenticate(rotated.key), refused("revoked_api_key"));
  state.nowMs += KEY_CACHED_MS_MAX + 1;
  await assert.rejects(servers[1]!.authenticate(rotated.key), refused("revoked_api_key"));
});

onBothEngines(
  "authenticate: a key in use is refreshed without making anyone wait",
  async (_, db) => {
    const sql = counted(await openMigrated(db));
    const { state, now } = clock();
    const keys = createKeyDirectory(sql, { now, log: SILENT });
    const shop = await project(sql, "prj_shop");
    const made = await newKey(sql, shop);
    await keys.authenticate(made.key);
    await revokeKey(sql, { projectId: shop.projectId, keyId: made.id, nowMs: state.nowMs });
    state.nowMs += KEY_FRESH_MS + 1;
    sql.queries = 0;
    await Promise.all(Array.from({ length: 50 }, () => keys.authenticate(made.key)));
    assert.equal(sql.queries, 1, "fifty requests, one refresh");
    await until(() => keys.authenticate(made.key).then(() => false, refused("revoked_api_key")));
  },
);

onBothEngines("authenticate: expiry counts at each use, between refreshes too", async (_, db) => {
  const sql = counted(await openMigrated(db));
  const { state, now } = clock();
  const keys = createKeyDirectory(sql, { now, log: SILENT });
  const expiresAt = new Date(NOW_MS + 100);
  const made = await newKey(sql, await project(sql, "prj_shop"), { expiresAt });
  sql.queries = 0;
  state.nowMs = NOW_MS + 99;
  await keys.authenticate(made.key);
  state.nowMs = NOW_MS + 100;
  await assert.rejects(keys.authenticate(made.key), refused("expired_api_key"));
  assert.equal(sql.queries, 1);
});

onBothEngines("authenticate: a flood of made-up keys costs few queries", async (_, db) => {
  const sql = await openMigrated(db);
  const slow = counted(sql, 20);
  const keys = createKeyDirectory(slow, { now: Date.now, log: SILENT });
  const made = await newKey(sql, await project(sql, "prj_shop"));
  const flood = Array.from({ length: 1000 }, (_, i) => keys.authenticate(`pk_made_up_${i}`));
  const settled = await Promise.allSettled([...flood, keys.authenticate(made.key)]);
  assert.equal(slow.queries, 2, "the first alone, the rest together");
  const good = settled.filter((one) => one.status === "fulfilled");
  assert.deepEqual(good.map((one) => one.value.keyId), [made.id]);
  for (const one of settled) if (one.status === "rejected") refused("invalid_api_key")(one.reason);
});

onBothEngines("authenticate: too many keys at once are overloaded, not refused", async (_, db) => {
  const slow = counted(await openMigrated(db), 50);
  const keys = createKeyDirectory(slow, { now: Date.now, log: SILENT });
  const flood = Array.from({ length: 10_010 }, (_, i) => keys.authenticate(`pk_made_up_${i}`));
  const settled = await Promise.allSettled(flood);
  const codes = settled.map((one) => one.status === "rejected" ? one.reason.code : "known");
  assert.deepEqual([...new Set(codes)].sort(), ["invalid_api_key", "overloaded"]);
  assert.equal(codes.filter((code) => code === "overloaded").length, 9);
});

onBothEngines("authenticate: a known key is looked up before made-up ones", async (_, db) => {
  const sql = await openMigrated(db);
  const made = await newKey(sql, await project(sql, "prj_shop"));
  const { state, now } = clock();
  const sizes: number[] = [];
  const slow = withMembers(sql, {
    query: async (text, params) => {
      sizes.push(String(params?.[0]).split(",").length);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return await sql.query(text, params);
    },
  });
  const keys = createKeyDirectory(slow, { now, log: SILENT });
  await keys.authenticate(made.key);
  state.nowMs += KEY_CACHED_MS_MAX + 1;
  let refusedSoFar = 0;
  const flood = Array.from(
    { length: KEYS_WAITING_MAX + 1 },
    (_, i) => keys.authenticate(`pk_made_up_${i}`).catch(() => void refusedSoFar++),
  );
  await assert.rejects(keys.authenticate("pk_one_too_many"), refused("overloaded"));
  assert.equal((await keys.authenticate(made.key)).keyId, made.id);
  assert.ok(refusedSoFar <= 1 + KEYS_PER_LOOK_UP_MAX, String(refusedSoFar));
  await Promise.all(flood);
  assert.equal(Math.max(...sizes), KEYS_PER_LOOK_UP_MAX);
});

onBothEngines("authenticate: a lost database never refuses a key", async (_, db) => {
  const sql = await openMigrated(db);
  const { state, now } = clock();
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: "debug", format: "json", colour: false, now, write });
  const keys = createKeyDirectory(sql, { now, log });
  const made = await newKey(sql, await project(sql, "prj_shop"));
  await keys.authenticate(made.key);
  await sql.close();
  await assert.rejects(keys.authenticate("pk_unknown"), DatabaseUnavailable);
  state.nowMs += KEY_FRESH_MS + 1;
  assert.equal((await keys.authenticate(made.key)).keyId, made.id, "still believed");
  await until(() => lines.length > 0);
  assert.ok(!lines.join().includes(made.key));
  state.nowMs = NOW_MS + KEY_CACHED_MS_MAX + 1;
  await assert.rejects(keys.authenticate(made.key), DatabaseUnavailable);
});

onBothEngines(
  "createKey: random keys of their kind, only public ones stored whole",
  async (_, db) => {
    const sql = await openMigrated(db);
    const { projectId } = await project(sql, "prj_shop");
    const wanted = { projectId, label: "web", expiresAt: null, nowMs: NOW_MS };
    const secret = await createKey(sql, { ...wanted, kind: "secret" });
    const open = await createKey(sql, { ...wanted, kind: "public" });
    assert.match(secret.key, /^sk_[A-Za-z0-9]{32}$/);
    assert.match(open.key, /^pk_[A-Za-z0-9]{32}$/);
    assert.match(open.id, /^key_[A-Za-z0-9]{16}$/);
    assert.equal(open.hint, open.key.slice(-4));
    const stored = JSON.stringify(await sql.query("SELECT api_keys::text AS row FROM api_keys"));
    assert.ok(!stored.includes(secret.key.slice(3)));
    const listed = await listKeys(sql, projectId, NOW_MS);
    assert.deepEqual(listed.find((k) => k.id === open.id), open);
    assert.deepEqual(listed.find((k) => k.id === secret.id), { ...secret, key: null });

    await createKey(sql, { ...wanted, kind: "public", key: "my own key".replaceAll(" ", "_") });
    const again = createKey(sql, { ...wanted, kind: "public", key: "my_own_key" });
    await assert.rejects(again, refused("conflict"));
    for (
      const key of ["sk_looks_secret", "short", "with a space", "ü".repeat(9), "x".repeat(201)]
    ) {
      const bad = createKey(sql, { ...wanted, kind: "public", key });
      await assert.rejects(bad, refused("invalid_body"));
    }
    const mistaken = createKey(sql, { ...wanted, kind: "secret", key: "pk_looks_public" });
    await assert.rejects(mistaken, refused("invalid_body"));
  },
);

onBothEngines(
  "authenticate: a public key stored as a hash only is completed when it is used",
  async (_, db) => {
    const sql = await openMigrated(db);
    const shop = await project(sql, "prj_shop");
    const open = await newKey(sql, shop);
    const secret = await newKey(sql, shop, { kind: "secret" });
    const idle = await newKey(sql, shop);
    await sql.query("UPDATE api_keys SET key = NULL");
    const asking = counted(sql);
    const keys = createKeyDirectory(asking, { now: () => NOW_MS, log: SILENT });
    for (let i = 0; i < 3; i++) await keys.authenticate(open.key);
    await keys.authenticate(secret.key);
    assert.equal(asking.queries, 3, "two look-ups, and written once");
    const shown = async () => {
      const listed = await listKeys(sql, shop.projectId, NOW_MS);
      return [open, secret, idle].map(({ id }) => listed.find((key) => key.id === id)?.key);
    };
    // It is written down behind the request.
    for (let i = 0; i < 1_000 && (await shown())[0] === null; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.deepEqual(await shown(), [open.key, null, null]);
  },
);

onBothEngines("rotateKey: the old key ends at the earlier of its times", async (_, db) => {
  const sql = await openMigrated(db);
  const shop = await project(sql, "prj_shop");
  const soon = new Date(NOW_MS + 1000);
  const ending = await newKey(sql, shop, { expiresAt: soon });
  const lasting = await newKey(sql, shop);
  const change = { projectId: shop.projectId, nowMs: NOW_MS };
  for (const { id } of [ending, lasting]) {
    await rotateKey(sql, { ...change, keyId: id, overlapSeconds: 60 });
  }
  const after = async (nowMs: number) =>
    new Map((await listKeys(sql, shop.projectId, nowMs)).map((key) => [key.id, key]));
  const listed = await after(NOW_MS);
  assert.equal(listed.size, 4);
  assert.equal(listed.get(ending.id)?.expiresAt, soon.toISOString());
  assert.equal(listed.get(lasting.id)?.expiresAt, new Date(NOW_MS + 60_000).toISOString());
  assert.equal((await after(NOW_MS + 60_000)).get(lasting.id)?.status, "expired");

  const late = { ...change, nowMs: NOW_MS + 60_000, overlapSeconds: 60 };
  await assert.rejects(rotateKey(sql, { ...late, keyId: lasting.id }), refused("conflict"));
  await revokeKey(sql, { ...change, keyId: ending.id });
  const revoked = rotateKey(sql, { ...change, keyId: ending.id, overlapSeconds: 0 });
  await assert.rejects(revoked, refused("conflict"));

  const stranger = await project(sql, "prj_other");
  for (const keyId of [lasting.id, "key_unknown", "key_\u0000", ""]) {
    const elsewhere = { projectId: stranger.projectId, keyId, nowMs: NOW_MS };
    await assert.rejects(revokeKey(sql, elsewhere), refused("not_found"));
    const rotation = rotateKey(sql, { ...elsewhere, overlapSeconds: 0 });
    await assert.rejects(rotation, refused("not_found"));
  }
});
