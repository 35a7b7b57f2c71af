import assert from "node:assert/strict";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { projectOfRead } from "../../src/server/project_of_read.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";

const who = {
  subject: "reader",
  scopes: new Set(["read"]),
  projects: "*" as const,
  expiresAtMs: Infinity,
};

onBothEngines("project of a read: whether it is behind, in one statement", async (_t, db) => {
  const database = await openWithProjects(db);
  let statements = 0;
  const counting = withMembers(database, {
    query: (text, params) => {
      statements++;
      return database.query(text, params);
    },
  });
  const of = async (id: string) => {
    const url = new URL(`http://x/v1/kpis?project=${id}`);
    const exchange = {
      request: new Request(url),
      url,
      params: {},
      requestId: "r",
      peer: null,
      who,
    };
    const { project, isBehind } = await projectOfRead(counting, exchange);
    return [project.projectId, isBehind];
  };
  const projection = createProjection(database);

  assert.deepEqual([await of("prj_one"), await of("prj_two")], [[1, false], [2, false]]);
  await insertEvents(database, [newRow()]);
  assert.deepEqual([await of("prj_one"), await of("prj_two")], [[1, true], [2, false]]);
  await projection.catchUp(1);
  assert.deepEqual(await of("prj_one"), [1, false]);
  // Its rollups are then counted anew.
  await database.script("UPDATE projects SET timezone = 'Europe/Berlin' WHERE project_id = 1");
  assert.deepEqual(await of("prj_one"), [1, true]);
  assert.equal(statements, 6);
  await assert.rejects(of("prj_none"), { code: "not_found" });
  await assert.rejects(of("%00"), { code: "not_found" });
});
