import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { deleteNumbered } from "../../src/projection/keyed_deletion.ts";
import { removeUnused } from "../../src/projection/unused_words.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

const PROJECT = 1;
const ROWS = 50_000;

/** Adds large dictionaries, of which the planner has no statistics. */
async function withWords(database: Database): Promise<Database> {
  for (const table of ["terms", "contexts"]) {
    await database.script(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  }
  await database.query(
    `INSERT INTO terms (project_id, term_id, digest, term)
    SELECT $1::int, n, gen_random_uuid(), '/' || n FROM generate_series(10, $2::int) AS n`,
    [PROJECT, ROWS],
  );
  await database.query(
    `INSERT INTO contexts (project_id, context_id, digest, host, city, os)
    SELECT $1::int, n, gen_random_uuid(), 'shop.test', 'City' || n % 9000, 'OS' || n % 8
    FROM generate_series(1, $2::int) AS n`,
    [PROJECT, ROWS],
  );
  return database;
}

const every = (step: number): number[] =>
  Array.from({ length: ROWS / step }, (_, i) => step * (i + 1));

onBothEngines("numbered rows: each is found by its number, however many are", async (_t, db) => {
  const database = await withWords(await openWithProjects(db));
  const numbers = every(10);
  const read = await database.transaction(async (tx) => {
    await deleteNumbered(tx, PROJECT, "terms", "term_id", numbers);
    const [row] = await tx.query<{ rows: number }>(
      `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS rows
      FROM pg_stat_xact_user_tables WHERE relname = 'terms'`,
    );
    return row!.rows;
  });
  assert.ok(read <= 2 * numbers.length, `${read} rows were read`);
  const [left] = await database.query(
    "SELECT count(*)::int AS rows FROM terms WHERE project_id = $1::int AND term_id >= 10",
    [PROJECT],
  );
  assert.equal(left!.rows, ROWS - 9 - numbers.length);
});

onBothEngines("unused words: those of a large dictionary go in one statement", async (_t, db) => {
  const database = await withWords(await openWithProjects(db));
  // All rows of 445 cities, and some of others.
  const contexts = new Set(every(9).slice(0, 5_000));
  const unused = { terms: new Set<number>(), referrers: new Set<number>() };
  await database.transaction((tx) =>
    removeUnused(tx, PROJECT, { ...unused, traffic: new Set(), contexts })
  );
  const [row] = await database.query(
    `SELECT count(*) FILTER (WHERE host = 'shop.test' AND os <> '')::int AS shared,
      count(*) FILTER (WHERE city = '')::int AS gone,
      count(DISTINCT city) FILTER (WHERE city <> '')::int AS cities FROM contexts`,
  );
  assert.deepEqual(row, { shared: ROWS, gone: 2_225, cities: 8_555 });
});
