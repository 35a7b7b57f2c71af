import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { DAY_MS } from "../../src/limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const START_MS = Date.parse("2026-03-01T17:00:00Z");
const DEVICES = 1_000;

const at = (ms: number): string => new Date(START_MS + ms).toISOString();
const devices = <T>(of: (i: number) => T): T[] => Array.from({ length: DEVICES }, (_, i) => of(i));

/** Anonymous first, then with a user each, then, told late, with another user a day earlier. */
const reidentified = (first: (i: number) => string, earlier: (i: number) => string) => [
  devices((i) => newRow({ anonymous_id: `a${i}`, occurred_at: at(i) })),
  devices((i) => newRow({ anonymous_id: `a${i}`, user_id: first(i), occurred_at: at(DAY_MS + i) })),
  devices((i) =>
    newRow({ anonymous_id: `a${i}`, user_id: earlier(i), occurred_at: at(i - DAY_MS) })
  ),
];

const SHAPES: Readonly<Record<string, readonly EventRow[][]>> = {
  "each device of a user of its own": reidentified((i) => `u${i}`, (i) => `v${i}`),
  "all devices of one user, who loses each to another": reidentified(() => "u", (i) => `v${i}`),
  "devices of many users, who all lose them to one": reidentified((i) => `u${i}`, () => "v"),
  "50 devices shared by 20 users": reidentified((i) => `u${i % 20}`, (i) => `v${i % 20}`)
    .map((rows) => rows.map((row, i) => ({ ...row, anonymous_id: `a${i % 50}` }))),
};

async function store(database: Database, projectId: number, rows: readonly EventRow[]) {
  const own = rows.map((row) => ({ ...row, project_id: projectId }));
  await insertEvents(database, own.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
}

// Each took minutes when a statement went through all moves for every session, or for every fact.
onBothEngines(
  "projection: what is told late of many devices is projected at once",
  async (t, db) => {
    const database = await openWithProjects(db);
    for (const [name, parts] of Object.entries(SHAPES)) {
      await t.step(name, async () => {
        await database.script(
          "TRUNCATE event_ids, journal, segments, sessions, actors, identities",
        );
        const projection = createProjection(database);
        for (const rows of parts) {
          await store(database, 1, rows);
          await projection.catchUp(1);
        }
        const [found] = await database.query(
          `SELECT (SELECT sum(events)::int FROM segments) AS stored,
          (SELECT sum(events)::int FROM sessions) AS events,
          (SELECT count(*)::int FROM sessions s JOIN identities i ON i.identity_id = s.actor_id
            WHERE i.actor_id <> i.identity_id) AS strays`,
        );
        assert.deepEqual(found, { stored: 3 * DEVICES, events: 3 * DEVICES, strays: 0 });
      });
    }
  },
);
