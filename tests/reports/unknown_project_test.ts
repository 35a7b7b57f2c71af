import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { ANALYSE_EVENTS_MIN } from "../../src/projection/projection_limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { TestApp } from "../support/app.ts";
import { onFreshEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const DAY = "2026-06-01";
const FROM_MS = Date.parse(`${DAY}T00:00:00Z`);
/** Events of the project that the planner knows, and of the new one, which has too few to be analysed. */
const KNOWN_EVENTS = 8 * ANALYSE_EVENTS_MIN;
const NEW_EVENTS = 12 * ANALYSE_EVENTS_MIN;

/** Clicks, each of an actor and a session of its own. */
function clicks(project_id: number, count: number): EventRow[] {
  const rows = Array.from({ length: count }, (_, i) =>
    newRow({
      project_id,
      name: "click",
      anonymous_id: `a${i}`,
      path: "/",
      pointer_x: i,
      occurred_at: new Date(FROM_MS + i * 1_000).toISOString(),
    }));
  return rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1);
}

async function store(database: Database): Promise<void> {
  const projection = createProjection(database);
  for (const [project, count] of [[1, KNOWN_EVENTS], [2, NEW_EVENTS]] as const) {
    await insertEvents(database, clicks(project, count));
    await projection.catchUp(project);
  }
}

onFreshEngines(
  "reads of a project that the planner knows nothing of end in time",
  async (t, db) => {
    const filled = await openWithProjects(db);
    await store(filled);
    await filled.close();
    const server = await new TestApp(db.env).start();
    const filters = JSON.stringify([
      { field: "properties.x", op: "gte", values: [10] },
      { field: "properties.selector", op: "not_exists", values: [] },
      { field: "medium", op: "not_exists", values: [] },
    ]);
    try {
      for (const read of ["kpis", "pages", "acquisition"]) {
        await t.step(read, async () => {
          const query = new URLSearchParams({ project: "prj_two", from: DAY, to: DAY, filters });
          const { status, body } = await server.admin("GET", `/v1/${read}?${query}`);
          assert.equal(status, 200, JSON.stringify(body));
          const { visitors } = body.totals ?? body.total ?? body.rows[0] ?? body.pages[0];
          assert.equal(visitors, read === "pages" ? 0 : NEW_EVENTS - 10);
        });
      }
    } finally {
      await server.stop();
    }
  },
);
