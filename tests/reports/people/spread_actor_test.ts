import assert from "node:assert/strict";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { DAY_MS } from "../../../src/limits.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { type ActorServices, deleteActor, getActor } from "../../../src/reports/people/actors.ts";
import { erasePerson } from "../../../src/upgrade/earlier_people.ts";
import type { Json } from "../../support/app.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../../support/event_rows.ts";
import { withMembersInside } from "../../support/fake_sql.ts";

const LAST_MS = Date.parse("2026-06-01T00:00:00Z");

onBothEngines(
  "actors: events months apart are read, and erased, many at a time",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const times = Array.from(
      { length: 600 },
      (_, i) => new Date(LAST_MS - (599 - i) * 30 * DAY_MS).toISOString(),
    );
    const others = [times[3], times[300]];
    const rows = [
      ...times.map((occurred_at) => newRow({ occurred_at, anonymous_id: "often" })),
      ...others.map((occurred_at) => newRow({ occurred_at: occurred_at!, anonymous_id: "other" })),
    ];
    await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
    // At once, however busy the machine is: those of one month are in one segment then.
    const projection = createProjection(database, { msMax: 120_000 });
    await projection.catchUp(1);
    let statements = 0;
    const counted = withMembersInside(database, (sql) => ({
      query: async (text, params) => {
        statements++;
        return await sql.query(text, params);
      },
      binary: async (text, params) => {
        statements++;
        return await sql.binary(text, params);
      },
    }));
    const services = {
      database: counted,
      projection: { catchUp: () => Promise.resolve() },
      movePerson: () => Promise.resolve(),
      erase: (...asked: Parameters<ActorServices["erase"]>) => erasePerson(counted, ...asked),
    };
    const asked = { project: PROJECT_ONE, params: { id: "often" } };
    const { events } = await (await getActor(services, asked)).json();
    assert.deepEqual(events.map(({ timestamp }: Json) => timestamp), times);
    assert.ok(statements <= 40, `${statements} statements to read`);
    statements = 0;
    const { erased } = await deleteActor(services, { ...asked, also: () => Promise.resolve() });
    assert.equal(erased.events, times.length);
    assert.ok(statements <= 100, `${statements} statements to erase`);
    const left = await database.query<{ from_ms: number; origin_id: number | null }>(
      "SELECT from_ms, origin_id FROM segments ORDER BY from_ms",
    );
    assert.deepEqual(left.map(({ from_ms }) => new Date(from_ms).toISOString()), others);
    assert.ok(left.every(({ origin_id }) => origin_id !== null), "parts of those that were there");
  },
);
