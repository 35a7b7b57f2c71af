import { type BinaryRow, numberOf } from "../db/binary_rows.ts";
import { keyedRow } from "../db/keyed_rows.ts";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { ID_BYTES, uuidOf } from "../store/id_codec.ts";
import { type BlockColumn, blockSpan, encodeBlock } from "../store/journal_block.ts";
import { type BlockColumns, decodeColumns, valueAt, wholeEvents } from "../store/journal_events.ts";
import { STORED_ROW, type StoredJournalRow, storedRow } from "../store/stored_journal.ts";
import { yielding } from "../store/yielding.ts";
import { NAME_COLUMNS, nameOf } from "./identities.ts";
import { readable } from "./pending_events.ts";
import { JOURNAL_ROWS_READ_AT_ONCE, PROJECTION_BLOCK_BYTES_AIM } from "./projection_limits.ts";

interface ErasableRow extends StoredJournalRow {
  /** Whether an upgrade has moved the row's events here. */
  readonly is_moved: boolean;
}

/**
 * The transaction id of journal rows that an upgrade writes: older than every snapshot, so that no tail
 * reports these events as new.
 */
export const MOVED_XID = "3";

const READ = `
SELECT ${STORED_ROW}, (j.stored_by = '${MOVED_XID}')::int::int8 FROM (
  SELECT journal_id, sum(bytes) OVER (ORDER BY journal_id) - bytes AS bytes_before
  FROM (
    SELECT journal_id, octet_length(block) AS bytes FROM journal
    WHERE project_id = (SELECT $1::int) AND journal_id > $2::int8 AND from_ms < $3::int8
      AND (projected_count > 0 OR stored_by = '${MOVED_XID}')
      AND (int8range(from_ms, to_ms, '[]') && (SELECT $4::text::int8multirange) OR known_ids IS NOT NULL
        OR set_aside_ids IS NOT NULL OR stored_by = '${MOVED_XID}')
    ORDER BY journal_id LIMIT ${JOURNAL_ROWS_READ_AT_ONCE}) AS next
) AS o CROSS JOIN ${keyedRow("journal v", "v.journal_id = o.journal_id", "$1::int")} AS j
WHERE o.bytes_before < ${PROJECTION_BLOCK_BYTES_AIM} ORDER BY j.journal_id`;

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
  /**
   * Only rows with an event in these spans are read, and rows whose events may differ from the segments:
   * repeated, set-aside, or moved ones.
   */
  readonly spans: string;
  /** Returns whether to remove the event at a place of a block; null: no event of the block. */
  readonly removedOf: (columns: BlockColumns) => ((place: number) => boolean) | null;
  /** Whether pending events that an upgrade has moved here are removed, too. */
  readonly takesMoved: boolean;
}

/** Removes events from one row. @returns the ids of the removed events that were set aside */
async function removeFromRow(
  tx: Sql,
  projectId: number,
  row: ErasableRow,
  columns: BlockColumns,
  { removedOf, takesMoved }: Removal,
): Promise<string[]> {
  const isRemoved = removedOf(columns);
  if (isRemoved === null) return [];
  const ids = Array.from({ length: columns.events }, (_, i) => uuidOf(columns.ids, ID_BYTES * i));
  // Pending events stay, as they were sent later, unless an upgrade has moved them here.
  const candidates = row.is_moved && takesMoved ? ids : ids.slice(0, row.projected_count);
  const removed = new Set(candidates.filter((_, place) => isRemoved(place)));
  if (removed.size === 0) return [];
  const places = [...ids.keys()].filter((place) => !removed.has(ids[place]!));
  const remaining = (ids: readonly string[] | null) => (ids ?? []).filter((id) => !removed.has(id));
  const known = remaining(row.known_ids);
  const aside = remaining(row.set_aside_ids);
  if (places.length === 0) {
    await tx.query(DELETE, [projectId, row.journal_id]);
  } else {
    const kept = wholeEvents(columns, projectId, places);
    const { fromMs, toMs } = blockSpan(kept);
    await tx.query(REWRITE, [
      projectId,
      row.journal_id,
      encodeBlock(kept).toBase64(),
      kept.length - known.length,
      arrayLiteral(known),
      places.filter((place) => place < row.projected_count).length,
      arrayLiteral(aside),
      fromMs,
      toMs,
    ]);
  }
  return (row.set_aside_ids ?? []).filter((id) => removed.has(id));
}

/** Removes events from all rows. @returns the ids of the removed events that were set aside */
async function removeFromJournal(tx: Sql, projectId: number, removal: Removal): Promise<string[]> {
  const yieldIfDue = yielding();
  const aside: string[] = [];
  const { beforeMs, spans } = removal;
  for (let after = 0;;) {
    const rows = (await tx.binary(READ, [projectId, after, beforeMs, spans])).map(erasableRow);
    if (rows.length === 0) return aside;
    for (const row of rows) {
      // An unreadable row stays until all of it has expired.
      const columns = readable(() => decodeColumns(row.block));
      if (columns !== null) {
        aside.push(...await removeFromRow(tx, projectId, row, columns, removal));
      }
      await yieldIfDue();
    }
    after = rows.at(-1)!.journal_id;
  }
}

/** Returns the distinct values, except null, that events of a block may have in a column. */
function valuesOf({ same, coded }: BlockColumns, name: BlockColumn): Set<string> {
  const values = new Set(coded[name]?.values ?? [same[name] ?? null]);
  values.delete(null);
  return values as Set<string>;
}

/** Finds the events of some identities in a block; most blocks have none. */
function eventsOfNames(names: ReadonlySet<string>): Removal["removedOf"] {
  const nobody = { user_id: null, anonymous_id: null, visitor_hash: "" };
  return (columns) => {
    const hasAny = NAME_COLUMNS.some((column) =>
      valuesOf(columns, column).values()
        .some((value) => names.has(nameOf({ ...nobody, [column]: value })))
    );
    if (!hasAny) return null;
    return (place) =>
      names.has(nameOf({
        user_id: valueAt(columns, "user_id", place) as string | null,
        anonymous_id: valueAt(columns, "anonymous_id", place) as string | null,
        visitor_hash: valueAt(columns, "visitor_hash", place) as string,
      }));
  };
}

const ALWAYS = "{(,)}";
/** The maximum number of spans, and their width if no more are needed. */
const SPANS_MAX = 1_000;
const SPAN_MS_MIN = 60_000;

/**
 * Returns spans that hold all of these times, as PostgreSQL's multirange: minutes, or longer spans if there
 * would be too many. In a day's journal of a busy site, a visitor's minutes are in a few of thousands of
 * rows.
 * @param spansMax at least 2
 */
export function spansAround(moments: Iterable<number>, spansMax = SPANS_MAX): string {
  let widthMs = SPAN_MS_MIN;
  let spans = new Set(Iterator.from(moments).map((ms) => Math.floor(ms / SPAN_MS_MIN)));
  for (; spans.size > spansMax; widthMs *= 2) {
    spans = new Set(spans.values().map((n) => Math.floor(n / 2)));
  }
  return `{${[...spans].map((n) => `[${n * widthMs},${(n + 1) * widthMs})`).join(",")}}`;
}

/**
 * Erases the projected and the set-aside events of some identities from the journal; with `takesMoved`, also
 * pending events that an upgrade has moved here.
 * @param names the identities' names: their kind, then their value
 * @param moments the times of all their events in the segments
 * @returns the ids of the erased events that were set aside, which no segment has
 */
export function eraseFromJournal(
  tx: Sql,
  projectId: number,
  names: ReadonlySet<string>,
  moments: readonly number[],
  takesMoved = false,
): Promise<string[]> {
  return removeFromJournal(tx, projectId, {
    beforeMs: Number.MAX_SAFE_INTEGER,
    spans: spansAround(moments),
    removedOf: eventsOfNames(names),
    takesMoved,
  });
}

/**
 * Deletes the events before an instant from the journal, so that no tail shows them; pending ones stay.
 * @returns the ids of the deleted events that were set aside
 */
export async function deleteFromJournalBefore(
  tx: Sql,
  projectId: number,
  beforeMs: number,
): Promise<string[]> {
  // From now on the journal is incomplete before this instant, while the segments are still being deleted
  // step by step.
  await tx.query(
    `UPDATE projections SET journal_lacks_to_ms = greatest(journal_lacks_to_ms, $2::int8 - 1)
    WHERE project_id = $1::int`,
    [projectId, beforeMs],
  );
  // Rows that expire whole need not be read; with a retention below 48 hours, most do. For an unreadable row,
  // no set-aside event is reported.
  await tx.query(
    `DELETE FROM journal WHERE project_id = $1::int AND to_ms < $2::int8
      AND projected_at IS NOT NULL AND (set_aside_until IS NULL OR set_aside_ids IS NULL)`,
    [projectId, beforeMs],
  );
  const removedOf = (columns: BlockColumns) => (place: number) =>
    Date.parse(valueAt(columns, "occurred_at", place) as string) < beforeMs;
  return await removeFromJournal(tx, projectId, {
    beforeMs,
    spans: ALWAYS,
    removedOf,
    takesMoved: false,
  });
}
