import { arrayLiteral, isOneOf, type Row, type Sql } from "../db/sql.ts";
import { parseJson } from "../json_text.ts";
import { EVENT_COLUMNS, type EventRow } from "../store/event_row.ts";

/** The SQL that reads a column as ingestion made it; other columns are read unchanged. */
const COLUMN_SQL: Partial<Record<keyof EventRow, string>> = {
  occurred_at: "(extract(epoch FROM e.occurred_at) * 1000)::int8",
  received_at: "(extract(epoch FROM e.received_at) * 1000)::int8",
  clock: "e.clock::text",
  device: "e.device::text",
  visitor_hash: "'\\x' || encode(e.visitor_hash, 'hex')",
  ip: "host(e.ip)",
  properties: "e.properties::text",
  extra: "e.extra::text",
};

/** Returns the SQL of these columns of a table of wide rows (alias e), as `rowOf` takes them. */
export function selectedColumns(names: readonly (keyof EventRow)[]): string {
  return names.map((name) => `${COLUMN_SQL[name] ?? `e.${name}`} AS ${name}`).join(", ");
}

/** The columns of `earlier_events`. */
export const EARLIER_COLUMNS = EVENT_COLUMNS.filter((name) =>
  name !== "sent_at" && name !== "interactive"
);
const COLUMNS = selectedColumns(EARLIER_COLUMNS);

/** Formats JSON as ingestion does, including keys with escapes: PostgreSQL's text has blanks. */
const jsonText = (text: unknown): string | null =>
  text === null ? null : JSON.stringify(parseJson(text as string));

/** Returns a wide row as ingestion made it. */
export function rowOf(row: Row): EventRow {
  return {
    ...row,
    occurred_at: new Date(row.occurred_at as number).toISOString(),
    received_at: new Date(row.received_at as number).toISOString(),
    properties: jsonText(row.properties),
    extra: jsonText(row.extra),
    sent_at: null,
    interactive: null,
  } as EventRow;
}

/** Reads the next events of a project after one of them, by time, then id. */
export async function earlierRows(
  sql: Sql,
  projectId: number,
  after: { readonly moved_at: string; readonly moved_id: string },
  count: number,
): Promise<EventRow[]> {
  const rows = await sql.query(
    `SELECT ${COLUMNS} FROM earlier_events e
    WHERE e.project_id = (SELECT $1::int)
      AND (e.occurred_at, e.event_id) > ($2::text::timestamptz, $3::text::uuid)
    ORDER BY e.occurred_at, e.event_id LIMIT $4::int`,
    [projectId, after.moved_at, after.moved_id, count],
  );
  return rows.map(rowOf);
}

const WITH_IDS = `project_id = (SELECT $1::int) AND ${isOneOf("event_id", "$2::text::uuid[]")}`;

/** Reads the earlier events with these ids, by id. */
export async function earlierRowsOf(
  sql: Sql,
  projectId: number,
  ids: readonly string[],
): Promise<Map<string, EventRow>> {
  const rows = await sql.query(
    `SELECT ${COLUMNS} FROM earlier_events e WHERE ${WITH_IDS}`,
    [projectId, arrayLiteral(ids)],
  );
  return new Map(rows.map((row) => [row.event_id as string, rowOf(row)]));
}

/** Deletes the earlier events with these ids. */
export async function deleteEarlier(
  tx: Sql,
  projectId: number,
  ids: readonly string[],
): Promise<void> {
  await tx.query(`DELETE FROM earlier_events WHERE ${WITH_IDS}`, [projectId, arrayLiteral(ids)]);
}
