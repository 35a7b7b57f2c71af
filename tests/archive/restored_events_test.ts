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

/** JSON as versions of this program, PostgreSQL and others write it. */
const WRITTEN: readonly string[] = [
  '{"b":1,"a":["\\"\\\\u0000\\u001f😀",{"\\n":1e+21}]}',
  '{"a": 1, "bc": [1, {"d": null}]}',
  '{"caf\\u00e9":"\\u0041"}',
];

const REFUSED: readonly Partial<EventRow>[] = [
  ...["", "{", "[]", "1", "null", '{"a":1}{"b":2}']
    .flatMap((json) => [{ properties: json }, { extra: json }]),
  { properties: '{"a":"\ud83d"}' },
  { title: "\ud83d" },
  { title: "\ude00" },
  { selector: "a\0b" },
  { name: "\ud83da" },
];

onBothEngines(
  "restored events: JSON is as it was, and texts can be stored",
  async (t, db) => {
    const database = await openWithProjects(db);
    for (const json of WRITTEN) {
      // A move and a restoration compare digests of what was stored with those of what was sent.
      await t.step(`unchanged: ${json}`, async () => {
        const { properties, extra } = await restored(database, { properties: json, extra: json });
        assert.deepEqual([properties, extra], [json, json]);
      });
    }
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
