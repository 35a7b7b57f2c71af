import { type Database, StatementRefused } from "./sql.ts";

/** How long the only session is left to others between two tables, unless it is idle sooner. */
const VACUUM_REST_MS_MAX = 1000;

// The catalogue's own tables too: each ANALYZE leaves dead rows in them.
const TABLES = `
SELECT c.oid::regclass::text AS name FROM pg_class c
WHERE c.relkind = 'r' AND c.relpersistence = 'p' ORDER BY c.relnamespace, c.relname`;

/** A table that could not be vacuumed. */
interface VacuumFailure {
  readonly table: string;
  readonly reason: string;
}

/**
 * Vacuums all tables, with one statement each, while `mayContinue` returns true. The embedded engine, unlike a
 * PostgreSQL server, never does so by itself. A table that takes longer than a statement may does not stop the
 * others. Throws `DatabaseUnavailable`.
 */
export async function vacuumTables(
  database: Database,
  mayContinue: () => boolean,
): Promise<VacuumFailure[]> {
  const failures: VacuumFailure[] = [];
  for (const { name } of await database.query<{ name: string }>(TABLES)) {
    if (!mayContinue()) break;
    try {
      await database.query(`VACUUM ${name}`);
    } catch (error) {
      if (!(error instanceof StatementRefused)) throw error;
      failures.push({ table: name, reason: error.message });
    }
    await database.rest?.(VACUUM_REST_MS_MAX);
  }
  return failures;
}
