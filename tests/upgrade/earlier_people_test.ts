import assert from "node:assert/strict";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { deleteExpiredEvents } from "../../src/projection/retention.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { EarlierEvents } from "../../src/upgrade/earlier_events.ts";
import { erasePerson, movePerson } from "../../src/upgrade/earlier_people.ts";
import { eraseExpiredEarlier } from "../../src/upgrade/earlier_retention.ts";
import { EXPIRED_AT_ONCE } from "../../src/upgrade/upgrade_limits.ts";
import { onBareEngines, type TestDatabase } from "../support/databases.ts";
import { newRow, storedRows } from "../support/event_rows.ts";
import { assertSame, migrateEarlier, segmentRows, storeEarlier } from "./earlier_store.ts";

const START_MS = Date.parse("2026-01-05T00:00:00Z");
const HASH = "AAECAwQFBgcICQoLDA0ODw";
const OTHER_HASH_BYTES = "\\xff0102030405060708090a0b0c0d0e0f";

const at = (minute: number): string => new Date(START_MS + minute * 60_000).toISOString();
const event = (minute: number, members: Partial<EventRow>): EventRow =>
  newRow({ occurred_at: at(minute), ...members });

/** Jane on her phone, which Joe borrowed, and on a laptop; who used the phone first is told last. */
const JANE = [
  event(10, { anonymous_id: "phone", path: "/before" }),
  event(500, { anonymous_id: "phone", user_id: "jane" }),
  event(900, { anonymous_id: "laptop", user_id: "jane" }),
  event(901, { anonymous_id: "laptop" }),
];
const JOE = [
  event(5, { user_id: "joe" }),
  event(600, { anonymous_id: "phone", user_id: "joe" }),
];
const NAMELESS = event(20, { visitor_hash: "\\x000102030405060708090a0b0c0d0e0f" });
const OTHERS = [
  event(11, { anonymous_id: "bob" }),
  event(21, { visitor_hash: OTHER_HASH_BYTES }),
  // As if an id were another kind's name.
  event(22, { anonymous_id: "jane" }),
];
const ALL = [...JANE, ...JOE, NAMELESS, ...OTHERS];

const log = { info: () => {}, warn: () => {}, error: (text: string) => assert.fail(text) };

async function earlier(db: TestDatabase, rows: readonly EventRow[]): Promise<Database> {
  const database = await db.open();
  await migrateEarlier(database);
  await storeEarlier(database, rows);
  await migrate(database, MIGRATIONS);
  return database;
}

async function upgrade(database: Database): Promise<void> {
  const stop = new AbortController();
  const projecting = createProjection(database).run(stop.signal);
  await new EarlierEvents(database, log).run(stop.signal);
  stop.abort();
  await projecting;
}

/** As the API erases. @returns how many events there were; null: nobody is known by that id */
async function erase(database: Database, id: string): Promise<number | null> {
  const projection = createProjection(database);
  await projection.catchUp(1);
  await movePerson(database, 1, id);
  await projection.catchUp(1);
  const [actor] = await database.query<{ actor_id: number }>(
    `SELECT actor_id FROM identities WHERE project_id = 1 AND value = $1::text
    ORDER BY position(kind::text IN 'uah') LIMIT 1`,
    [id],
  );
  return actor === undefined
    ? null
    : await erasePerson(database, 1, () => Promise.resolve(actor.actor_id));
}

const ids = (rows: Iterable<EventRow>): string[] =>
  Iterator.from(rows).map(({ event_id }) => event_id).toArray().sort();

/** Nothing of these events is anywhere; all others come out of the upgrade as they were. */
async function assertGone(database: Database, gone: readonly EventRow[], all = ALL): Promise<void> {
  const left = all.filter((row) => !gone.includes(row));
  const earlierIds = await database.query<{ event_id: string }>(
    "SELECT event_id FROM earlier_events WHERE project_id = 1 ORDER BY event_id",
  );
  assert.deepEqual(earlierIds.map(({ event_id }) => event_id).sort(), ids(left));
  const journaled = ids(await storedRows(database));
  assert.ok(!gone.some(({ event_id }) => journaled.includes(event_id)));
  await upgrade(database);
  assertSame(await segmentRows(database, 1), left);
  const known = await database.query("SELECT FROM event_ids WHERE project_id = 1");
  assert.equal(known.length, left.length);
  // Who sends them again stores them again.
  const sent = gone.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1);
  assert.equal((await insertEvents(database, sent)).size, 0);
}

const PEOPLE: readonly (readonly [id: string, of: readonly EventRow[]])[] = [
  ["jane", JANE],
  ["phone", JANE],
  ["laptop", JANE],
  ["joe", JOE],
  [HASH, [NAMELESS]],
];

for (const [id, rows] of PEOPLE) {
  onBareEngines(`upgrade: ${id} is erased before anything is moved`, async (_t, db) => {
    const database = await earlier(db, ALL);
    assert.equal(await erase(database, id), rows.length);
    await assertGone(database, rows);
  });
}

onBareEngines("upgrade: who is erased leaves what is moved and waits, too", async (t, db) => {
  const database = await earlier(db, ALL);
  // All are moved, and one part is projected.
  const stop = new AbortController();
  const moving = new EarlierEvents(database, log).run(stop.signal);
  const moved = async () => {
    const [row] = await database.query<{ remaining: number }>(
      "SELECT remaining FROM earlier_projects WHERE project_id = 1",
    );
    return row!.remaining === 0;
  };
  while (!await moved());
  stop.abort();
  await moving;
  await t.step("nobody is known by an id that is nobody's", async () => {
    assert.equal(await erase(database, "nobody"), null);
    await movePerson(database, 1, "no\0body");
  });
  await t.step("moved again out of turn, an event is there once", async () => {
    await movePerson(database, 1, "jane");
    await createProjection(database).catchUp(1);
    assert.equal((await segmentRows(database, 1)).size, ALL.length);
  });
  await t.step("what a row still holds of them goes with them", async () => {
    // As if a row had been moved once more before its events were projected.
    await database.query(
      `UPDATE journal SET projected_count = 0, projected_at = NULL,
        known_ids = (SELECT array_agg(event_id) FROM event_ids WHERE project_id = 1), event_count = 0
      WHERE project_id = 1`,
    );
    const [actor] = await database.query<{ actor_id: number }>(
      "SELECT actor_id FROM identities WHERE project_id = 1 AND value = 'jane' AND kind = 'u'",
    );
    assert.equal(
      await erasePerson(database, 1, () => Promise.resolve(actor!.actor_id)),
      JANE.length,
    );
  });
  await assertGone(database, JANE);
});

onBareEngines("upgrade: what expires leaves the earlier events, moved or not", async (t, db) => {
  const now = new Date(START_MS + 40 * 86_400_000);
  const day = (ago: number, members: Partial<EventRow> = {}): EventRow =>
    event((40 - ago) * 1_440, { anonymous_id: `a${ago}`, ...members });
  const expired = Array.from({ length: EXPIRED_AT_ONCE + 1 }, (_, i) => day(31 + i % 5));
  const kept = [day(29), day(1)];
  const moved = day(33, { anonymous_id: null, user_id: "moved" });
  const all = [...expired, ...kept, moved];
  const database = await earlier(db, all);
  await database.script("UPDATE projects SET retention_days = 30 WHERE project_id = 1");
  await movePerson(database, 1, "moved");
  await createProjection(database).catchUp(1);
  await t.step("an hour before, nothing does", async () => {
    const before = new Date(START_MS + 4 * 86_400_000);
    assert.equal(await eraseExpiredEarlier(database, before), 0);
    assert.equal(await deleteExpiredEvents(database, before), 0);
  });
  assert.equal(await eraseExpiredEarlier(database, now), expired.length);
  assert.equal(await deleteExpiredEvents(database, now), 1);
  await assertGone(database, [...expired, moved], all);
});
