import assert from "node:assert/strict";
import fc from "fast-check";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { loadHistories } from "../../src/histories/histories.ts";
import { SegmentCache } from "../../src/histories/segment_cache.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { createFold } from "../../src/sessions/fold.ts";
import { foldedState } from "../sessions/folded_state.ts";
import { assertHistories } from "../sessions/stored_history.ts";
import { onBothEngines } from "../support/databases.ts";
import {
  assertColumn,
  assertTexts,
  KEYS,
  newProject,
  someRows,
  START_MS,
  storedSegments,
  storeRows,
} from "./property_world.ts";

/** The last schema whose histories held no properties. */
const BARE_VERSION = 5;
const BATCH = 4;

/** Folds rows, a few at a time, as the program of that schema did: it wrote all columns that it had. */
async function foldedBare(database: Database, rows: readonly EventRow[]) {
  const project = await newProject(database);
  await database.script(`
    ALTER TABLE history_segments ADD propertied bytea, ADD text_ends bytea, ADD texts bytea,
      ADD titles bytea, ADD referrers bytea;
    ALTER TABLE fold_marks ADD set_aside_until timestamptz;
    ALTER TABLE fold_projects ADD recounted_to int, ADD recount_timezone text, ADD histories_to int;
    CREATE TABLE referrers (
      project_id int, referrer_id int, digest uuid, address text, host text);
    CREATE TABLE technical_names (
      project_id int, term_id int, name text, PRIMARY KEY (project_id, term_id))`);
  for (let i = 0; i < rows.length; i += BATCH) {
    await storeRows(database, project, rows.slice(i, i + BATCH));
    await createFold(database).catchUp(project);
  }
  const state = await foldedState(database, project);
  await database.script(`
    ALTER TABLE history_segments DROP propertied, DROP text_ends, DROP texts, DROP titles,
      DROP referrers;
    ALTER TABLE fold_marks DROP set_aside_until;
    ALTER TABLE fold_projects DROP recounted_to, DROP recount_timezone, DROP histories_to;
    DROP TABLE referrers;
    DROP TABLE technical_names;
    DELETE FROM terms t WHERE NOT EXISTS (
      SELECT FROM facts f WHERE f.project_id = t.project_id AND t.term_id IN (f.name_id, f.path_id))`);
  return { project, state };
}

/** Row by row. */
function assertSame(lines: readonly string[], expected: readonly string[]): void {
  assert.equal(lines.length, expected.length);
  for (const [i, line] of lines.entries()) assert.equal(line, expected[i]);
}

onBothEngines(
  "upgrade: histories without properties and titles are made anew with them",
  async (t, db) => {
    const database = await db.open();
    await migrate(database, MIGRATIONS.filter(({ version }) => version <= BARE_VERSION));
    const [all] = fc.sample(someRows(45), 1);
    const [rows, later] = [all!.slice(0, 40), all!.slice(40)];
    const { project, state: before } = await foldedBare(database, rows);
    const { project: pending } = await foldedBare(database, rows);
    await storeRows(database, pending, later);
    const [bare] = await database.query<{ segments: number }>(
      "SELECT count(*)::int AS segments FROM history_segments",
    );
    assert.ok(bare!.segments > 0);
    const span = { fromMs: 0, toMs: 2 * START_MS };
    const load = (projectId: number) =>
      database.transaction((sql) =>
        loadHistories(sql, new SegmentCache(1_000_000), projectId, span)
      );

    await t.step("until the next fold there are none, and the rest is as it was", async () => {
      const { applied } = await migrate(database, MIGRATIONS);
      assert.equal(applied[0], "0006_history_properties");
      assert.equal((await storedSegments(database, project)).length, 0);
      assert.equal(await load(project), null);
      assert.equal(await load(pending), null);
    });

    await t.step("the next fold makes them, whether or not anything is pending", async () => {
      for (const one of [project, pending]) await createFold(database).catchUp(one);
      assertSame(await foldedState(database, project), before);
      const fresh = await newProject(database);
      await storeRows(database, fresh, [...rows, ...later]);
      await createFold(database).catchUp(fresh);
      assertSame(await foldedState(database, pending), await foldedState(database, fresh));
    });

    await t.step("with the properties and titles of all events", async () => {
      let found = 0;
      for (const one of [project, pending]) {
        assert.notEqual(await load(one), null);
        for (const key of KEYS) found += await assertColumn(database, one, key);
        await assertTexts(database, one);
        await assertHistories(database, one);
      }
      assert.ok(found > 0);
    });
  },
);
