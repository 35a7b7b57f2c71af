import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import { sumsByDay, sumsByValue, sumsOfAll } from "../../src/imported/imported_reading.ts";
import { storeImportedDays } from "../../src/imported/imported_store.ts";
import type { ImportedDay } from "../../src/imported/imported_sums.ts";
import { onBothEngines } from "../support/databases.ts";
import { openAnalyzed, rowsRead } from "../support/rows_read.ts";

const DAYS = 4_000;
const WANTED = 100;
const TABLES = ["imported_days"];

async function fill(database: Database, projectId: number, days: number): Promise<void> {
  await database.query(
    `INSERT INTO imported_days (project_id, source, day, dimension, digest, value_texts, visitors, visits,
      pageviews, bounces, seconds, events)
    SELECT $1::int, source, day, dimension, gen_random_uuid(), '{a}', '{1}', '{1}', '{1}', '{0}', '{1}', '{1}'
    FROM generate_series(1, $2::int) AS day, unnest('{plausible,fathom}'::text[]) AS source,
      unnest('{all,channel}'::text[]) AS dimension`,
    [projectId, days],
  );
}

const wanted = Array.from({ length: WANTED }, (_, i) => ({
  day: 20 * (i + 1),
  source: "fathom" as const,
  dimensions: ["all", "channel"] as const,
}));

/** Each reads or stores WANTED days. */
const WORKS: Readonly<Record<string, (tx: Sql) => Promise<void>>> = {
  sumsByDay: async (tx) => assert.equal((await sumsByDay(tx, 1, wanted)).length, WANTED),
  sumsOfAll: async (tx) =>
    assert.equal((await sumsOfAll(tx, 1, wanted, "channel")).pageviews, WANTED),
  sumsByValue: async (tx) => {
    const sums = await sumsByValue(tx, 1, wanted, "channel");
    assert.deepEqual(sums.map(({ value, pageviews }) => [value, pageviews]), [["a", WANTED]]);
  },
  storeImportedDays: async (tx) => {
    const days = wanted.map(({ day }): ImportedDay => ({
      day: new Date(day * 86_400_000).toISOString().slice(0, 10),
      dimension: "all",
      rows: [],
    }));
    const { replaced } = await storeImportedDays(tx, 1, "fathom", days, true);
    assert.equal(replaced, WANTED);
  },
};

onBothEngines(
  "imported days: each is looked up, whatever the planner knows of its project",
  async (t, db) => {
    const database = await openAnalyzed(db, TABLES, (each, id) => fill(each, id, 20));
    await fill(database, 1, DAYS);
    for (const [name, work] of Object.entries(WORKS)) {
      await t.step(name, async () => {
        const read = await rowsRead(database, TABLES, work);
        assert.ok(read <= 10 * WANTED, `${name} reads ${read} rows`);
      });
    }
  },
);
