import assert from "node:assert/strict";
import { provisionDefaultProject, provisionForCommand } from "../../src/auth/default_project.ts";
import { createKeyDirectory } from "../../src/auth/keys.ts";
import { listProjects, requireProject } from "../../src/auth/projects.ts";
import { createKey, listKeys, revokeKey } from "../../src/auth/stored_keys.ts";
import { Problem } from "../../src/problem.ts";
import { onBothEngines } from "../support/databases.ts";
import { withMembers } from "../support/fake_sql.ts";
import { openMigrated, SILENT } from "./auth_server.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 4);
const UNSET = { id: "prj_default", name: null, siteUrl: null, timezone: null, apiKey: null };

onBothEngines("provisionDefaultProject: made once, with one first key", async (_, db) => {
  const sql = await openMigrated(db);
  const starts = await Promise.all(
    Array.from({ length: 4 }, () => provisionDefaultProject(sql, UNSET, NOW_MS)),
  );
  const firstKeys = starts.flatMap(({ firstKey }) => firstKey ?? []);
  assert.equal(firstKeys.length, 1);
  const keys = createKeyDirectory(sql, { now: () => NOW_MS, log: SILENT });
  const { projectPublicId, kind } = await keys.authenticate(firstKeys[0]!);
  assert.deepEqual({ projectPublicId, kind }, { projectPublicId: "prj_default", kind: "public" });
  assert.deepEqual(await provisionDefaultProject(sql, UNSET, NOW_MS), {
    firstKey: null,
    isGivenKeyNew: false,
    warning: null,
  });
});

onBothEngines("provisionDefaultProject: writes nothing if everything exists", async (_, db) => {
  const sql = await openMigrated(db);
  const transaction = () => Promise.reject(new Error("a start began a transaction"));
  for (const apiKey of ["pk_of_the_operator", null]) {
    const wanted = { ...UNSET, apiKey };
    await provisionDefaultProject(sql, wanted, NOW_MS);
    await provisionDefaultProject(withMembers(sql, { transaction }), wanted, NOW_MS);
  }
  // A key that an earlier version has stored as its hash alone is made whole.
  await sql.query("UPDATE api_keys SET key = NULL");
  await provisionDefaultProject(sql, { ...UNSET, apiKey: "pk_of_the_operator" }, NOW_MS);
  const { projectId } = await requireProject(sql, "prj_default");
  assert.equal((await listKeys(sql, projectId, NOW_MS))[0]?.key, "pk_of_the_operator");
});

onBothEngines("provisionForCommand: makes a missing project, without a key", async (_, db) => {
  const sql = await openMigrated(db);
  await provisionForCommand(sql, { ...UNSET, id: "prj_mine", apiKey: "pk_of_the_operator" });
  await provisionForCommand(sql, UNSET);
  const [project, ...more] = await listProjects(sql, "*");
  assert.deepEqual([project?.id, more], ["prj_mine", []]);
  await provisionForCommand(sql, { ...UNSET, id: "prj_mine", name: "Mine" });
  assert.equal((await requireProject(sql, "prj_mine")).name, "Mine");
  assert.deepEqual(await listKeys(sql, project!.projectId, NOW_MS), []);
});

onBothEngines("provisionDefaultProject: sets given values, keeps the others", async (_, db) => {
  const sql = await openMigrated(db);
  await provisionDefaultProject(sql, { ...UNSET, name: "Shop", timezone: "Asia/Tokyo" }, NOW_MS);
  await provisionDefaultProject(sql, { ...UNSET, siteUrl: "https://shop.example" }, NOW_MS);
  const { name, timezone, siteUrl } = await requireProject(sql, "prj_default");
  assert.deepEqual({ name, timezone, siteUrl }, {
    name: "Shop",
    timezone: "Asia/Tokyo",
    siteUrl: "https://shop.example",
  });
  const mistaken = provisionDefaultProject(sql, { ...UNSET, timezone: "Mars/Olympus" }, NOW_MS);
  await assert.rejects(
    mistaken,
    (error) => error instanceof Problem && /timezone/.test(error.detail),
  );
});

onBothEngines(
  "provisionDefaultProject: warns of a given key that is a secret one",
  async (_, db) => {
    const sql = await openMigrated(db);
    await provisionDefaultProject(sql, UNSET, NOW_MS);
    const { projectId } = await requireProject(sql, "prj_default");
    const adopted = "adopted_from_elsewhere";
    const key = { projectId, kind: "secret", label: null, expiresAt: null, nowMs: NOW_MS } as const;
    await createKey(sql, { ...key, adopted });
    for (const id of ["prj_default", "prj_other"]) {
      const { warning } = await provisionDefaultProject(
        sql,
        { ...UNSET, id, apiKey: adopted },
        NOW_MS,
      );
      assert.match(warning ?? "", /DEFAULT_API_KEY is a secret key/, id);
    }
    const keys = await listKeys(sql, projectId, NOW_MS);
    assert.deepEqual(keys.map((each) => [each.kind, each.key === adopted]).sort(), [
      ["public", false],
      ["secret", false],
    ]);
  },
);

onBothEngines(
  "provisionDefaultProject: makes the given key, and never restores a revoked one",
  async (_, db) => {
    const sql = await openMigrated(db);
    const given = { ...UNSET, apiKey: "pk_of_the_operator" };
    const starts = await Promise.all(
      [1, 2, 3].map(() => provisionDefaultProject(sql, given, NOW_MS)),
    );
    assert.deepEqual(starts.map(({ firstKey, warning }) => firstKey ?? warning), [
      null,
      null,
      null,
    ]);
    const { projectId } = await requireProject(sql, "prj_default");
    const [key, ...more] = await listKeys(sql, projectId, NOW_MS);
    assert.ok(key);
    assert.deepEqual({ kind: key.kind, more }, { kind: "public", more: [] });

    const elsewhere = await provisionDefaultProject(sql, { ...given, id: "prj_other" }, NOW_MS);
    assert.match(elsewhere.warning ?? "", /another project/);
    await revokeKey(sql, { projectId, keyId: key.id, nowMs: NOW_MS });
    assert.match((await provisionDefaultProject(sql, given, NOW_MS)).warning ?? "", /revoked/);
    assert.equal((await listKeys(sql, projectId, NOW_MS))[0]?.status, "revoked");
    assert.equal((await provisionDefaultProject(sql, UNSET, NOW_MS)).firstKey, null);
  },
);
