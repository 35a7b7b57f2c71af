import type { Project } from "../../src/auth/projects.ts";
import type { Database, Row, Sql } from "../../src/db/sql.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/store/event_row.ts";
import { journalEvents, type JournalRow } from "../../src/store/journal_events.ts";
import type { TestDatabase } from "./databases.ts";

/** The first of the projects of `openWithProjects`. */
export const PROJECT_ONE: Project = {
  projectId: 1,
  id: "prj_one",
  createdAt: "2026-01-01T00:00:00.000Z",
  name: "One",
  siteUrl: null,
  timezone: "UTC",
  allowedOrigins: [],
  ipStorage: null,
  retentionDays: null,
};

/** A database with two projects, numbered 1 and 2. */
export async function openWithProjects(db: TestDatabase): Promise<Database> {
  const database = await db.open();
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

/** Every event that is stored, from the journal. */
export async function storedRows(sql: Sql): Promise<EventRow[]> {
  const rows = await sql.query<JournalRow & Row>(
    "SELECT project_id, block, known_ids FROM journal ORDER BY journal_id",
  );
  return rows.flatMap(journalEvents);
}

/** Names of the stored events by id. */
export async function storedNames(sql: Sql): Promise<Map<string, string>> {
  return new Map((await storedRows(sql)).map((row) => [row.event_id, row.name]));
}
