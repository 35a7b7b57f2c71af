import type { Sql } from "../../db/sql.ts";
import { BLOCKS_AT_ONCE, STORE_DELAY_MS_MAX, TIMESTAMP_MS_MIN } from "../../limits.ts";
import { cursorExpired, type TailCursor, type TailPage } from "../../query/event_cursor.ts";
import { type Range, spanOf } from "../../query/range.ts";
import { isNarrowed, type Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { journalEvents } from "../../store/journal_events.ts";
import { STORED_ROW, type StoredJournalRow, storedRow } from "../../store/stored_journal.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import type { ScanSource } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { isOfBots } from "../shown/shown_event.ts";
import { PASSING_IDS } from "./passing_visitor.ts";

/** Which stored events a tail shows: those that `until` shows and `after` does not. */
interface TailSelection {
  /** The snapshot of the page before. */
  readonly after: TailCursor;
  /** The snapshot that this read covers, as pg_snapshot prints it. */
  readonly until: string;
  /** The span of the events' own times; null: any time. */
  readonly range: Range | null;
}

/** An event, and the journal row that holds it. */
export interface TailEvent {
  readonly journalId: number;
  readonly row: EventRow;
}

/** The span of all events. */
const EVERY_MS: Span = { fromMs: TIMESTAMP_MS_MIN, toMs: Number.MAX_SAFE_INTEGER };

// Walks the primary key from the newest row to the oldest that may have an unseen event. With a bound on
// journal_id, the planner takes that key whatever it estimates for snapshots.
const BLOCKS = `
SELECT ${STORED_ROW}
FROM journal j
WHERE project_id = $1::int AND journal_id <= $2::int8
  AND received_at > $3::text::timestamptz
  AND to_ms >= $6::int8 AND from_ms < $7::int8
  AND pg_visible_in_snapshot(stored_by, $4::text::pg_snapshot)
  AND ($5::text IS NULL OR NOT pg_visible_in_snapshot(stored_by, $5::text::pg_snapshot))
ORDER BY journal_id DESC LIMIT ${BLOCKS_AT_ONCE}`;

/**
 * Throws Problem `cursor_expired` for an instant so long ago that the journal may lack events stored since:
 * rows are deleted 48 hours after their projection.
 */
export async function refuseExpired(
  sql: Sql,
  projectId: number,
  { at, snapshot }: TailCursor,
): Promise<void> {
  if (snapshot !== null) return;
  const [expired] = await sql.query(
    `SELECT FROM projections
    WHERE project_id = $1::int AND journal_from > $2::text::timestamptz`,
    [projectId, at],
  );
  if (expired !== undefined) throw cursorExpired();
}

/** Compares events: the latest received first, ties by id. */
function byReceipt(a: EventRow, b: EventRow): number {
  if (a.received_at !== b.received_at) return a.received_at < b.received_at ? 1 : -1;
  return a.event_id < b.event_id ? 1 : -1;
}

/** Returns the ids of the events that pass the filters of the scope; these are applied to segments. */
async function passingIds(
  source: ScanSource,
  rows: readonly EventRow[],
): Promise<ReadonlySet<string>> {
  const times = rows.map(({ occurred_at }) => Date.parse(occurred_at));
  const span = { fromMs: Math.min(...times), toMs: Math.max(...times) + 1 };
  const selected = await selectTimelines(source, span, { columns: ["ids"] });
  const { sql, scope } = source;
  const { eventFilters, timelines } = selected;
  const test = await eventPassesOf(sql, scope, "include", eventFilters, timelines.bits);
  const inputs = { test, atMs: new Set(times) };
  return new Set(await selected.scan(PASSING_IDS, () => inputs, { byRun: true }));
}

/** Decodes one block and returns the events that the tail shows, latest received first. */
async function selectedOf(
  source: ScanSource,
  block: StoredJournalRow,
  after: TailCursor,
  { fromMs, toMs }: Span,
): Promise<EventRow[]> {
  const { scope } = source;
  const rows = journalEvents(block).filter((row) => {
    const ms = Date.parse(row.occurred_at);
    return isOfBots(scope.bots, row) && ms >= fromMs && ms < toMs &&
      (after.snapshot !== null || row.received_at > after.at);
  });
  if (rows.length === 0 || !isNarrowed(scope)) return rows.sort(byReceipt);
  const passing = await passingIds(source, rows);
  return rows.filter(({ event_id }) => passing.has(event_id)).sort(byReceipt);
}

/**
 * Reads the next `rows` events after a page among those committed since the last poll: the latest journal
 * row first, and within a row the latest received event first.
 */
export async function tailEvents(
  source: ScanSource,
  selection: TailSelection,
  page: TailPage | null,
  rows: number,
): Promise<TailEvent[]> {
  const { sql, scope } = source;
  const { after, until, range } = selection;
  const span = range === null ? EVERY_MS : spanOf(range);
  // The earliest time at which a row that the cursor's snapshot does not show can have been received.
  const unseenMs = Math.max(Date.parse(after.at) - STORE_DELAY_MS_MAX, TIMESTAMP_MS_MIN);
  const found: TailEvent[] = [];
  let upTo = page?.journalId ?? Number.MAX_SAFE_INTEGER;
  for (;;) {
    const stored = await sql.binary(BLOCKS, [
      scope.projectId,
      upTo,
      new Date(unseenMs).toISOString(),
      until,
      after.snapshot,
      span.fromMs,
      span.toMs,
    ]);
    const blocks = stored.map(storedRow);
    for (const block of blocks) {
      const own = await selectedOf(source, block, after, span);
      const isPaged = block.journal_id === page?.journalId;
      const begin = isPaged ? own.findIndex(({ event_id }) => event_id === page.eventId) + 1 : 0;
      found.push(...own.slice(begin).map((row) => ({ journalId: block.journal_id, row })));
      if (found.length >= rows) return found.slice(0, rows);
    }
    if (blocks.length < BLOCKS_AT_ONCE) return found;
    upTo = blocks.at(-1)!.journal_id - 1;
  }
}
