/** What a database holds, whichever version of the server filled it. */
import type { Database, Row, Sql } from "../src/db/sql.ts";

export interface StoreFigures {
  readonly events: number;
  /** Stored and not projected yet. */
  readonly pending: number;
  /** All tables with their indexes. */
  readonly bytes: number;
  /** Of these the journal's, which gives them back 48 hours later. */
  readonly journalBytes: number;
  /** Of the write-ahead log, since the database was made. */
  readonly walBytes: number;
}

const SIZES = `
(SELECT sum(pg_total_relation_size(oid))::float8 FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace) AS bytes`;

// Asked for before the events are counted: whoever reads a page first after a transaction marks its rows as committed,
// and where pages have checksums, as those of the embedded engine, the log gets the page: 20 bytes an event.
const LOG = `SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS "walBytes"`;

const OF_JOURNAL = `
SELECT (SELECT count(*)::int FROM event_ids) AS events,
  (SELECT coalesce(sum(event_count - projected_count), 0)::int FROM journal
    WHERE projected_at IS NULL) AS pending,
  pg_total_relation_size('journal')::float8 AS "journalBytes", ${SIZES}`;

const OF_ROWS = `
SELECT (SELECT count(*)::int FROM events) AS events,
  (SELECT coalesce(sum(event_count), 0)::int FROM fold_marks) AS pending,
  0 AS "journalBytes", ${SIZES}`;

async function hasTable(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql.query<{ found: boolean }>(
    "SELECT to_regclass($1::text) IS NOT NULL AS found",
    [name],
  );
  return row!.found;
}

export async function storeFigures(sql: Sql): Promise<StoreFigures> {
  const [log] = await sql.query<Pick<StoreFigures, "walBytes"> & Row>(LOG);
  const [row] = await sql.query<Omit<StoreFigures, "walBytes"> & Row>(
    await hasTable(sql, "journal") ? OF_JOURNAL : OF_ROWS,
  );
  return { ...log!, ...row! };
}

/** Keeps a server from projecting a project, as another server that does would. @returns what ends it */
export async function holdProjection(
  sql: Database,
  projectId: number,
): Promise<() => Promise<void>> {
  const table = await hasTable(sql, "projections") ? "projections" : "fold_projects";
  await sql.query(
    `INSERT INTO ${table} (project_id) VALUES ($1::int) ON CONFLICT DO NOTHING`,
    [projectId],
  );
  const held = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const holding = sql.transaction(async (tx) => {
    await tx.script("SET LOCAL idle_in_transaction_session_timeout = 0");
    await tx.query(`SELECT FROM ${table} WHERE project_id = $1::int FOR UPDATE`, [projectId]);
    held.resolve();
    await over.promise;
  });
  await Promise.race([held.promise, holding]);
  return () => (over.resolve(), holding);
}
