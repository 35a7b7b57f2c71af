import assert from "node:assert/strict";
import { insertEvents, keyOf } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects, storedRows } from "../support/event_rows.ts";

const sorted = (rows: readonly EventRow[]) =>
  rows.toSorted((a, b) => a.project_id - b.project_id || (a.event_id < b.event_id ? -1 : 1));

onBothEngines("insertEvents: ids and a journal row a project", async (t, db) => {
  const database = await openWithProjects(db);
  const journal = () =>
    database.query(
      `SELECT project_id, event_count, known_ids, projected_at, projected_count, set_aside_until
      FROM journal ORDER BY journal_id`,
    );
  const pending = { projected_at: null, projected_count: 0, set_aside_until: null };
  const one = sorted([newRow({ title: "a" }), newRow({ properties: '{"a":[1,"}"]}' }), newRow()]);
  const two = sorted([newRow({ project_id: 2 }), newRow({ project_id: 2 })]);

  await t.step("what is new stands in one row a project", async () => {
    assert.deepEqual(await insertEvents(database, [...one, ...two]), new Set());
    assert.deepEqual(await journal(), [
      { project_id: 1, event_count: 3, known_ids: null, ...pending },
      { project_id: 2, event_count: 2, known_ids: null, ...pending },
    ]);
    assert.deepEqual(await storedRows(database), [...one, ...two]);
  });

  await t.step("what was stored before is told, and stored once", async () => {
    const again = { ...one[1]!, title: "another" };
    const elsewhere = { ...one[0]!, project_id: 2 };
    const fresh = newRow();
    const known = await insertEvents(database, sorted([again, fresh, elsewhere, ...two]));
    assert.deepEqual(known, new Set([again, ...two].map(keyOf)));
    const rows = await journal();
    assert.deepEqual(rows.slice(2), [
      { project_id: 1, event_count: 1, known_ids: [again.event_id], ...pending },
      { project_id: 2, event_count: 1, known_ids: rows[3]!.known_ids, ...pending },
    ]);
    assert.deepEqual(
      new Set(rows[3]!.known_ids as string[]),
      new Set(two.map((row) => row.event_id)),
    );
    assert.deepEqual(await storedRows(database), [...one, ...two, fresh, elsewhere]);
  });

  await t.step("of known events alone there is no row", async () => {
    const before = (await journal()).length;
    assert.equal((await insertEvents(database, [...one, ...two])).size, 5);
    assert.equal((await journal()).length, before);
  });

  await t.step("each row names the transaction that stored it, whoever changes it", async () => {
    const storers = () =>
      database.query("SELECT journal_id, stored_by::text FROM journal ORDER BY journal_id");
    const before = await storers();
    assert.equal(new Set(before.map((row) => row.stored_by)).size, 2);
    await database.query("UPDATE journal SET projected_at = now() WHERE project_id = 1");
    assert.deepEqual(await storers(), before);
  });
});
