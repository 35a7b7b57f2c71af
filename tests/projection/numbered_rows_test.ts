import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { deleteNumbered } from "../../src/projection/numbered_rows.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

const PROJECT = 1;
const ROWS = 50_000;

/** Adds a large dictionary, of which the planner has no statistics. */
async function withTerms(database: Database): Promise<Database> {
  await database.script("ALTER TABLE terms SET (autovacuum_enabled = false)");
  await database.query(
    `INSERT INTO terms (project_id, term_id, digest, term)
    SELECT $1::int, n, gen_random_uuid(), '/' || n FROM generate_series(10, $2::int) AS n`,
    [PROJECT, ROWS],
  );
  return database;
}

const every = (step: number): number[] =>
  Array.from({ length: ROWS / step }, (_, i) => step * (i + 1));

onBothEngines("numbered rows: each is found by its number, however many are", async (_t, db) => {
  const database = await withTerms(await openWithProjects(db));
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
