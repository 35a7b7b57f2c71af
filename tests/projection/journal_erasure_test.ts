import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database, Sql } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { spansAround } from "../../src/projection/journal_erasure.ts";
import { eraseActor } from "../../src/projection/erasure.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects, storedRows } from "../support/event_rows.ts";
import { rowAt } from "./removal_world.ts";

Deno.test("spans around times hold each of them, and are no more than they may be", () => {
  const ms = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
  fc.assert(
    fc.property(fc.array(ms, { maxLength: 50 }), fc.integer({ min: 2, max: 20 }), (all, max) => {
      const text = spansAround(all, max);
      const spans = [...text.matchAll(/\[(-?\d+),(-?\d+)\)/g)].map((
        [, from, to],
      ) => [+from!, +to!]);
      assert.ok(spans.length <= max);
      for (const ms of all) {
        assert.ok(spans.some(([from, to]) => from! <= ms && ms < to!), String(ms));
      }
    }),
  );
  assert.equal(spansAround([0, 59_999, 60_000]), "{[0,60000),[60000,120000)}");
  assert.equal(spansAround([]), "{}");
});

async function erase(tx: Sql): Promise<void> {
  const [who] = await tx.query<{ actor_id: number }>(
    "SELECT actor_id FROM identities WHERE project_id = 1 AND value = 'gone'",
  );
  await eraseActor(tx, 1, who!.actor_id);
}

const storeEach = async (database: Database, rows: readonly EventRow[]) => {
  for (const row of rows) await insertEvents(database, [row]);
};

onBothEngines(
  "erasure: of the journal it reads the rows around the person's times",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const own = rowAt(30, { anonymous_id: "gone" });
    const others = Array.from({ length: 60 }, (_, i) => rowAt(i, { anonymous_id: `a${i}` }));
    await storeEach(database, [own, ...others]);
    await createProjection(database).catchUp(1);
    let rows = 0;
    await database.transaction((tx) =>
      erase({
        ...{ query: tx.query.bind(tx), script: tx.script.bind(tx) },
        transaction: tx.transaction.bind(tx),
        binary: async (text, params) => {
          const found = await tx.binary(text, params);
          if (text.includes("bytes_before")) rows += found.length;
          return found;
        },
      })
    );
    assert.equal(rows, 2);
    assert.equal((await storedRows(database)).length, others.length);
  },
);

onBothEngines(
  "erasure: a known event that was sent again with another time leaves the journal, too",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const first = rowAt(1, { anonymous_id: "gone" });
    await insertEvents(database, [first]);
    const again = { ...rowAt(400, { anonymous_id: "gone" }), event_id: first.event_id };
    const kept = rowAt(401, { anonymous_id: "kept" });
    await insertEvents(
      database,
      [again, kept].toSorted((a, b) => a.event_id < b.event_id ? -1 : 1),
    );
    await createProjection(database).catchUp(1);
    const known = "SELECT known_ids FROM journal WHERE known_ids IS NOT NULL";
    assert.equal((await database.query(known)).length, 1);
    await database.transaction(erase);
    assert.equal((await database.query(known)).length, 0);
    const [row] = await database.query(
      "SELECT count(*)::int AS n, max(event_count) AS events FROM journal",
    );
    assert.deepEqual(row, { n: 1, events: 1 });
  },
);
