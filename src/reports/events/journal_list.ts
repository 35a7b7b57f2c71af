import { BLOCKS_AT_ONCE } from "../../limits.ts";
import { arrayLiteral, type Sql } from "../../db/sql.ts";
import type { Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { ID_BYTES, uuidOf } from "../../store/id_codec.ts";
import { BLOCK_HEAD_BYTES } from "../../store/journal_block.ts";
import {
  type KeptJournalBlock,
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
import { BLOCK_HEAD, decodedBlock } from "./kept_blocks.ts";
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
// of blocks wait while a history is imported. A block that is kept is not sent: its head says so.
const blocksOf = (which: "all" | "waiting") => `
SELECT ${STORED_ROW} FROM (
  SELECT project_id, journal_id, to_ms, projected_count, known_ids, set_aside_ids,
    CASE WHEN journal_id || ' ' || encode(${BLOCK_HEAD}, 'hex') = ANY ($7::text::text[])
      THEN ${BLOCK_HEAD} ELSE block END AS block
  FROM (
    SELECT * FROM journal
    WHERE project_id = $1::int AND from_ms < $2::int8 AND to_ms >= $3::int8
      AND (to_ms, journal_id) < ($4::int8, $5::int8) ${
  which === "waiting" ? `AND ${PENDING_ROWS}` : ""
}
    ORDER BY to_ms DESC, journal_id DESC LIMIT $6::int) AS latest) AS j
ORDER BY to_ms DESC, journal_id DESC`;

/** Few: blocks with thousands of events need not be many for a page, and fetching 20 takes 50 ms. */
const BLOCKS_AT_FIRST = 2;

/** How many kept blocks a read names, of those that end before its span does, and of the others. */
const KEPT_NEAR = [2 * BLOCKS_AT_ONCE, BLOCKS_AT_ONCE / 2] as const;

/** What events are read from. */
export interface JournalSource extends Pick<Read, "sql" | "scope" | "journalBlocks"> {
  /** How much of the journal may be decoded, beside what waits; absent: as much as an ordinary page needs. */
  readonly limits?: JournalListLimits;
}

/** A row of the journal with its decoded block. */
interface DecodedRow {
  readonly row: StoredJournalRow;
  /** Decodes its block, if it is not kept. Throws UnreadableBlock. */
  readonly decoded: () => KeptJournalBlock;
}

/**
 * Asks for the journal rows with an event in a span: all of them, or those not projected. The first ones are asked for
 * at once. @returns a function that yields them, the one with the latest end first
 */
export function askJournal(
  source: JournalSource,
  span: Span,
  which: "all" | "waiting",
): () => AsyncGenerator<DecodedRow> {
  const { sql, scope: { projectId }, journalBlocks } = source;
  const kept = journalBlocks?.near(projectId, span.toMs, ...KEPT_NEAR) ??
    new Map<number, KeptJournalBlock>();
  const heads = arrayLiteral(Array.from(kept, ([id, { head }]) => `${id} ${head}`));
  const ask = (toMs: number, journalId: number, limit: number) =>
    sql.binary(
      blocksOf(which),
      [projectId, span.toMs, span.fromMs, toMs, journalId, limit, heads],
    );
  const decodedOf = ({ journal_id: id, block }: StoredJournalRow): KeptJournalBlock => {
    const known = block.length === BLOCK_HEAD_BYTES ? kept.get(id) : undefined;
    if (known === undefined) return decodedBlock(source, id, block);
    // Noted as a use: it may have been evicted meanwhile.
    journalBlocks?.set(projectId, id, known);
    return known;
  };
  const first = ask(Number.MAX_SAFE_INTEGER, 0, BLOCKS_AT_FIRST);
  // If its rows are not needed, nothing awaits them.
  first.catch(() => {});
  return async function* () {
    let rows = await first;
    for (let limit = BLOCKS_AT_FIRST;; limit = Math.min(2 * limit, BLOCKS_AT_ONCE)) {
      let last: StoredJournalRow | null = null;
      for (const binary of rows) {
        const row = last = storedRow(binary);
        yield { row, decoded: () => decodedOf(row) };
      }
      if (last === null || rows.length < limit) return;
      rows = await ask(last.to_ms, last.journal_id, Math.min(2 * limit, BLOCKS_AT_ONCE));
    }
  };
}

/** Returns those of these places that have the newest `rows` events, and all in the last one's millisecond. */
function newestPlaces(places: readonly number[], moments: Float64Array, rows: number) {
  if (places.length <= rows) return places;
  const floorMs = Float64Array.from(places, (at) => moments[at]!).sort()[places.length - rows]!;
  return places.filter((at) => moments[at]! >= floorMs);
}

/**
 * Reads the next `rows` events of a span after a place from the journal: all events, or only those that
 * are not projected yet. Applies `bots` and no other filter. Decodes blocks from the latest back, until no
 * earlier block can have an event of the page. Throws UnreadableBlock.
 * @param which "all": as far as the limits allow; "waiting": however many blocks wait
 * @param asked what was asked for before the span was known; it may begin earlier
 * @returns null: the limits do not suffice
 */
export async function journalRows(
  source: JournalSource,
  span: Span,
  place: ListPlace,
  rows: number,
  which: "all" | "waiting",
  asked = askJournal(source, spanAfter(span, place), which),
): Promise<EventRow[] | null> {
  const { scope: { projectId, bots }, limits = JOURNAL_LIST_LIMITS } = source;
  const rest = spanAfter(span, place);
  let listed: EventRow[] = [];
  let floorMs = rest.fromMs;
  const isListed = ({ columns, moments }: KeptJournalBlock, at: number): boolean => {
    const ms = moments[at]!;
    if (ms < floorMs || ms >= rest.toMs) return false;
    if (ms === place.ms && uuidOf(columns.ids, ID_BYTES * at) >= place.id!) return false;
    return isOfBots(bots, { bot: valueAt(columns, "bot", at) as boolean | null });
  };
  let { blocksMax: blocksLeft, eventsMax: eventsLeft } = limits;
  const yieldIfDue = yielding();
  for await (const { row, decoded } of asked()) {
    // A block that ends in the millisecond of the page's last event may have a greater id.
    if (row.to_ms < floorMs) break;
    if (which === "all" && (blocksLeft-- <= 0 || eventsLeft <= 0)) return null;
    const block = decoded();
    const { columns, moments } = block;
    const places = which === "all" ? newPlaces(columns, row) : waitingPlaces(columns, row);
    eventsLeft -= places.length;
    await yieldIfDue();
    const own = places.filter((at) => isListed(block, at));
    if (own.length === 0) continue;
    listed.push(...wholeEvents(columns, projectId, newestPlaces(own, moments, rows)));
    // A page from many small blocks is sorted once it is full, not after each block.
    if (listed.length < rows) continue;
    listed = listed.sort(newestFirst).slice(0, rows);
    floorMs = Date.parse(listed.at(-1)!.occurred_at);
  }
  return listed.sort(newestFirst);
}
