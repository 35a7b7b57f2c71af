import assert from "node:assert/strict";
import type { Database, Sql } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { eraseActor } from "../../../src/projection/erasure.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { findPerson } from "../../../src/query/person_id.ts";
import { listEvents } from "../../../src/reports/events/event_list.ts";
import { wholeRows } from "../../../src/reports/events/whole_rows.ts";
import { encodeBlock } from "../../../src/store/journal_block.ts";
import { JournalBlocks } from "../../../src/timelines/journal_blocks.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { openAnalyzed, rowsRead } from "../../support/rows_read.ts";
import { countingBlocks, newestFirst, sourceOf } from "./listed_events.ts";

const AT_MS = Date.parse("2026-03-01T00:00:00Z");
const HOUR_MS = 3_600_000;

onBothEngines(
  "stored events: the blocks of a page are decoded once, until they change",
  async (t, db) => {
    const database = await openWithProjects(db);
    const flush = async (second: number) => {
      const rows = Array.from({ length: 4 }, (_, i) =>
        newRow({
          occurred_at: new Date(AT_MS + 1_000 * second + i).toISOString(),
          user_id: i < 3 ? "joe" : "jane",
        }));
      await insertEvents(database, rows);
      return rows;
    };
    const projected = [...await flush(0), ...await flush(1)];
    await createProjection(database).catchUp(1);
    const waiting = await flush(2);
    const journalBlocks = new JournalBlocks(100_000);
    const span = { fromMs: AT_MS, toMs: AT_MS + HOUR_MS };
    const listed = async (
      rows: number,
      place: Parameters<typeof listEvents>[2] = { ms: span.toMs, id: null },
    ) => {
      const counted = countingBlocks(database);
      const source = { ...sourceOf(database), sql: counted.sql, journalBlocks };
      const page = await listEvents(source, span, place, rows);
      return [page.map(({ event_id }) => event_id), counted.decoded] as const;
    };
    const ordered = newestFirst([...projected, ...waiting]);
    assert.deepEqual(await listed(6), [ordered.slice(0, 6), 2]);
    await t.step("again, none is, also where the page begins within one", async () => {
      assert.deepEqual(await listed(6), [ordered.slice(0, 6), 0]);
      const place = { ms: AT_MS + 1_002, id: ordered[5]! };
      assert.deepEqual(await listed(2, place), [ordered.slice(6, 8), 0]);
      assert.deepEqual(await listed(12), [ordered, 1]);
    });
    await t.step("once they are projected, none is either", async () => {
      await createProjection(database).catchUp(1);
      assert.deepEqual(await listed(12), [ordered, 0]);
    });
    await t.step(
      "those of whose people one was erased are, and show nothing of theirs",
      async () => {
        const actor = await findPerson(database, 1, "jane");
        await database.transaction((tx) => eraseActor(tx, 1, actor!.actor_id));
        const left = [...projected, ...waiting].filter(({ user_id }) => user_id !== "jane");
        assert.deepEqual(await listed(12), [newestFirst(left), 3]);
        assert.deepEqual(await listed(12), [newestFirst(left), 0]);
      },
    );
  },
);

onBothEngines(
  "stored events: a page of many small blocks decodes none again, though not all are named as kept",
  async (_, db) => {
    const database = await openWithProjects(db);
    const blocks = 80;
    for (let i = 0; i < blocks; i++) {
      await insertEvents(database, [newRow({ occurred_at: new Date(AT_MS + i).toISOString() })]);
    }
    const journalBlocks = new JournalBlocks(1_000_000);
    for (const expected of [blocks, 0]) {
      const counted = countingBlocks(database);
      const source = { ...sourceOf(database), sql: counted.sql, journalBlocks };
      const span = { fromMs: AT_MS, toMs: AT_MS + HOUR_MS };
      const page = await listEvents(source, span, { ms: span.toMs, id: null }, 100);
      assert.deepEqual([page.length, counted.decoded], [blocks, expected]);
    }
  },
);

/** Fills the journal with one event, and so many rows of an hour later and on, which cannot be read. */
async function fillJournal(database: Database, projectId: number, later: number): Promise<void> {
  const block = encodeBlock([newRow({ occurred_at: new Date(AT_MS).toISOString() })]).toHex();
  await database.query(
    `INSERT INTO journal (project_id, event_count, from_ms, to_ms, block, projected_at)
    SELECT $1::int, 1, at_ms, at_ms, CASE WHEN n = 0 THEN decode($4::text, 'hex') ELSE '' END, now()
    FROM generate_series(0, $2::int) n, LATERAL (SELECT $3::int8 + sign(n)::int8 * ${HOUR_MS} + n AS at_ms) AS a`,
    [projectId, later, AT_MS, block],
  );
}

onBothEngines(
  "stored events: an old page does not read the rows of the journal that begin after it",
  async (t, db) => {
    const later = 20_000;
    const database = await openAnalyzed(db, ["journal"], (each, id) => fillJournal(each, id, 20));
    await fillJournal(database, 1, later);
    const works: Readonly<Record<string, (tx: Sql) => Promise<readonly unknown[]>>> = {
      listed: (tx) => {
        const span = { fromMs: AT_MS, toMs: AT_MS + 10 };
        const source = { ...sourceOf(database), sql: tx };
        return listEvents(source, span, { ms: span.toMs, id: null }, 1);
      },
      found: (tx) => {
        const source = { ...sourceOf(database), sql: tx, journalFrom: Promise.resolve(0) };
        return wholeRows(source, [{ segmentId: 1, place: 0, ms: AT_MS }]);
      },
    };
    for (const [name, work] of Object.entries(works)) {
      await t.step(name, async () => {
        const read = await rowsRead(database, ["journal"], async (tx) => {
          assert.equal((await work(tx)).length, 1);
        });
        assert.ok(read <= 5, `${read} of ${later} rows`);
      });
    }
  },
);
