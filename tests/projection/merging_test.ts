import assert from "node:assert/strict";
import { borrowDatabase } from "../../src/db/borrowed_database.ts";
import { LentDatabase } from "../../src/db/lent_database.ts";
import type { Database, Sql } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { mergeOnce, Merging } from "../../src/projection/merging.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { MERGING_PAUSE_MS, SEGMENTS_UNMERGED_MAX } from "../../src/projection/projection_limits.ts";
import { addEvents, eraseFromSegments } from "../../src/store/segments.ts";
import { SEGMENT_VERSION } from "../../src/store/segment_head.ts";
import { SEGMENTS_MERGED } from "../../src/store/store_limits.ts";
import { batchOf } from "../support/event_batch.ts";
import { eventsOfIdentities, type SegmentEvent } from "../support/segment_events.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { withMembers } from "../support/fake_sql.ts";

const PROJECT = 1;
const START_MS = Date.parse("2026-03-01T17:00:00Z");
const PEOPLE = new Set([1, 2, 3]);
const WAIT_MS = 20;

/** The event of this number, of one of three people. */
function eventOf(number: number): SegmentEvent {
  const ms = START_MS + number * 1_000;
  const id = new Uint8Array(16);
  new DataView(id.buffer).setUint32(12, number);
  const event_id = `00000000-0000-0000-0000-${id.subarray(10).toHex()}`;
  const time = new Date(ms).toISOString();
  const row = newRow({ event_id, occurred_at: time, received_at: time, path: `/${number}` });
  return {
    ...{ identity: 1 + number % 3, ms, id, row, name: 5, path: 10 + number },
    ...{ context: 1, traffic: 1, title: 0, referrer: 0 },
  };
}

/** So many segments of one event each. @returns the events */
async function storeSegments(database: Database, count: number): Promise<SegmentEvent[]> {
  const events = Array.from({ length: count }, (_, number) => eventOf(number));
  await database.transaction(async (tx) => {
    for (const event of events) await addEvents(tx, PROJECT, batchOf([event]));
  });
  return events;
}

async function segmentIds(sql: Sql): Promise<number[]> {
  const rows = await sql.query<{ segment_id: number }>(
    "SELECT segment_id FROM segments ORDER BY segment_id",
  );
  return rows.map(({ segment_id }) => segment_id);
}

const stored = (sql: Sql) => eventsOfIdentities(sql, PROJECT, PEOPLE);

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
}

onBothEngines("merging: in the background, once all is projected", async (_t, db) => {
  const database = await openWithProjects(db);
  const projection = createProjection(database);
  for (let number = 0; number < SEGMENTS_MERGED; number++) {
    await insertEvents(database, [newRow({ anonymous_id: "a" })]);
    await projection.catchUp(PROJECT);
  }
  assert.equal((await segmentIds(database)).length, SEGMENTS_MERGED);
  const stop = new AbortController();
  const running = createProjection(database).run(stop.signal);
  await until(async () => (await segmentIds(database)).length === 1);
  stop.abort();
  await running;
  const [row] = await database.query("SELECT events FROM segments");
  assert.equal(row!.events, SEGMENTS_MERGED);
});

onBothEngines("merging: waits for the projection, unless segments are too many", async (t, db) => {
  const database = await openWithProjects(db);
  const events = await storeSegments(database, SEGMENTS_UNMERGED_MAX);
  const projected = Promise.withResolvers<void>();
  const waited = Promise.withResolvers<void>();
  let isProjecting = true;
  const host = {
    exclusively: (_projectId: number, work: () => Promise<void>) => work(),
    underWay() {
      waited.resolve();
      return isProjecting ? projected.promise : null;
    },
    failed: (_projectId: number, error: unknown) => assert.fail(String(error)),
  };
  const run = () => {
    const stop = new AbortController();
    const running = new Merging(database, host).run(stop.signal);
    return async () => {
      stop.abort();
      await running;
    };
  };
  await t.step("too many are merged at once", async () => {
    await database.transaction((tx) => addEvents(tx, PROJECT, batchOf([eventOf(events.length)])));
    events.push(eventOf(events.length));
    const end = run();
    await until(async () => (await segmentIds(database)).length === 1);
    await end();
  });
  await t.step("others wait", async () => {
    await database.script("DELETE FROM segments");
    await storeSegments(database, SEGMENTS_UNMERGED_MAX);
    const end = run();
    await waited.promise;
    assert.equal((await segmentIds(database)).length, SEGMENTS_UNMERGED_MAX);
    isProjecting = false;
    projected.resolve();
    await until(async () => (await segmentIds(database)).length === 1);
    await end();
  });
  assert.deepEqual(await stored(database), events.slice(0, SEGMENTS_UNMERGED_MAX));
});

onBothEngines("merging: who is erased meanwhile does not come back", async (_t, db) => {
  const database = await openWithProjects(db);
  const events = await storeSegments(database, 2 * SEGMENTS_MERGED);
  const isMerged = await mergeOnce(database, PROJECT, undefined, async (_projectId, replace) => {
    await database.transaction((tx) => eraseFromSegments(tx, PROJECT, new Set([2])));
    await replace();
  });
  assert.ok(isMerged);
  const left = events.filter(({ identity }) => identity !== 2);
  assert.equal((await segmentIds(database)).length, left.length);
  assert.deepEqual(await stored(database), left);
  assert.ok(await mergeOnce(database, PROJECT));
  assert.equal((await segmentIds(database)).length, 1);
  assert.deepEqual(await stored(database), left);
  assert.ok(!await mergeOnce(database, PROJECT));
});

onBothEngines("merging: whoever ends in the middle of it has changed nothing", async (_t, db) => {
  const database = await openWithProjects(db);
  const events = await storeSegments(database, SEGMENTS_MERGED);
  const before = await segmentIds(database);
  for (const statement of ["DELETE FROM segments", "INSERT INTO segments"]) {
    const { port1, port2 } = new MessageChannel();
    const lent = new LentDatabase(database, port1);
    const borrowed = borrowDatabase(port2, database.engine);
    const reached = Promise.withResolvers<void>();
    // Its answer never comes: whoever merges has ended there.
    const ending = withMembers(borrowed, {
      transaction: (work) =>
        borrowed.transaction((tx) => {
          const query: Sql["query"] = async (text, params) => {
            const rows = await tx.query(text, params);
            if (!text.includes(statement)) return rows as never;
            reached.resolve();
            return await new Promise<never>(() => {});
          };
          return work(withMembers(tx, { query }));
        }),
    });
    void mergeOnce(ending, PROJECT);
    await reached.promise;
    await lent.close();
    await borrowed.close();
    assert.deepEqual(await segmentIds(database), before);
    assert.deepEqual(await stored(database), events);
  }
  assert.ok(await mergeOnce(database, PROJECT));
  assert.deepEqual(await stored(database), events);
});

for (const count of [SEGMENTS_MERGED - 1, 2 * SEGMENTS_MERGED]) {
  const name = `merging: ${count} that an earlier version wrote, one of which cannot be read`;
  onBothEngines(name, async (_t, db) => {
    const database = await openWithProjects(db);
    const events = await storeSegments(database, count);
    const [first] = await segmentIds(database);
    await database.query("UPDATE segments SET version = version - 1");
    await database.query(
      "UPDATE segments SET body = decode('00', 'hex') WHERE segment_id = $1::int8",
      [first!],
    );
    const failures: unknown[] = [];
    const host = {
      exclusively: (_projectId: number, work: () => Promise<void>) => work(),
      underWay: () => null,
      failed: (_projectId: number, error: unknown) => void failures.push(error),
    };
    const stop = new AbortController();
    const merging = new Merging(database, host);
    const running = merging.run(stop.signal);
    const earlier = `SELECT segment_id FROM segments WHERE version < ${SEGMENT_VERSION}`;
    const left = async () => (await database.query(earlier)).map(({ segment_id }) => segment_id);
    await until(async () => (await left()).length === 1);
    merging.note(PROJECT);
    await new Promise((resolve) => setTimeout(resolve, 2 * MERGING_PAUSE_MS));
    stop.abort();
    await running;
    assert.deepEqual(await left(), [first]);
    assert.equal(failures.length, 1, "told once");
    assert.match(String(failures[0]), /^SegmentUnreadable: Segment \d+ is damaged.* cut short/);
    const merged = count < SEGMENTS_MERGED ? count - 1 : 1;
    assert.equal((await segmentIds(database)).length, 1 + merged);
    await database.query("DELETE FROM segments WHERE segment_id = $1::int8", [first!]);
    assert.deepEqual(await stored(database), events.slice(1));
  });
}
