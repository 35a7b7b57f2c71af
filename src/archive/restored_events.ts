import { z } from "zod";
import type { Database } from "../db/sql.ts";
import { hasEarlierEvents, insertEvents } from "../ingest/event_insert.ts";
import { isMembers, parseJson } from "../json_text.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../store/event_row.ts";
import { decodeBlock } from "../store/journal_events.ts";
import { isStorable } from "../text_schemas.ts";
import { markMoved } from "../upgrade/moved_events.ts";
import { ArchiveRefused } from "./archive_format.ts";

const INTEGER_MAX = 2 ** 31 - 1;
const INSTANT = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const HASH = /^\\x[0-9a-f]{32}$/;

const isText = (value: unknown) => typeof value === "string" && isStorable(value);
const isInstant = (value: unknown) =>
  typeof value === "string" && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
const isInteger = (value: unknown) =>
  Number.isInteger(value) && Math.abs(value as number) <= INTEGER_MAX;

const isJsonObject = (value: unknown) => {
  try {
    return isText(value) && isMembers(parseJson(value as string));
  } catch {
    return false;
  }
};

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  timestamptz: isInstant,
  int4: isInteger,
  float8: (value) => typeof value === "number" && Number.isFinite(value),
  bool: (value) => typeof value === "boolean",
  bytea: (value) => typeof value === "string" && HASH.test(value),
  '"char"': (value) => typeof value === "string" && /^[a-z]$/.test(value),
  jsonb: isJsonObject,
};

/** Members that are never null. */
const ALWAYS: ReadonlySet<string> = new Set([
  ...["project_id", "event_id", "occurred_at", "received_at", "clock", "name", "visitor_hash"],
  ...["located", "in_session"],
]);

const COLUMNS = Object.entries(EVENT_COLUMN_TYPES) as [keyof EventRow, string][];

/** Throws ArchiveRefused for a member that ingestion cannot have made. */
function assertRow(row: EventRow): void {
  for (const [name, type] of COLUMNS) {
    const value = row[name];
    const isValid = value === null ? !ALWAYS.has(name) : (CHECKS[type] ?? isText)(value);
    if (!isValid) {
      throw new ArchiveRefused(`The event ${row.event_id} cannot be stored: its ${name} is wrong.`);
    }
  }
}

/** The result of restoring events; `known`: those that were stored before. */
export const RestoredEvents = z.object({ stored: z.int(), known: z.int() });
export type RestoredEvents = z.output<typeof RestoredEvents>;

/**
 * Stores a journal block of an archive in one transaction: each event unchanged, which digests prove afterwards,
 * and exactly once. Live views do not show them as new. Throws ArchiveRefused, UnreadableBlock.
 */
export async function restoreEvents(
  database: Database,
  projectId: number,
  block: Uint8Array,
): Promise<RestoredEvents> {
  const rows = decodeBlock(block, projectId);
  for (const row of rows) assertRow(row);
  if (new Set(rows.map(({ event_id }) => event_id)).size < rows.length) {
    throw new ArchiveRefused("A block holds an event twice.");
  }
  const besideEarlier = await hasEarlierEvents(database);
  const known = await database.transaction(async (tx) => {
    const known = await insertEvents(tx, rows, besideEarlier);
    await markMoved(tx, projectId, rows);
    return known.size;
  });
  return { stored: rows.length - known, known };
}
