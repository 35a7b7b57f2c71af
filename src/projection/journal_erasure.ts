import { type BinaryRow, numberOf } from "../db/binary_rows.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import type { EventRow } from "../store/event_row.ts";
import { blockSpan, encodeBlock } from "../store/journal_block.ts";
import { decodeBlock } from "../store/journal_events.ts";
import { STORED_ROW, type StoredJournalRow, storedRow } from "../store/stored_journal.ts";
import { nameOf } from "./identities.ts";
import { readable } from "./pending_events.ts";
import { JOURNAL_ROWS_READ_AT_ONCE } from "./projection_limits.ts";

interface ErasableRow extends StoredJournalRow {
  /** Whether an upgrade has moved the row's events here. */
  readonly is_moved: boolean;
}

/**
 * The transaction id of journal rows that an upgrade writes. It is older than every snapshot, so that no
 * tail takes these events for new.
 */
export const MOVED_XID = "3";

const READ = `
SELECT ${STORED_ROW}, (stored_by = '${MOVED_XID}')::int::int8
FROM journal j
WHERE project_id = $1::int AND journal_id > $2::int8 AND from_ms < $3::int8
  AND (projected_count > 0 OR stored_by = '${MOVED_XID}')
ORDER BY journal_id LIMIT ${JOURNAL_ROWS_READ_AT_ONCE}`;

const REWRITE = `
UPDATE journal SET block = decode($3::text, 'base64'), event_count = $4::int,
  known_ids = nullif($5::text::uuid[], '{}'), projected_count = $6::int,
  set_aside_ids = nullif($7::text::uuid[], '{}'),
  set_aside_until = CASE WHEN $7::text <> '{}' THEN set_aside_until END,
  from_ms = $8::int8, to_ms = $9::int8
WHERE project_id = $1::int AND journal_id = $2::int8`;

const DELETE = "DELETE FROM journal WHERE project_id = $1::int AND journal_id = $2::int8";

function erasableRow(row: BinaryRow): ErasableRow {
  return { ...storedRow(row), is_moved: numberOf(row.at(-1)!) === 1 };
}

/** Which events to remove from the journal. */
interface Removal {
  /** Only rows with an event before this are read. */
  readonly beforeMs: number;
  readonly isRemoved: (event: EventRow) => boolean;
  /** Whether pending events are removed as well where an upgrade has moved them here. */
  readonly takesMoved: boolean;
}

/** Removes events from one row. @returns the ids of the removed events that were set aside */
async function removeFromRow(
  tx: Sql,
  projectId: number,
  row: ErasableRow,
  events: readonly EventRow[],
  { isRemoved, takesMoved }: Removal,
): Promise<string[]> {
  // Pending events were sent later, and stay, unless an upgrade has moved them here.
  const projected = events.slice(0, row.projected_count);
  const candidates = row.is_moved && takesMoved ? events : projected;
  const removed = new Set(candidates.filter(isRemoved).map(({ event_id }) => event_id));
  if (removed.size === 0) return [];
  const isKept = ({ event_id }: EventRow) => !removed.has(event_id);
  const kept = events.filter(isKept);
  const remaining = (ids: readonly string[] | null) => (ids ?? []).filter((id) => !removed.has(id));
  const known = remaining(row.known_ids);
  const aside = remaining(row.set_aside_ids);
  if (kept.length === 0) {
    await tx.query(DELETE, [projectId, row.journal_id]);
  } else {
    const { fromMs, toMs } = blockSpan(kept);
    await tx.query(REWRITE, [
      projectId,
      row.journal_id,
      encodeBlock(kept).toBase64(),
      kept.length - known.length,
      arrayLiteral(known),
      projected.filter(isKept).length,
      arrayLiteral(aside),
      fromMs,
      toMs,
    ]);
  }
  return (row.set_aside_ids ?? []).filter((id) => removed.has(id));
}

/** Removes events from all rows. @returns the ids of the removed events that were set aside */
async function removeFromJournal(tx: Sql, projectId: number, removal: Removal): Promise<string[]> {
  const aside: string[] = [];
  for (let after = 0;;) {
    const rows = (await tx.binary(READ, [projectId, after, removal.beforeMs])).map(erasableRow);
    for (const row of rows) {
      // A row that cannot be read stays until all of it has expired.
      const events = readable(() => decodeBlock(row.block, projectId)) ?? [];
      aside.push(...await removeFromRow(tx, projectId, row, events, removal));
    }
    if (rows.length < JOURNAL_ROWS_READ_AT_ONCE) return aside;
    after = rows.at(-1)!.journal_id;
  }
}

/**
 * Erases the projected and the set-aside events of some identities from the journal; during an upgrade
 * (`takesMoved`) also pending events that it has moved here.
 * @param names the identities' names: their kind, then their value
 * @returns the ids of the erased events that were set aside; the segments do not have these
 */
export function eraseFromJournal(
  tx: Sql,
  projectId: number,
  names: ReadonlySet<string>,
  takesMoved = false,
): Promise<string[]> {
  const isRemoved = (event: EventRow) => names.has(nameOf(event));
  return removeFromJournal(tx, projectId, {
    beforeMs: Number.MAX_SAFE_INTEGER,
    isRemoved,
    takesMoved,
  });
}

/**
 * Deletes the events before an instant from the journal, unless they are pending: no tail shows them any
 * more. @returns the ids of the deleted events that were set aside
 */
export async function deleteFromJournalBefore(
  tx: Sql,
  projectId: number,
  beforeMs: number,
): Promise<string[]> {
  // Of the events before it, the segments of which are deleted step by step, the journal lacks some from now on.
  await tx.query(
    `UPDATE projections SET journal_lacks_to_ms = greatest(journal_lacks_to_ms, $2::int8 - 1)
    WHERE project_id = $1::int`,
    [projectId, beforeMs],
  );
  // Rows that expire whole need not be read; most rows do where the retention is below 48 hours. Of a row
  // that cannot be read, no event is named as set aside.
  await tx.query(
    `DELETE FROM journal WHERE project_id = $1::int AND to_ms < $2::int8
      AND projected_at IS NOT NULL AND (set_aside_until IS NULL OR set_aside_ids IS NULL)`,
    [projectId, beforeMs],
  );
  const isRemoved = ({ occurred_at }: EventRow) => Date.parse(occurred_at) < beforeMs;
  return await removeFromJournal(tx, projectId, { beforeMs, isRemoved, takesMoved: false });
}
