import assert from "node:assert/strict";
import { ArchiveRefused } from "../../src/archive/archive_format.ts";
import { restoreEvents } from "../../src/archive/restored_events.ts";
import type { Database } from "../../src/db/sql.ts";
import { encodeBlock } from "../../src/store/journal_block.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects, storedRows } from "../support/event_rows.ts";

/** Restores one event. @returns it as it is stored */
async function restored(database: Database, members: Partial<EventRow>): Promise<EventRow> {
  const row = newRow(members);
  await restoreEvents(database, 1, encodeBlock([row]));
  return (await storedRows(database)).find(({ event_id }) => event_id === row.event_id)!;
}

const REFUSED: readonly Partial<EventRow>[] = [
  { properties: '{"a":"\ud83d"}' },
  { title: "\ud83d" },
  { title: "\ude00" },
  { selector: "a\0b" },
  { name: "\ud83da" },
];

onBothEngines(
  "restored events: texts can be stored",
  async (t, db) => {
    const database = await openWithProjects(db);
    const before = (await storedRows(database)).length;
    for (const members of REFUSED) {
      await t.step(`refused: ${JSON.stringify(members).slice(0, 80)}`, async () => {
        await assert.rejects(restored(database, members), (error: unknown) => {
          assert.ok(error instanceof ArchiveRefused);
          assert.match(error.message, new RegExp(`its ${Object.keys(members)[0]} is wrong`));
          return true;
        });
      });
    }
    assert.equal((await storedRows(database)).length, before);
  },
);
