import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import type { Database } from "../../src/db/sql.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/ingest/event_row.ts";
import type { TestDatabase } from "./databases.ts";

/** A migrated database with two projects, numbered 1 and 2. */
export async function openWithProjects(db: TestDatabase): Promise<Database> {
  const database = await db.open();
  await migrate(database, MIGRATIONS);
  await database.script(
    "INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One'), ('prj_two', 'Two')",
  );
  return database;
}

/** A row as small as can be, of project 1. */
export function newRow(members: Partial<EventRow> = {}): EventRow {
  const nothing = Object.fromEntries(Object.keys(EVENT_COLUMN_TYPES).map((name) => [name, null]));
  const now = new Date().toISOString();
  return {
    ...nothing as unknown as EventRow,
    project_id: 1,
    event_id: crypto.randomUUID(),
    occurred_at: now,
    received_at: now,
    clock: "r",
    name: "event",
    visitor_hash: "\\x000102030405060708090a0b0c0d0e0f",
    located: false,
    in_session: true,
    ...members,
  };
}

/** Names of the stored events by id. */
export async function storedNames(database: Database): Promise<Map<string, string>> {
  const rows = await database.query<{ event_id: string; name: string }>(
    "SELECT event_id, name FROM events",
  );
  return new Map(rows.map((row) => [row.event_id, row.name]));
}
