import type { Database, Sql } from "../../src/db/sql.ts";
import type { TestDatabase } from "./databases.ts";
import { openWithProjects } from "./event_rows.ts";

const READ = "seq_tup_read + coalesce(idx_tup_fetch, 0)";
const DELETED = "n_tup_del";

/** Opens a database whose statistics of the tables are of project 2 alone, as filled: they do not know project 1. */
export async function openAnalyzed(
  db: TestDatabase,
  tables: readonly string[],
  fill: (database: Database, projectId: number) => Promise<void>,
): Promise<Database> {
  const database = await openWithProjects(db);
  for (const table of tables) {
    await database.script(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  }
  await fill(database, 2);
  await database.script("ANALYZE");
  return database;
}

/** Returns a count of the tables so far; that of earlier transactions may be part of it. */
async function counted(tx: Sql, tables: readonly string[], count: string): Promise<number> {
  const [row] = await tx.query<{ rows: number }>(
    `SELECT sum(${count})::int AS rows FROM pg_stat_xact_user_tables
    WHERE relname IN ('${tables.join("', '")}')`,
  );
  return row!.rows;
}

/** Returns how many rows of tables were deleted so far. */
export const rowsDeleted = (tx: Sql, tables: readonly string[]): Promise<number> =>
  counted(tx, tables, DELETED);

/** Returns how many rows of tables the work reads, in a transaction that is undone. */
export async function rowsRead(
  database: Database,
  tables: readonly string[],
  work: (tx: Sql) => Promise<void>,
): Promise<number> {
  let read = 0;
  const undone = new Error("undone");
  await database.transaction(async (tx) => {
    const before = await counted(tx, tables, READ);
    await work(tx);
    read = await counted(tx, tables, READ) - before;
    throw undone;
  }).catch((error) => {
    if (error !== undone) throw error;
  });
  return read;
}
