import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import { deleteEventIds } from "../../src/projection/keyed_deletion.ts";
import { eraseFromJournal } from "../../src/projection/journal_erasure.ts";
import { actorsOf, identitiesOf, linkIdentities } from "../../src/projection/identities.ts";
import { lastWaiting, markProjected, pendingEvents } from "../../src/projection/pending_events.ts";
import { namesAround } from "../../src/upgrade/earlier_people.ts";
import { onBothEngines } from "../support/databases.ts";
import { openAnalyzed, rowsDeleted, rowsRead } from "../support/rows_read.ts";

const ROWS = 20_000;
const WANTED = 200;
const MINUTE_MS = 60_000;
const TABLES = ["event_ids", "identities", "journal"];

const idOf = (n: number) => `0190a000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const wanted = Array.from({ length: WANTED }, (_, i) => 20 * (i + 1));

/** Fills a project: of its journal's rows the last ones wait; every second identity is of the user before it. */
async function fill(database: Database, projectId: number, rows: number): Promise<void> {
  await database.query(
    `INSERT INTO event_ids (project_id, event_id)
    SELECT $1::int, ('0190a000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid
    FROM generate_series(1, $2::int) AS n`,
    [projectId, rows],
  );
  await database.query(
    `INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
    SELECT $1::int, n, n - n % 2,
      CASE n % 2 WHEN 0 THEN 'u'::"char" ELSE 'a' END, 'device ' || n
    FROM generate_series(2, $2::int) AS n`,
    [projectId, rows],
  );
  await database.query(
    `INSERT INTO journal (project_id, event_count, from_ms, to_ms, block, projected_count, projected_at)
    SELECT $1::int, 1, n * ${MINUTE_MS}::int8, n * ${MINUTE_MS}::int8, '', (n <= $3::int)::int, CASE WHEN n <= $3::int THEN now() END
    FROM generate_series(1, $2::int) AS n`,
    [projectId, rows, rows - WANTED],
  );
}

/** Each reads rows of WANTED keys. */
const WORKS: Readonly<Record<string, (tx: Sql) => Promise<void>>> = {
  deleteEventIds: async (tx) => {
    const before = await rowsDeleted(tx, TABLES);
    await deleteEventIds(tx, 1, wanted.map(idOf));
    assert.equal(await rowsDeleted(tx, TABLES) - before, WANTED);
  },
  linkIdentities: async (tx) => {
    const none = { id: ROWS + 1, actor: 2, linkedMs: 5, linkedBy: idOf(1) };
    const linked = wanted.map((id) => ({ id, actor: 2, linkedMs: id, linkedBy: idOf(id) }));
    await linkIdentities(tx, 1, [...linked, none]);
    const rows = await tx.query(
      `SELECT identity_id AS id, actor_id AS actor, linked_ms AS "linkedMs", linked_by AS "linkedBy", value
      FROM identities WHERE project_id = (SELECT 1) AND identity_id IN (20, 4000, $1::int)`,
      [none.id],
    );
    assert.deepEqual(rows, [
      { ...linked[0], value: "device 20" },
      { ...linked[WANTED - 1], value: "device 4000" },
    ]);
  },
  identitiesOf: async (tx) => {
    const actors = await identitiesOf(tx, 1, wanted);
    assert.deepEqual([actors.size, actors.get(20), actors.get(21)], [2 * WANTED, 20, 20]);
  },
  actorsOf: async (tx) => {
    assert.deepEqual(await actorsOf(tx, 1, wanted.map((id) => id + 1)), new Set(wanted));
  },
  namesAround: async (tx) => {
    const { users, anonymous } = await namesAround(tx, 1, "device 21");
    assert.deepEqual([users, anonymous], [["device 21", "device 20"], ["device 21"]]);
  },
  "erasure of the journal": async (tx) => {
    // A row without a block cannot be read, and stays.
    const moments = wanted.map((n) => n * MINUTE_MS);
    assert.deepEqual(await eraseFromJournal(tx, 1, new Set(["aa"]), moments), []);
  },
  journal: async (tx) => {
    const last = (await lastWaiting(tx, 1))!;
    // A row without a block cannot be read.
    const pending = await pendingEvents(tx, 1, WANTED);
    const { unreadable } = pending;
    assert.deepEqual([unreadable.length, unreadable.at(-1)], [WANTED, last]);
    const [damaged, partly, ...whole] = unreadable as [number, number, ...number[]];
    const taken = whole.map((journalId) => ({ journalId, upTo: 3, isWhole: true }));
    await markProjected(tx, 1, {
      ...pending,
      taken: [{ journalId: partly, upTo: 2, isWhole: false }, ...taken],
      unreadable: [damaged],
    });
    const rows = await tx.query(
      `SELECT projected_count AS up_to, projected_at IS NOT NULL AS is_whole,
        set_aside_until IS NOT NULL AS is_aside, count(*)::int AS rows
      FROM journal WHERE project_id = (SELECT 1) AND journal_id >= $1::int8
      GROUP BY 1, 2, 3 ORDER BY 1`,
      [damaged],
    );
    assert.deepEqual(rows, [
      { up_to: 0, is_whole: true, is_aside: true, rows: 1 },
      { up_to: 2, is_whole: false, is_aside: false, rows: 1 },
      { up_to: 3, is_whole: true, is_aside: false, rows: WANTED - 2 },
    ]);
  },
};

onBothEngines(
  "keyed updates: each row is looked up, whatever the planner knows of its project",
  async (t, db) => {
    const database = await openAnalyzed(db, TABLES, (each, id) => fill(each, id, 20));
    await fill(database, 1, ROWS);
    for (const [name, work] of Object.entries(WORKS)) {
      await t.step(name, async () => {
        const read = await rowsRead(database, TABLES, work);
        // An erasure looks at all rows of the journal for those of its spans.
        const looked = name.startsWith("erasure") ? 2 * ROWS : 0;
        assert.ok(read <= 10 * WANTED + looked, `${name} reads ${read} rows`);
      });
    }
  },
);
