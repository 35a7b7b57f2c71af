import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import {
  ANALYSE_EVENTS_MIN,
  ANALYSE_LARGE_EVENTS,
} from "../../src/projection/projection_limits.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { TableStatistics } from "../../src/projection/table_statistics.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const TABLES = ["actors", "identities", "referrers", "segments", "sessions"];

async function store(database: Database, events: number): Promise<void> {
  const rows = Array.from({ length: events }, () => crypto.randomUUID())
    .map((id) => newRow({ anonymous_id: id, referrer: `https://mail.test/${id}` }))
    .sort((a, b) => a.event_id < b.event_id ? -1 : 1);
  await insertEvents(database, rows);
}

/** What the planner was told of each table: -1 where it never was told. */
async function told(database: Database): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; rows: number }>(
    `SELECT relname::text AS name, reltuples::int8 AS rows FROM pg_class
    WHERE relkind = 'r' AND relname = ANY ($1::text::text[]) ORDER BY relname`,
    [`{${TABLES.join(",")}}`],
  );
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
}

onBothEngines(
  "statistics: the planner knows of small tables, and again of larger ones",
  async (t, db) => {
    const database = await openWithProjects(db);
    // PostgreSQL's own daemon would tell it too, a minute later.
    if (database.engine === "postgres") {
      for (const table of TABLES) {
        await database.script(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
      }
    }
    const projection = createProjection(database);
    const identitiesToldAfter = async (events: number) => {
      await store(database, events);
      await projection.catchUp(1);
      return (await told(database)).identities;
    };
    await t.step("not of a handful, but of a few dozen", async () => {
      assert.equal(await identitiesToldAfter(ANALYSE_EVENTS_MIN - 1), -1);
      assert.equal(await identitiesToldAfter(1), ANALYSE_EVENTS_MIN);
      const { segments, ...others } = await told(database);
      assert.ok(segments! > 0);
      for (const [table, rows] of Object.entries(others)) {
        assert.equal(rows, ANALYSE_EVENTS_MIN, table);
      }
    });
    await t.step("again when they have grown fivefold", async () => {
      const growth = 4 * ANALYSE_EVENTS_MIN;
      assert.equal(await identitiesToldAfter(growth - 1), ANALYSE_EVENTS_MIN);
      assert.equal(await identitiesToldAfter(1), 5 * ANALYSE_EVENTS_MIN);
    });
    await t.step("large ones when they have doubled", async () => {
      const large = ANALYSE_LARGE_EVENTS;
      await database.script(
        `UPDATE pg_class SET reltuples = ${large} WHERE relname = 'identities'`,
      );
      await database.script(
        `INSERT INTO day_totals (project_id, day, events) VALUES (2, 0, ${1.5 * large})`,
      );
      const statistics = new TableStatistics(database);
      await statistics.note(2, large - 1);
      assert.equal((await told(database)).identities, large);
      await statistics.note(2, 1);
      assert.equal((await told(database)).identities, 5 * ANALYSE_EVENTS_MIN);
    });
    await t.step("of a new project, however large the others are", async () => {
      await database.script(
        "UPDATE pg_class SET reltuples = 10000000 WHERE relname = 'identities'",
      );
      const statistics = new TableStatistics(database);
      await statistics.note(3, ANALYSE_EVENTS_MIN - 1);
      assert.equal((await told(database)).identities, 10_000_000);
      await statistics.note(3, 1);
      assert.equal((await told(database)).identities, 5 * ANALYSE_EVENTS_MIN);
    });
    await t.step("of events, where few people do them all", async () => {
      const events = 100 * ANALYSE_EVENTS_MIN;
      await database.script("UPDATE pg_class SET reltuples = 1 WHERE relname = 'identities'");
      await database.script(
        `INSERT INTO day_totals (project_id, day, events) VALUES (4, 0, ${events})`,
      );
      const statistics = new TableStatistics(database);
      // A hundredth of them just came: of the others, 99, the planner knows.
      await statistics.note(4, ANALYSE_EVENTS_MIN);
      await statistics.note(4, 4 * 99 * ANALYSE_EVENTS_MIN - ANALYSE_EVENTS_MIN - 1);
      assert.equal((await told(database)).identities, 1);
      await statistics.note(4, 1);
      assert.equal((await told(database)).identities, 5 * ANALYSE_EVENTS_MIN);
    });
    await t.step("at the start of a server, of what nobody ever told it", async () => {
      await database.script("UPDATE pg_class SET reltuples = -1 WHERE relname = 'identities'");
      const stop = new AbortController();
      const running = createProjection(database).run(stop.signal);
      stop.abort();
      await running;
      assert.equal((await told(database)).identities, 5 * ANALYSE_EVENTS_MIN);
    });
  },
);
