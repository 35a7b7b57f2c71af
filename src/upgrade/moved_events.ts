import type { Sql } from "../db/sql.ts";
import { insertEvents } from "../ingest/event_insert.ts";
import { MOVED_XID } from "../projection/journal_erasure.ts";
import type { EventRow } from "../store/event_row.ts";
import { noteLess } from "./earlier_projects.ts";

// The rows of this transaction. Its beginning is their `received_at`, which is indexed.
const MARK_MOVED = `
UPDATE journal SET stored_by = '${MOVED_XID}', received_at = $2::text::timestamptz
WHERE project_id = $1::int AND received_at = now() AND stored_by = pg_current_xact_id()`;

/**
 * Marks the journal rows of this transaction as received when the latest of these events was, so that live views
 * do not show the events as new.
 */
export async function markMoved(
  tx: Sql,
  projectId: number,
  rows: readonly EventRow[],
): Promise<void> {
  const received = rows.reduce(
    (latest, { received_at }) => received_at > latest ? received_at : latest,
    "",
  );
  await tx.query(MARK_MOVED, [projectId, received]);
}

/** Stores earlier events in the journal, except those that are in it or in segments already. */
export async function storeMoved(
  tx: Sql,
  projectId: number,
  rows: readonly EventRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const known = await insertEvents(tx, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await markMoved(tx, projectId, rows);
  await noteLess(tx, projectId, rows.length - known.size);
}
