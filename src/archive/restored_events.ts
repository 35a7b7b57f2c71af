import type { Database } from "../db/sql.ts";
import { hasEarlierEvents, insertEvents } from "../ingest/event_insert.ts";
import { isMembers } from "../ingest/event_input.ts";
import { parseJson } from "../json_text.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../store/event_row.ts";
import { decodeBlock } from "../store/journal_events.ts";
import { markMoved } from "../upgrade/moved_events.ts";
import { ArchiveRefused } from "./archive_format.ts";

const INTEGER_MAX = 2 ** 31 - 1;
const INSTANT = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const HASH = /^\\x[0-9a-f]{32}$/;

const isText = (value: unknown) =>
  typeof value === "string" && !value.includes("\0") && value.isWellFormed();
const isInstant = (value: unknown) =>
  typeof value === "string" && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
const isInteger = (value: unknown) =>
  Number.isInteger(value) && Math.abs(value as number) <= INTEGER_MAX;

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  timestamptz: isInstant,
  int4: isInteger,
  float8: (value) => typeof value === "number" && Number.isFinite(value),
  bool: (value) => typeof value === "boolean",
  bytea: (value) => typeof value === "string" && HASH.test(value),
  '"char"': (value) => typeof value === "string" && /^[a-z]$/.test(value),
};

/** Members that are never null. */
const ALWAYS: ReadonlySet<string> = new Set([
  ...["project_id", "event_id", "occurred_at", "received_at", "clock", "name", "visitor_hash"],
  ...["located", "in_session"],
]);

const COLUMNS = Object.entries(EVENT_COLUMN_TYPES) as [keyof EventRow, string][];

const JSON_MEMBERS = ["properties", "extra"] as const;

/** An escape of NUL or of half a surrogate pair, as `JSON.stringify` writes them, or any other. */
const ESCAPE = /\\(u0000|ud[89a-f][0-9a-f]{2})|\\./g;

/**
 * Returns an object's JSON as ingestion writes it; null: it is none. Earlier versions may have stored it as
 * PostgreSQL writes it; and of some clients' texts, NUL and half surrogate pairs, which become U+FFFD.
 */
function ingestedJson(json: string): string | null {
  try {
    const value = parseJson(json);
    if (!isMembers(value)) return null;
    const written = JSON.stringify(value);
    const mended = written.replace(ESCAPE, (escape, bad) => bad === undefined ? escape : "\ufffd");
    // Two keys may have become one.
    return mended === written ? written : JSON.stringify(parseJson(mended));
  } catch {
    // It is no JSON.
    return null;
  }
}

function refused({ event_id }: EventRow, name: keyof EventRow): ArchiveRefused {
  return new ArchiveRefused(`The event ${event_id} cannot be stored: its ${name} is wrong.`);
}

/** Writes the JSON of a row as ingestion does. Throws ArchiveRefused where ingestion could not have made a member. */
function mendRow(row: EventRow): void {
  for (const [name, type] of COLUMNS) {
    const value = row[name];
    const isRight = value === null ? !ALWAYS.has(name) : (CHECKS[type] ?? isText)(value);
    if (!isRight) throw refused(row, name);
  }
  for (const name of JSON_MEMBERS) {
    const json = row[name];
    if (json === null) continue;
    row[name] = ingestedJson(json);
    if (row[name] === null) throw refused(row, name);
  }
}

/** The result of restoring events. */
interface RestoredEvents {
  readonly stored: number;
  /** Events that were stored before. */
  readonly known: number;
}

/**
 * Stores a journal block of an archive in one transaction: each event exactly once, and unchanged if this
 * version's ingestion made it. No live view takes them for new. Throws ArchiveRefused, UnreadableBlock.
 */
export async function restoreEvents(
  database: Database,
  projectId: number,
  block: Uint8Array,
): Promise<RestoredEvents> {
  const rows = decodeBlock(block, projectId);
  for (const row of rows) mendRow(row);
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
