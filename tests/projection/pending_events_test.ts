import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import {
  asideEvent,
  isAsideDue,
  markProjected,
  pendingEvents,
} from "../../src/projection/pending_events.ts";
import {
  PROJECTION_EVENTS_MAX,
  PROJECTION_TEXT_CHARACTERS_AIM,
} from "../../src/projection/projection_limits.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const ROWS = 4;
const EVENTS_OF_ROW = 300;
const CHARACTERS = 30_000;
/** Of the other texts of an event. */
const OTHERS_MAX = 100;

/** Stores as many clicks as rows of the journal hold. @returns how many of them a transaction takes */
async function taken(
  database: Database,
  projectId: number,
  membersOf: (i: number) => Partial<EventRow>,
): Promise<number> {
  for (let row = 0; row < ROWS; row++) {
    const events = Array.from(
      { length: EVENTS_OF_ROW },
      (_, i) => newRow({ project_id: projectId, name: "click", ...membersOf(i) }),
    );
    await insertEvents(database, events.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  }
  return await database.transaction(async (tx) => {
    const { columns } = await pendingEvents(tx, projectId, PROJECTION_EVENTS_MAX);
    return columns.length;
  });
}

onBothEngines("pending events: no more than their texts leave room for", async (_t, db) => {
  const database = await openWithProjects(db);
  const events = await taken(database, 1, (i) => ({ selector: `${i}`.padEnd(CHARACTERS) }));
  assert.ok((events - 1) * CHARACTERS < PROJECTION_TEXT_CHARACTERS_AIM, `${events} events`);
  assert.ok(events * (CHARACTERS + OTHERS_MAX) >= PROJECTION_TEXT_CHARACTERS_AIM, `${events}`);
  // What many events have is held once.
  const title = "t".repeat(CHARACTERS);
  assert.equal(await taken(database, 2, () => ({ title })), ROWS * EVENTS_OF_ROW);
});

onBothEngines("pending events: a damaged row waits with what it has set aside", async (_t, db) => {
  const database = await openWithProjects(db);
  const rows = [newRow(), newRow()].sort((a, b) => a.event_id < b.event_id ? -1 : 1);
  await insertEvents(database, rows);
  await database.query(
    `UPDATE journal SET projected_at = now(), projected_count = 2, set_aside_until = now(),
      set_aside_ids = ARRAY[$1::text::uuid], block = set_byte(block, 9, 255 - get_byte(block, 9))`,
    [rows[0]!.event_id],
  );
  assert.ok(await isAsideDue(database, 1));
  await database.transaction(async (tx) => {
    const taken = await asideEvent(tx, 1);
    assert.deepEqual([taken.columns.length, taken.unreadable], [0, [1]]);
    await markProjected(tx, 1, taken);
  });
  assert.ok(!await isAsideDue(database, 1));
  const [kept] = await database.query("SELECT set_aside_ids AS ids FROM journal");
  assert.deepEqual(kept!.ids, [rows[0]!.event_id]);
});
