/** What the recurring jobs ask of projects in which nothing is due: most of thousands. */
import assert from "node:assert/strict";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { JOURNAL_KEPT_MS } from "../../src/store/store_limits.ts";
import { purgeJournal } from "../../src/ingest/retention.ts";
import { DAY_MS } from "../../src/limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { deleteExpiredEvents } from "../../src/projection/retention.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";

const PROJECTS = 30;
const KEPT_DAYS = 10;

onBothEngines("jobs: projects without anything due cost next to nothing", async (t, db) => {
  const database = await openWithProjects(db);
  await database.query(
    `INSERT INTO projects (public_id, name) SELECT 'prj_' || i, 'Idle' FROM generate_series(3, ${PROJECTS}) i`,
  );
  await database.query("UPDATE projects SET retention_days = $1::int", [KEPT_DAYS]);
  const projection = createProjection(database);
  const nowMs = Date.now();
  const at = (daysAgo: number) => new Date(nowMs - daysAgo * DAY_MS).toISOString();
  for (let project = 1; project <= PROJECTS; project++) {
    await insertEvents(database, [newRow({ project_id: project, occurred_at: at(1) })]);
    await projection.catchUp(project);
  }
  let [statements, transactions] = [0, 0];
  const counted = withMembers(database, {
    query(text, params) {
      statements++;
      return database.query(text, params);
    },
    transaction(work, signal) {
      transactions++;
      return database.transaction(work, signal);
    },
  });
  const asked = async (work: () => Promise<number>) => {
    [statements, transactions] = [0, 0];
    return { result: await work(), statements, transactions };
  };
  const expire = () => asked(() => deleteExpiredEvents(counted, new Date(nowMs)));
  const purge = (ms: number) => asked(() => purgeJournal(counted, new Date(nowMs + ms)));

  await t.step("retention begins no transaction", async () => {
    const nothing = { result: 0, statements: 1 + 2 * PROJECTS, transactions: 0 };
    assert.deepEqual(await expire(), nothing);
  });
  await t.step("it deletes what is old, and then begins none again", async () => {
    await insertEvents(database, [newRow({ project_id: 2, occurred_at: at(KEPT_DAYS + 1) })]);
    await projection.catchUp(2);
    assert.deepEqual([(await expire()).result, (await expire()).transactions], [1, 0]);
  });
  await t.step("the journal's purge asks once for all", async () => {
    assert.deepEqual(await purge(0), { result: 0, statements: 1, transactions: 0 });
  });
  await t.step("it purges what is due", async () => {
    const due = await purge(JOURNAL_KEPT_MS + DAY_MS);
    assert.equal(due.result, PROJECTS);
    assert.deepEqual(await purge(JOURNAL_KEPT_MS + DAY_MS), {
      result: 0,
      statements: 1,
      transactions: 0,
    });
  });
});
