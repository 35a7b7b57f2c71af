import assert from "node:assert/strict";
import { insertEvents, insertNewEvents, keyOf } from "../../src/ingest/event_insert.ts";
import { JOURNAL_BLOCK_ROWS_MAX } from "../../src/limits.ts";
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

onBothEngines(
  "insertNewEvents: blocks of a bounded number of events, all or none",
  async (t, db) => {
    const database = await openWithProjects(db);
    const rowsOf = (count: number, project_id: number) =>
      Array.from({ length: count }, (_, i) => newRow({ project_id, title: `${i}` }));
    const counts = async () =>
      (await database.query<{ event_count: number }>(
        "SELECT event_count FROM journal ORDER BY journal_id",
      )).map(({ event_count }) => event_count);
    const titles = async () => (await storedRows(database)).map(({ title }) => title);

    await t.step(
      "a flush with as many as a block may have is one, with one more it is two",
      async () => {
        const full = rowsOf(JOURNAL_BLOCK_ROWS_MAX, 2);
        const more = rowsOf(JOURNAL_BLOCK_ROWS_MAX + 1, 1);
        await insertNewEvents(database, [...full, ...more]);
        const half = JOURNAL_BLOCK_ROWS_MAX / 2;
        assert.deepEqual(await counts(), [half + 1, half, JOURNAL_BLOCK_ROWS_MAX]);
        // In the order of arrival.
        assert.deepEqual(await titles(), [...more, ...full].map(({ title }) => title));
      },
    );

    await t.step("with one that is known, or twice in it, nothing is stored", async () => {
      const before = await counts();
      const [known] = await storedRows(database);
      const twice = newRow();
      for (const rows of [[newRow(), known!], [twice, newRow(), twice]]) {
        await assert.rejects(insertNewEvents(database, rows), { sqlState: "23505" });
      }
      assert.deepEqual(await counts(), before);
      const [{ ids } = { ids: 0 }] = await database.query<{ ids: number }>(
        "SELECT count(*)::int AS ids FROM event_ids",
      );
      assert.equal(ids, 2 * JOURNAL_BLOCK_ROWS_MAX + 1);
    });
  },
);
