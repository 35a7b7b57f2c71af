import assert from "node:assert/strict";
import fc from "fast-check";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { purgeExpiredEvents } from "../../src/ingest/retention.ts";
import { createFold } from "../../src/sessions/fold.ts";
import { eraseActor, forgetBefore } from "../../src/sessions/forget.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { foldedState } from "./folded_state.ts";

const START_MS = Date.parse("2026-03-01T12:00:00Z");
const STEP_MS = 10 * 60_000;
const STEPS = 200;

const history = fc.array(
  fc.record({
    event_id: fc.uuid(),
    step: fc.integer({ min: 0, max: STEPS }),
    anonymous_id: fc.constantFrom("a1", "a2", "a3"),
    name: fc.constantFrom("page_view", "click", "signup", "$identify", "$set"),
    path: fc.constantFrom("/", "/a", null),
    bot: fc.constantFrom(false, false, true),
  }).map(({ step, ...members }) =>
    newRow({
      ...members,
      in_session: !members.name.startsWith("$"),
      occurred_at: new Date(START_MS + step * STEP_MS).toISOString(),
    })
  ),
  { minLength: 1, maxLength: 80 },
);

async function folded(database: Database, rows: readonly EventRow[]): Promise<number> {
  const [project] = await database.query<{ project_id: number }>(
    `INSERT INTO projects (public_id, name, retention_days)
    VALUES ($1::text, 'Test', 30) RETURNING project_id`,
    [`prj_${crypto.randomUUID()}`],
  );
  const { project_id } = project!;
  await insertEvents(
    database,
    rows.map((row) => ({ ...row, project_id })).sort((a, b) => a.event_id < b.event_id ? -1 : 1),
  );
  await createFold(database).catchUp(project_id);
  return project_id;
}

onBothEngines("forget: what is left is as if the rest had never been stored", async (_t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const runs = database.engine === "embedded" ? 6 : 25;
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 0, max: STEPS }), async (rows, step) => {
      const beforeMs = START_MS + step * STEP_MS;
      const project = await folded(database, rows);
      await forgetBefore(database, project, beforeMs);
      const kept = rows.filter((row) => Date.parse(row.occurred_at) >= beforeMs);
      const expected = await foldedState(database, await folded(database, kept));
      assert.deepEqual(await foldedState(database, project), expected);
    }),
    { numRuns: runs },
  );
});

onBothEngines("forget: an erased actor leaves nothing, and the others whole", async (t, db) => {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  const runs = database.engine === "embedded" ? 6 : 25;
  await fc.assert(
    fc.asyncProperty(history, async (rows) => {
      const project = await folded(database, rows);
      const [actor] = await database.query<{ actor_id: number }>(
        "SELECT actor_id FROM identities WHERE project_id = $1::int AND value = 'a1'",
        [project],
      );
      const kept = rows.filter((row) => row.anonymous_id !== "a1");
      if (actor !== undefined) {
        const erased = await eraseActor(database, project, actor.actor_id);
        assert.equal(erased, rows.length - kept.length);
      }
      const expected = await foldedState(database, await folded(database, kept));
      assert.deepEqual(await foldedState(database, project), expected);
      const events = await database.query(
        "SELECT FROM events WHERE project_id = $1::int",
        [project],
      );
      assert.equal(events.length, kept.length);
    }),
    { numRuns: runs },
  );
  await t.step("the daily job forgets what has expired", async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
    const rows = [31, 29].map((ago) => newRow({ anonymous_id: "a", occurred_at: day(ago) }));
    const project = await folded(database, rows);
    await purgeExpiredEvents(
      database,
      new Date(),
      (id, beforeMs) => forgetBefore(database, id, beforeMs),
    );
    const facts = await database.query(
      "SELECT event_id FROM facts WHERE project_id = $1::int",
      [project],
    );
    assert.deepEqual(facts, [{ event_id: rows[1]!.event_id }]);
  });
});
