import assert from "node:assert/strict";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { RULES_VERSION } from "../../src/projection/dictionaries.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { isStale } from "../../src/projection/projected_project.ts";
import { clearRollups } from "../../src/projection/rollups.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { projectedState } from "./projected_state.ts";

/** Visits of three people, at 23:30 UTC of as many days. */
const visits = (projectId: number, count: number): EventRow[] =>
  Array.from({ length: count }, (_, i) =>
    newRow({
      project_id: projectId,
      event_id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
      anonymous_id: `a${i % 3}`,
      name: "page_view",
      occurred_at: new Date(Date.UTC(2026, 2, 1 + i, 23, 30)).toISOString(),
    }));

onBothEngines(
  "settling: where a segment cannot be read, what comes in is counted, and the rest once it can",
  async (t, db) => {
    const database = await openWithProjects(db);
    const causes: string[] = [];
    const projection = createProjection(database, {
      observeFailure: (cause) => causes.push(cause),
    });
    await insertEvents(database, visits(1, 5));
    await projection.catchUp(1);
    await database.script(`
      CREATE TABLE bodies AS SELECT segment_id, body FROM segments;
      UPDATE segments SET body = substring(body FROM 1 FOR 9);
      UPDATE projects SET timezone = 'Asia/Tokyo'`);
    const read = async () => {
      const [row] = await database.query(
        `SELECT timezone, (SELECT sum(events)::int FROM segments WHERE project_id = 1) AS events
        FROM projections WHERE project_id = 1`,
      );
      return row;
    };
    await t.step("the rollups are not there, so that reads do without them", async () => {
      await projection.catchUp(1);
      assert.deepEqual(await read(), { timezone: null, events: 5 });
    });
    await t.step("new events are there at once, and it is told once", async () => {
      await insertEvents(database, visits(1, 9).slice(5));
      await projection.catchUp(1);
      assert.deepEqual(await read(), { timezone: null, events: 9 });
      assert.deepEqual(causes, ["unreadable_segment"]);
    });
    await t.step("all is counted once the segment can be read", async () => {
      await database.script(
        "UPDATE segments s SET body = b.body FROM bodies b WHERE b.segment_id = s.segment_id",
      );
      await createProjection(database).catchUp(1);
      await insertEvents(database, visits(2, 9));
      await createProjection(database).catchUp(2);
      assert.deepEqual(await projectedState(database, 1), await projectedState(database, 2));
      assert.equal((await read())!.timezone, "Asia/Tokyo");
    });
  },
);

onBothEngines("settling: what later rules have classified is left as it is", async (_t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, visits(1, 2));
  await createProjection(database).catchUp(1);
  await database.query("UPDATE projections SET rules_version = $1::int", [RULES_VERSION + 1]);
  assert.ok(!await isStale(database, 1));
  await database.query("UPDATE projects SET timezone = 'Asia/Tokyo'");
  await createProjection(database).catchUp(1);
  const [row] = await database.query("SELECT timezone, rules_version FROM projections");
  assert.deepEqual(row, { timezone: "Asia/Tokyo", rules_version: RULES_VERSION + 1 });
});

onBothEngines(
  "settling: rollups are deleted in parts of one or more transactions",
  async (_t, db) => {
    const database = await openWithProjects(db);
    for (const project of [1, 2]) {
      await insertEvents(database, visits(project, 5));
      await createProjection(database).catchUp(project);
    }
    const rows = async (project: number) => {
      const [row] = await database.query<{ n: number }>(
        `SELECT (SELECT count(*) FROM day_totals WHERE project_id = $1::int)::int
        + (SELECT count(*) FROM acquisition_days WHERE project_id = $1::int)::int AS n`,
        [project],
      );
      return row!.n;
    };
    const [before, others] = [await rows(1), await rows(2)];
    assert.equal(await clearRollups(database, 1, () => true, 3), false);
    assert.equal(await rows(1), before - 3);
    assert.equal(await clearRollups(database, 1, () => false, 3), true);
    assert.deepEqual([await rows(1), await rows(2)], [0, others]);
  },
);
