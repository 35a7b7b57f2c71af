import assert from "node:assert/strict";
import { recordAudit } from "../../src/audit/audit.ts";
import { AUDIT_SUBJECT_LENGTH_MAX } from "../../src/limits.ts";
import { openMigrated } from "../auth/auth_server.ts";
import { onBothEngines } from "../support/databases.ts";

onBothEngines("audit: an entry is stored with its change, or not at all", async (_, db) => {
  const sql = await openMigrated(db);
  const entry = { who: "ann@example.com", what: "key.create", subject: "a key", from: "8.8.8.8" };
  await assert.rejects(
    sql.transaction(async (inside) => {
      await recordAudit(inside, { ...entry, what: "key.create" });
      throw new Error("the work failed");
    }),
    /the work failed/,
  );
  await sql.transaction((inside) => recordAudit(inside, { ...entry, what: "key.rotate" }));
  const rows = await sql.query("SELECT who, what, subject, project_id, from_address FROM audit");
  assert.deepEqual(rows, [{
    ...{ who: "ann@example.com", what: "key.rotate", subject: "a key" },
    project_id: null,
    from_address: "8.8.8.8",
  }]);
});

onBothEngines("audit: text that cannot be stored or shown is cut", async (_, db) => {
  const sql = await openMigrated(db);
  const kept = "x".repeat(AUDIT_SUBJECT_LENGTH_MAX);
  for (const subject of [kept, `${kept}y`, "a\u0000b\nc", "lone \ud800"]) {
    await recordAudit(sql, { who: "operator", what: "project.change", subject, from: null });
  }
  const rows = await sql.query<{ subject: string }>("SELECT subject FROM audit ORDER BY audit_id");
  assert.deepEqual(rows.map(({ subject }) => subject), [kept, kept, "a b c", "lone \ufffd"]);
});
