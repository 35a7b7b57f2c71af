import assert from "node:assert/strict";
import { isSpanWaiting, lastWaitingOfSpan } from "../../src/projection/waiting_span.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

onBothEngines("waiting: what waits to be counted and may lie in a span", async (_t, db) => {
  const database = await openWithProjects(db);
  const span = { fromMs: 100, toMs: 200 };
  const waits = () => lastWaitingOfSpan(database, 1, span);
  const insert = async (fromMs: number, toMs: number, state = "waits") => {
    const [row] = await database.query<{ journal_id: number }>(
      `INSERT INTO journal (project_id, event_count, from_ms, to_ms, block, projected_at, set_aside_until)
      SELECT 1, 1, $1::int8, $2::int8, '', CASE WHEN $3::text <> 'waits' THEN now() END,
        CASE WHEN $3::text = 'aside' THEN now() + interval '1 hour' END
      RETURNING journal_id`,
      [fromMs, toMs, state],
    );
    return row!.journal_id;
  };
  await insert(150, 150, "counted");
  await insert(150, 150, "aside");
  await insert(0, 99);
  await insert(201, 300);
  assert.equal(await waits(), null);
  const first = await insert(0, 100);
  const last = await insert(200, 300);
  assert.equal(await waits(), last);
  const stillWaits = () => isSpanWaiting(database, 1, span, first);
  assert.equal(await stillWaits(), true);
  await database.query("UPDATE journal SET projected_at = now() WHERE journal_id = $1::int8", [
    first,
  ]);
  assert.equal(await stillWaits(), false, "what came after it is another matter");
  assert.equal(await lastWaitingOfSpan(database, 2, span), null);
  await database.script("DELETE FROM journal");
  await database.script("INSERT INTO earlier_projects (project_id, remaining) VALUES (1, 1)");
  const unmoved = await waits();
  assert.ok(unmoved !== null, "an upgrade has not moved all into the journal");
  assert.equal(await isSpanWaiting(database, 1, span, unmoved), true);
  await database.script("UPDATE earlier_projects SET remaining = 0");
  assert.equal(await waits(), null);
});
