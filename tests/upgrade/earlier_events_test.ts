import assert from "node:assert/strict";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { hasEarlierEvents } from "../../src/ingest/event_insert.ts";
import { Writer } from "../../src/ingest/writer.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { EarlierEvents } from "../../src/upgrade/earlier_events.ts";
import { dropEmptiedTable } from "../../src/upgrade/earlier_projects.ts";
import { eraseExpiredEarlier } from "../../src/upgrade/earlier_retention.ts";
import { onBareEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { withMembersInside } from "../support/fake_sql.ts";
import {
  assertSame,
  earlierRow,
  migrateEarlier,
  segmentRows,
  storeEarlier,
} from "./earlier_store.ts";

const MOVED_AT_ONCE = 2_000;

const silent = { info: () => {}, warn: () => {} };
const loud = { ...silent, error: (message: string) => assert.fail(message) };

/** Runs the upgrade beside the projection until it is done, or for so long. */
async function upgrade(database: Database, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const projecting = createProjection(database).run(stop.signal);
  const done = new EarlierEvents(database, loud).run(stop.signal).then(() => true);
  const timer = Promise.withResolvers<boolean>();
  const timeout = setTimeout(() => timer.resolve(false), ms);
  const isDone = await Promise.race([done, timer.promise]);
  clearTimeout(timeout);
  stop.abort();
  await Promise.all([done, projecting]);
  return isDone && !await hasEarlierEvents(database);
}

onBareEngines(
  "upgrade: every event of before segments comes out of them as it was",
  async (t, db) => {
    const database = await db.open();
    await migrateEarlier(database);
    const earlier = Array.from({ length: 2 * MOVED_AT_ONCE + 500 }, (_, i) => earlierRow(i));
    const others = Array.from({ length: 60 }, (_, i) => earlierRow(i, 2));
    await storeEarlier(database, [...earlier, ...others]);
    await migrate(database, MIGRATIONS);
    const writer = new Writer(database, { flushesAtOnce: 1, observe: () => {} });
    const fresh: EventRow[] = [];

    await t.step("what was stored before is a duplicate before anything is moved", async () => {
      const added = Array.from({ length: 20 }, (_, i) => newRow({ name: `fresh ${i}` }));
      fresh.push(...added);
      const { duplicates } = await writer.write([...earlier.slice(0, 30), ...added], 1000);
      assert.equal(duplicates, 30);
    });
    await t.step("it goes on after stops at any moment, beside ingestion", async () => {
      for (const ms of [1, 30, 150, 400]) {
        if (await upgrade(database, ms)) break;
        const added = newRow({ name: "meanwhile" });
        fresh.push(added);
        const { duplicates } = await writer.write([added, earlier[ms]!, earlier.at(-ms)!], 1000);
        assert.equal(duplicates, 2);
      }
      assert.ok(await upgrade(database, 120_000), "to its end");
    });
    await t.step("nothing is lost, changed or there twice", async () => {
      await createProjection(database).catchUp(1);
      assertSame(await segmentRows(database, 1), [...earlier, ...fresh]);
      assertSame(await segmentRows(database, 2), others);
    });
    await t.step("a replay is a duplicate afterwards, too", async () => {
      const { duplicates } = await writer.write([earlier[7]!, newRow()], 1000);
      assert.equal(duplicates, 1);
    });
    await t.step("its rows of the journal are gone, and no tail had shown them", async () => {
      const [left] = await database.query<{ events: number }>(
        "SELECT coalesce(sum(event_count), 0)::int AS events FROM journal WHERE project_id = 1",
      );
      assert.equal(left!.events, fresh.length + 1);
    });
  },
);

onBareEngines("upgrade: what segments do not give back is kept, and told", async (_t, db) => {
  const database = await db.open();
  await migrateEarlier(database);
  const rows = [earlierRow(1), earlierRow(2)];
  await storeEarlier(database, rows);
  await migrate(database, MIGRATIONS);
  // The same id as something else: as if a segment had changed it.
  await new Writer(database, { flushesAtOnce: 1, observe: () => {} }).write([newRow()], 100);
  await database.query(
    "UPDATE earlier_projects SET remaining = 0 WHERE project_id = 1 AND remaining = 2",
  );
  const told: string[] = [];
  const stop = new AbortController();
  const log = { ...silent, error: (message: string) => void told.push(message) };
  await new EarlierEvents(database, log).run(stop.signal);
  assert.deepEqual(told, ["upgrade kept events that segments do not give back"]);
  const [left] = await database.query<{ events: number }>(
    "SELECT count(*)::int AS events FROM earlier_events",
  );
  assert.equal(left!.events, 2);
});

onBareEngines("upgrade: a new database has no table of earlier events", async (_t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  assert.equal(await hasEarlierEvents(database), true);
  assert.equal(await dropEmptiedTable(database), true);
  assert.equal(await hasEarlierEvents(database), false);
});

onBareEngines(
  "upgrade: an event that was set aside is waited for, then compared",
  async (_t, db) => {
    const database = await db.open();
    await migrateEarlier(database);
    const rows = Array.from({ length: 50 }, (_, i) => earlierRow(i));
    await storeEarlier(database, rows);
    await migrate(database, MIGRATIONS);
    const stop = new AbortController();
    const upgrading = new EarlierEvents(database, loud).run(stop.signal);
    const waits = async () => {
      const [row] = await database.query<{ waiting: number }>(
        "SELECT count(*)::int AS waiting FROM journal WHERE projected_at IS NULL AND stored_by = '3'",
      );
      return row!.waiting > 0;
    };
    while (!await waits());
    // As the projection does with one that it cannot take; the others are in segments.
    const [aside] = rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1);
    await database.query(
      `UPDATE journal SET projected_count = 1, set_aside_ids = ARRAY[$1::text::uuid],
      set_aside_until = now() + interval '1 hour' WHERE projected_at IS NULL`,
      [aside!.event_id],
    );
    const projecting = createProjection(database).run(stop.signal);
    const left = async () => {
      const [row] = await database.query<{ events: number }>(
        "SELECT count(*)::int AS events FROM earlier_events",
      );
      return row!.events;
    };
    while (await left() > 1);
    assert.equal((await segmentRows(database, 1)).size, rows.length - 1);
    await database.script("UPDATE journal SET set_aside_until = now() - interval '1 s'");
    await upgrading;
    stop.abort();
    await projecting;
    assert.equal(await hasEarlierEvents(database), false);
    assertSame(await segmentRows(database, 1), rows);
  },
);

onBareEngines(
  "upgrade: expired events are found in order before the planner knows of them",
  async (_t, db) => {
    const database = await db.open();
    await migrateEarlier(database);
    await storeEarlier(database, Array.from({ length: 2_000 }, (_, i) => earlierRow(i)));
    await migrate(database, MIGRATIONS);
    await database.query("UPDATE projects SET retention_days = 1");
    const plans: string[] = [];
    const explained = withMembersInside(database, (tx) => ({
      query: async (text, params) => {
        const rows = await tx.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, params);
        if (text.includes("DELETE")) plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return await tx.query(text, params);
      },
    }));
    assert.equal(await eraseExpiredEarlier(explained, new Date()), 2_000);
    assert.match(plans.join("\n"), /Scan using events_by_time/);
    assert.match(plans.join("\n"), /Tid Scan on earlier_events/);
    assert.doesNotMatch(plans.join("\n"), /Sort|Bitmap|Seq Scan|Join/);
  },
);
