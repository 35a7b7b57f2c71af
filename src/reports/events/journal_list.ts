import { BLOCKS_AT_ONCE } from "../../limits.ts";
import type { Sql } from "../../db/sql.ts";
import type { Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { ID_BYTES, uuidOf } from "../../store/id_codec.ts";
import {
  type BlockColumns,
  decodeColumns,
  momentsOf,
  newPlaces,
  valueAt,
  waitingPlaces,
  wholeEvents,
} from "../../store/journal_events.ts";
import { STORED_ROW, type StoredJournalRow, storedRow } from "../../store/stored_journal.ts";
import { yielding } from "../../store/yielding.ts";
import { PENDING_ROWS } from "../answer/projected_state.ts";
import { newestFirst } from "../newest/first_in_order.ts";
import type { Read } from "../../scans/read.ts";
import { isOfBots } from "../shown/shown_event.ts";
import { type ListPlace, spanAfter } from "./list_place.ts";
import { JOURNAL_LIST_LIMITS, type JournalListLimits } from "./list_limits.ts";

/** Whether an event of a span is not projected yet, or is set aside. */
export async function isWaiting(sql: Sql, projectId: number, span: Span): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM journal
    WHERE project_id = $1::int AND from_ms < $2::int8 AND to_ms >= $3::int8 AND ${PENDING_ROWS} LIMIT 1`,
    [projectId, span.toMs, span.fromMs],
  );
  return rows.length > 0;
}

/** Returns the event time from which on the journal has every stored event. */
export async function journalFromMs(sql: Sql, projectId: number): Promise<number> {
  const [row] = await sql.query<{ journal_lacks_to_ms: number | null }>(
    "SELECT journal_lacks_to_ms FROM projections WHERE project_id = $1::int",
    [projectId],
  );
  return (row?.journal_lacks_to_ms ?? -Infinity) + 1;
}

// Newest first, starting after the last row of the previous batch. Batches are small, because thousands
// of blocks wait while a history is imported.
const blocksOf = (which: "all" | "waiting") => `
SELECT ${STORED_ROW} FROM journal j
WHERE project_id = $1::int AND from_ms < $2::int8 AND to_ms >= $3::int8
  AND (to_ms, journal_id) < ($4::int8, $5::int8) ${which === "waiting" ? `AND ${PENDING_ROWS}` : ""}
ORDER BY to_ms DESC, journal_id DESC LIMIT $6::int`;

/** Few: blocks with thousands of events need not be many for a page, and fetching 20 takes 50 ms. */
const BLOCKS_AT_FIRST = 2;

/** Yields the journal rows with an event in a span, the one with the latest end first. */
async function* rowsBackwards(
  sql: Sql,
  projectId: number,
  span: Span,
  which: "all" | "waiting",
): AsyncGenerator<StoredJournalRow> {
  let [toMs, journalId] = [Number.MAX_SAFE_INTEGER, 0];
  for (let limit = BLOCKS_AT_FIRST;; limit = Math.min(2 * limit, BLOCKS_AT_ONCE)) {
    const rows = await sql.binary(
      blocksOf(which),
      [projectId, span.toMs, span.fromMs, toMs, journalId, limit],
    );
    let last: StoredJournalRow | null = null;
    for (const row of rows) yield last = storedRow(row);
    if (last === null || rows.length < limit) return;
    ({ to_ms: toMs, journal_id: journalId } = last);
  }
}

/** What events are read from. */
export interface JournalSource extends Pick<Read, "sql" | "scope"> {
  /** How much of the journal may be decoded, beside what waits; absent: as much as an ordinary page needs. */
  readonly limits?: JournalListLimits;
}

/**
 * Decodes the events of a row that were new when stored, or only those not projected: their places in the row's
 * block, and their times. Throws UnreadableBlock.
 */
function decodedRow(row: StoredJournalRow, which: "all" | "waiting") {
  const block = decodeColumns(row.block);
  const places = which === "all" ? newPlaces(block, row) : waitingPlaces(block, row);
  return { block, places, moments: momentsOf(block, places) };
}

/** Returns the places of the newest `rows` of these events, and of all in the last one's millisecond. */
function newestPlaces(places: readonly number[], moments: readonly number[], rows: number) {
  if (places.length <= rows) return places;
  const floorMs = Float64Array.from(moments).sort()[places.length - rows]!;
  return places.filter((_, i) => moments[i]! >= floorMs);
}

/**
 * Reads the next `rows` events of a span after a place from the journal: all events, or only those that
 * are not projected yet. Applies `bots` and no other filter. Decodes blocks from the latest back, until no
 * earlier block can have an event of the page. Throws UnreadableBlock.
 * @param which "all": as far as the limits allow; "waiting": however many blocks wait
 * @returns null: the limits do not suffice
 */
export async function journalRows(
  { sql, scope: { projectId, bots }, limits = JOURNAL_LIST_LIMITS }: JournalSource,
  span: Span,
  place: ListPlace,
  rows: number,
  which: "all" | "waiting",
): Promise<EventRow[] | null> {
  const rest = spanAfter(span, place);
  let listed: EventRow[] = [];
  let floorMs = rest.fromMs;
  const isListed = (block: BlockColumns, at: number, ms: number): boolean => {
    if (ms < floorMs || ms >= rest.toMs) return false;
    if (ms === place.ms && uuidOf(block.ids, ID_BYTES * at) >= place.id!) return false;
    return isOfBots(bots, { bot: valueAt(block, "bot", at) as boolean | null });
  };
  let { blocksMax: blocksLeft, eventsMax: eventsLeft } = limits;
  const yieldIfDue = yielding();
  for await (const row of rowsBackwards(sql, projectId, rest, which)) {
    // A block that ends in the millisecond of the page's last event may have a greater id.
    if (row.to_ms < floorMs) break;
    if (which === "all" && (blocksLeft-- <= 0 || eventsLeft <= 0)) return null;
    const { block, places, moments } = decodedRow(row, which);
    eventsLeft -= places.length;
    await yieldIfDue();
    const [ownPlaces, ownMoments]: [number[], number[]] = [[], []];
    for (const [i, place] of places.entries()) {
      if (!isListed(block, place, moments[i]!)) continue;
      ownPlaces.push(place);
      ownMoments.push(moments[i]!);
    }
    if (ownPlaces.length === 0) continue;
    listed.push(...wholeEvents(block, projectId, newestPlaces(ownPlaces, ownMoments, rows)));
    // A page from many small blocks is sorted once it is full, not after each block.
    if (listed.length < rows) continue;
    listed = listed.sort(newestFirst).slice(0, rows);
    floorMs = Date.parse(listed.at(-1)!.occurred_at);
  }
  return listed.sort(newestFirst);
}
