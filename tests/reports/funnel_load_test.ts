import assert from "node:assert/strict";
import { FUNNELS } from "../../src/reports/funnels.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { answerOf, queryOf } from "./funnel_world.ts";

const EVENTS = 100_000;
/** Ten times what it takes; comparing the actor's events with each other takes a hundred times more. */
const MS_MAX = 10_000;
const WORLD = {
  project: { timezone: "UTC", siteUrl: null },
  asOfMs: Date.parse("2026-03-10T00:00:00Z"),
};

/** One actor, an event a second: page views of /a and /b and clicks, a cart in each thousand events. */
const BUSY_ACTOR = `
  INSERT INTO terms (project_id, term_id, digest, term)
  SELECT 1, id, substr(encode(sha256(term::bytea), 'hex'), 1, 32)::uuid, term
  FROM (VALUES (1, 'page_view'), (2, 'click'), (3, 'scroll'), (4, 'cart'), (5, 'buy'), (10, '/a'), (11, '/b'))
    AS known (id, term);
  INSERT INTO facts (tick, event_id, project_id, actor_id, name_id, context_id, spot, path_id)
  SELECT (1772409600000 + i * 1000) << 16, gen_random_uuid(), 1, 1,
    CASE WHEN i % 1000 = 999 THEN 4 WHEN i % 3 = 0 THEN 2 ELSE 1 END, 1, 0, 10 + i % 2
  FROM generate_series(0, ${EVENTS - 1}) AS i`;

onBothEngines("funnels: linear in the events of one actor", async (t, db) => {
  const database = await openWithProjects(db);
  await database.script(BUSY_ACTOR);
  const view = (path: string) => ({
    name: "page_view",
    filters: [{ field: "path", op: "is", values: [path] }],
  });
  const steps = [{ name: "page_view" }, view("/a"), { name: "cart" }, { name: "buy" }];
  // Any event enters by it, and is passed over while the next step is awaited.
  const anything = [{ name: null }, { name: "cart" }, { name: "buy" }];
  const variants = [
    { order: "ordered", entry: "any", steps, reached: [1, 1, 1, 0] },
    { order: "ordered", entry: "first", steps, reached: [1, 1, 1, 0] },
    { order: "ordered", entry: "any", steps, exclude: [view("/b")], reached: [1, 1, 1, 0] },
    { order: "strict", entry: "any", steps, reached: [1, 1, 1, 0] },
    { order: "strict", entry: "any", steps: anything, reached: [1, 1, 0] },
    { order: "unordered", entry: "any", steps, reached: [1, 1, 1, 0] },
    { order: "unordered", entry: "any", steps, exclude: [view("/b")], reached: [1, 1, 1, 0] },
  ];
  for (const { reached, ...params } of variants) {
    const { order, entry, exclude } = params;
    await t.step(`${order} ${entry}${exclude === undefined ? "" : " exclude"}`, async () => {
      const query = queryOf({ ...params, from: "2026-03-01", to: "2026-03-05" });
      const startedAtMs = performance.now();
      const answer = await answerOf(FUNNELS, database, 1, query, WORLD);
      const tookMs = performance.now() - startedAtMs;
      const counts = (answer.steps as { actors: number }[]).map(({ actors }) => actors);
      assert.deepEqual(counts, reached);
      assert.ok(tookMs < MS_MAX, `${Math.round(tookMs)} ms`);
    });
  }
});
