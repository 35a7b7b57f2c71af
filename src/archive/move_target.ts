import { type LockPatience, migrate } from "../db/migrate.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import type { Database, Sql } from "../db/sql.ts";
import { dropEmptiedTable } from "../upgrade/earlier_projects.ts";
import { ARCHIVED_TABLES, archivedTable, LEFT_TABLES } from "./archived_tables.ts";
import type { FrameRows } from "./archive_format.ts";
import { restoreRows } from "./restored_rows.ts";
import { listOwners, NO_PROJECT } from "./stored_rows.ts";
import { TargetRefused } from "./target_refused.ts";

const SOURCE = "move:source";
const STATE = "move:state";
const COPYING = "copying";

const TABLES = `
SELECT c.relname AS name FROM pg_class c
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace`;

async function settingsOf(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql.query<{ name: string; value: string }>(
    "SELECT name, value FROM settings WHERE name LIKE 'move:%'",
  );
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/**
 * Whether an earlier run was stopped while it made the schema: the database then has the tables of an earlier
 * version, but no project, which every server of an earlier version has.
 */
async function isHalfMade(sql: Sql, tables: readonly string[]): Promise<boolean> {
  if (!tables.includes("schema_migrations") || !tables.includes("projects")) return false;
  const [made] = await sql.query<{ isOlder: boolean; isEmpty: boolean }>(
    `SELECT (SELECT max(version) FROM schema_migrations) < $1::int AS "isOlder",
      NOT EXISTS (SELECT FROM projects) AS "isEmpty"`,
    [MIGRATIONS.at(-1)!.version],
  );
  return made!.isOlder && made!.isEmpty;
}

/** Throws TargetRefused if the database contains anything that is not from a move of this source. */
export async function assertOurs(sql: Sql, source: string): Promise<void> {
  const tables = (await sql.query<{ name: string }>(TABLES)).map(({ name }) => name);
  if (tables.length === 0 || await isHalfMade(sql, tables)) return;
  const known = new Set([...ARCHIVED_TABLES.map(({ name }) => name), ...LEFT_TABLES]);
  const foreign = tables.filter((name) => !known.has(name));
  if (foreign.length > 0 || !tables.includes("settings")) {
    throw new TargetRefused(
      `The database is not empty: it has the tables ${tables.slice(0, 5).join(", ")}` +
        `${tables.length > 5 ? ", …" : ""}. Make a new one: createdb footfall.`,
    );
  }
  const settings = await settingsOf(sql);
  const [projects] = await sql.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM projects",
  );
  if (settings.get(SOURCE) === source && settings.get(STATE) === COPYING) return;
  if (projects!.count === 0 && settings.size === 0) return;
  throw new TargetRefused(
    settings.get(SOURCE) === source
      ? "This server has been moved to that database already. Start it with that DATABASE_URL."
      : "The database holds another Footfall already. Move to an empty one, or bring an archive " +
        "into it with `footfall restore`.",
  );
}

/**
 * Makes an empty database, or the target of an earlier run, the target of a move from this source.
 * @param patience how it waits for tables that others hold
 */
export async function openTarget(
  database: Database,
  source: string,
  patience: LockPatience,
): Promise<void> {
  await assertOurs(database, source);
  await migrate(database, MIGRATIONS, patience);
  await dropEmptiedTable(database);
  await database.query(
    `INSERT INTO settings (name, value) VALUES ('${SOURCE}', $1::text), ('${STATE}', '${COPYING}')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [source],
  );
}

/** Whether a database is the target of an unfinished move. */
export async function isHalfMoved(sql: Sql): Promise<boolean> {
  return (await settingsOf(sql)).get(STATE) === COPYING;
}

/** Marks the move as complete: a server may start on the database. */
export async function closeTarget(sql: Sql): Promise<void> {
  await sql.query(`UPDATE settings SET value = 'moved' WHERE name = '${STATE}'`);
}

/** Empties a target, which contains only copies, so that copying can start over. */
export async function emptyTarget(database: Database): Promise<void> {
  const tables = (await database.query<{ name: string }>(TABLES)).map(({ name }) => name)
    .filter((name) => name !== "schema_migrations" && name !== "settings");
  await database.query(`TRUNCATE ${tables.join(", ")} RESTART IDENTITY CASCADE`);
}

/** Returns the numbers of the target's projects, by their ids. */
export async function targetProjects(sql: Sql): Promise<Map<string, number>> {
  return new Map((await listOwners(sql)).map(({ id, projectId }) => [id, projectId]));
}

const UPDATE_PROJECT = `
UPDATE projects p SET (name, site_url, site_url_by_operator, timezone, allowed_origins, ip_storage,
  retention_days, created_at) = (w.name, w.site_url, w.site_url_by_operator, w.timezone,
  w.allowed_origins, w.ip_storage, w.retention_days, w.created_at)
FROM jsonb_populate_record(NULL::projects, $1::text::jsonb) w WHERE p.public_id = w.public_id`;

/** Stores the rows of a frame in the target. A project that exists is updated to its state at the source. */
export async function copyRows(
  database: Database,
  { table: name, of, rows }: FrameRows,
): Promise<void> {
  const table = archivedTable(name)!;
  const projectId = of === NO_PROJECT || name === "projects"
    ? null
    : (await targetProjects(database)).get(of) ?? null;
  await restoreRows(database, table, projectId, rows);
  if (name !== "projects") return;
  for (const row of rows) await database.query(UPDATE_PROJECT, [row]);
}

/** Deletes all rows that the pause copies again: everything but projects, pictures and events. */
export async function clearRows(database: Database): Promise<void> {
  const names = ARCHIVED_TABLES.map(({ name }) => name)
    .filter((name) => !["projects", "captures", "settings"].includes(name)).toReversed();
  await database.transaction(async (tx) => {
    for (const name of names) await tx.query(`DELETE FROM ${name}`);
    await tx.query("DELETE FROM settings WHERE name NOT LIKE 'move:%'");
  });
}

/** Deletes all pictures: some have changed since they were copied. */
export async function clearPictures(database: Database): Promise<void> {
  await database.query("DELETE FROM captures");
}
