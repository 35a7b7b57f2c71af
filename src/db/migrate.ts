import { createHash } from "node:crypto";
import { isRefused } from "./refusal.ts";
import type { Database, Sql } from "./sql.ts";

/** One step of the schema. Once released, its text never changes. */
export interface Migration {
  /** 1, 2, 3, …: the order in which they are applied. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** A newer program has migrated the database further. */
export class SchemaTooNew extends Error {
  override readonly name = "SchemaTooNew";
}

/** This program cannot use the database. The message says why. */
export class SchemaMismatch extends Error {
  override readonly name = "SchemaMismatch";
}

/** A table that a migration changes is not free. */
export interface LockWait {
  /** The migration's name. */
  readonly migration: string;
  /** The oldest other transaction of the database, probably the one that holds the table; null: unknown. */
  readonly oldest: {
    readonly pid: number;
    readonly application: string;
    readonly seconds: number;
  } | null;
  readonly nextTryMs: number;
}

/** Tells of a wait: the warning, and its details. */
export function waitWords(
  { migration, oldest, nextTryMs }: LockWait,
): [string, Readonly<Record<string, string | number>>] {
  return ["a migration waits for a table that another transaction holds; it is tried again", {
    migration,
    inSeconds: nextTryMs / 1000,
    ...oldest === null ? {} : {
      oldestPid: oldest.pid,
      oldestApplication: oldest.application,
      oldestSeconds: oldest.seconds,
    },
  }];
}

/** How migrations wait for tables, which everybody else's statements on them then wait for, too. */
export interface LockPatience {
  /** How long a statement waits; then the migration is undone. */
  readonly lockMs: number;
  /** How long others go on before the next try. */
  readonly pauseMs: number;
  readonly onWait: (wait: LockWait) => void;
}

export const LOCK_PATIENCE: LockPatience = { lockMs: 2_000, pauseMs: 8_000, onWait: () => {} };

interface Applied extends Record<string, unknown> {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** PostgreSQL 15: `server_version_num` is the major version times 10,000. */
const SERVER_VERSION_MIN = 150_000;
/** An arbitrary constant, the same in every program that migrates. */
const MIGRATION_LOCK = 4_607_182_418;
/** lock_not_available. */
const LOCK_REFUSED = "55P03";

/**
 * Brings the database to the newest of `migrations`, each in a transaction with its own record in
 * `schema_migrations`. Programs that start at the same time take turns. An up-to-date database is only read. A
 * migration whose table is held, as by a dump, is tried again for as long as that takes.
 *
 * @returns The names of the migrations that this call applied.
 * @throws SchemaTooNew, SchemaMismatch (PostgreSQL older than 15; a new database that is not UTF8; an applied
 * migration whose text has changed), or the failure of a migration, which then left nothing behind.
 */
export async function migrate(
  sql: Database,
  migrations: readonly Migration[],
  patience: LockPatience = LOCK_PATIENCE,
): Promise<{ applied: string[] }> {
  const known = migrations.toSorted((a, b) => a.version - b.version);
  const first = await pending(sql, known);
  if (first === undefined) return { applied: [] };
  await assertServerVersion(sql);
  if (first === known[0]) await assertEncoding(sql);
  const applied: string[] = [];
  for (;;) {
    const name = await sql.transaction((tx) => applyNext(tx, known, patience.lockMs)).catch(
      async (error) => {
        if (!isRefused(error, LOCK_REFUSED)) throw error;
        const next = await pending(sql, known);
        // Another program has applied it meanwhile.
        if (next === undefined) return null;
        const nextTryMs = patience.pauseMs;
        const oldest = await oldestTransaction(sql).catch(() => null);
        patience.onWait({ migration: next.name, oldest, nextTryMs });
        await new Promise((resolve) => setTimeout(resolve, nextTryMs));
      },
    );
    if (name === null) return { applied };
    if (name !== undefined) applied.push(name);
  }
}

/** Applies the first missing migration, under a lock until the transaction ends. */
async function applyNext(
  sql: Sql,
  known: readonly Migration[],
  lockMs: number,
): Promise<string | null> {
  // Rebuilding a large table, or waiting for another program that does so, may take long.
  await sql.script(
    `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
  );
  await sql.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    version int PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`);
  const next = await pending(sql, known);
  if (next === undefined) return null;
  await sql.script(`SET LOCAL lock_timeout = ${lockMs};\n${next.sql}`);
  await sql.query(
    "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1::int, $2::text, $3::text)",
    [next.version, next.name, checksum(next)],
  );
  return next.name;
}

/** The oldest other transaction in the database, of those that the role may see. */
async function oldestTransaction(sql: Sql): Promise<LockWait["oldest"]> {
  const [oldest] = await sql.query<{ pid: number; application: string; seconds: number }>(
    `SELECT pid, application_name AS application,
      extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
    ORDER BY xact_start LIMIT 1`,
  );
  return oldest ?? null;
}

/** Returns the first migration that is not applied yet. */
async function pending(sql: Sql, known: readonly Migration[]): Promise<Migration | undefined> {
  const [table] = await sql.query<{ present: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS present",
  );
  const records = table?.present === true
    ? await sql.query<Applied>("SELECT version, name, checksum FROM schema_migrations")
    : [];
  const newest = Math.max(0, ...records.map((record) => record.version));
  const ours = known.at(-1)?.version ?? 0;
  if (newest > ours) {
    throw new SchemaTooNew(
      `The database has schema ${newest}; this program knows up to ${ours}. ` +
        `Start a newer Footfall, or restore a backup made before the upgrade.`,
    );
  }
  const checksums = new Map(records.map((record) => [record.version, record.checksum]));
  for (const migration of known) {
    const recorded = checksums.get(migration.version);
    if (recorded !== undefined && recorded !== checksum(migration)) {
      throw new SchemaMismatch(
        `Migration ${migration.version} (${migration.name}) was applied with another text than ` +
          `this program has. Migrations are never changed: start the program that applied it.`,
      );
    }
  }
  return known.find((migration) => !checksums.has(migration.version));
}

async function assertServerVersion(sql: Sql): Promise<void> {
  const [server] = await sql.query<{ number: number; text: string }>(
    "SELECT current_setting('server_version_num')::int AS number, " +
      "current_setting('server_version') AS text",
  );
  if (server !== undefined && server.number < SERVER_VERSION_MIN) {
    throw new SchemaMismatch(
      `The database is PostgreSQL ${server.text}; Footfall needs PostgreSQL 15 or newer.`,
    );
  }
}

/** Refuses a new database that cannot hold, compare or count the characters of every language. */
async function assertEncoding(sql: Sql): Promise<void> {
  const [database] = await sql.query<{ name: string; encoding: string }>(
    "SELECT current_database() AS name, current_setting('server_encoding') AS encoding",
  );
  const { name, encoding } = database!;
  if (encoding !== "UTF8") {
    throw new SchemaMismatch(
      `The database ${name} has the encoding ${encoding}; Footfall needs UTF8. Make it anew: ` +
        `createdb --template=template0 --encoding=UTF8 ${name}.`,
    );
  }
}

/** Returns the hash by which a changed migration is recognized. */
export function checksum(migration: Migration): string {
  // A checkout with Windows line ends has the same migration.
  return createHash("sha256").update(migration.sql.replaceAll("\r\n", "\n")).digest("hex");
}
