import events from "../../migrations/0001_events.sql" with { type: "text" };
import type { Migration } from "./migrate.ts";

/** The schema's history, embedded in the program. Append only: a released text never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_events", sql: events },
];
