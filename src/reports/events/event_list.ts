import { BLOCKS_AT_ONCE, LISTED_ROWS_AT_ONCE } from "../../limits.ts";
import type { Sql } from "../../db/sql.ts";
import type { PageCursor } from "../../query/event_cursor.ts";
import { type Range, spanOf } from "../../query/range.ts";
import { isNarrowed, type Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import {
  journalEvents,
  type PendingRow,
  UnreadableBlock,
  waitingEvents,
} from "../../store/journal_block.ts";
import { rowsAt } from "../../store/segments.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import { PENDING_ROWS } from "../answer/projected_state.ts";
import { partsBackwards } from "../newest/backwards.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { isOfBots } from "../shown/shown_event.ts";
import { JOURNAL_LIST_LIMITS, type JournalListLimits } from "./list_limits.ts";
import { NEWEST, NewestEvents } from "../newest/newest_events.ts";

export interface ListSource extends ScanSource, Pick<Read, "blocks"> {
  /** Finds the newest events of a span; absent: timelines do. */
  readonly newest?: FindNewest;
}

/** Finds the newest selected events of a span: see `NewestEvents`. */
type FindNewest = (
  source: ListSource,
  span: Span,
  rows: number,
  edgeMs: number,
) => Promise<NewestEvents>;

/** A place in the list of events, which is newest first, ties by id; older events lie behind it. */
export interface ListPlace {
  readonly ms: number;
  /** Null: no event of that millisecond lies behind the place. */
  readonly id: string | null;
}

/** Returns the span of a list, and the place in it where a page begins. */
export function listedFrom(range: Range, cursor: PageCursor | null) {
  const span = spanOf(range);
  const isWithin = cursor !== null && Date.parse(cursor.at) < span.toMs;
  const place: ListPlace = isWithin
    ? { ms: Date.parse(cursor.at), id: cursor.eventId }
    : { ms: span.toMs, id: null };
  return { span, place };
}

/** Returns the part of a span that may hold events behind a place. */
export function spanBehind({ fromMs }: Span, { ms, id }: ListPlace): Span {
  return { fromMs, toMs: id === null ? ms : ms + 1 };
}

/** Finds the newest selected events of a span by a scan of all its selected events. */
export async function newestOf(
  source: ListSource,
  span: Span,
  rows: number,
  edgeMs: number,
): Promise<NewestEvents> {
  const { selected, test } = await selectEvents(source, span);
  const newest = new NewestEvents(rows, edgeMs);
  newest.add(await selected.scan(NEWEST, () => ({ test, span, rows, edgeMs }), true));
  newest.thin();
  return newest;
}

/** Compares events for a list that is newest first, ties by id, the greatest first. */
export function byPlace(a: EventRow, b: EventRow): number {
  if (a.occurred_at !== b.occurred_at) return a.occurred_at < b.occurred_at ? 1 : -1;
  return a.event_id < b.event_id ? 1 : -1;
}

/** Reads the found events that lie behind a place, and returns the first `rows` in the order of the list. */
async function inOrder(
  { sql, scope, blocks }: ListSource,
  { ms, segmentIds, places }: NewestEvents,
  place: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  let listed: EventRow[] = [];
  const rowsAtOnce = Math.max(rows, LISTED_ROWS_AT_ONCE);
  for (let from = 0; from < ms.length; from += rowsAtOnce) {
    const to = Math.min(ms.length, from + rowsAtOnce);
    const asked = [];
    for (let i = from; i < to; i++) asked.push({ segmentId: segmentIds[i]!, place: places[i]! });
    const found = await rowsAt(sql, scope.projectId, asked, blocks);
    const behind = found.filter(({ event_id }, i) =>
      ms[from + i]! < place.ms || event_id < place.id!
    );
    listed = [...listed, ...behind].sort(byPlace).slice(0, rows);
  }
  return listed;
}

/** Whether an event of a span is not projected yet, or is set aside. */
export async function isWaiting(sql: Sql, projectId: number, span: Span): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM journal
    WHERE project_id = $1::int AND from_ms < $2::int8 AND to_ms >= $3::int8 AND ${PENDING_ROWS} LIMIT 1`,
    [projectId, span.toMs, span.fromMs],
  );
  return rows.length > 0;
}

// Newest first, starting behind the last row of the previous batch. Batches are small, because thousands
// of blocks wait while a history is imported.
const blocksOf = (which: "all" | "waiting") => `
SELECT project_id, journal_id, to_ms, block, known_ids::text[] AS known_ids, projected_count,
  set_aside_ids::text[] AS set_aside_ids
FROM journal
WHERE project_id = $1::int AND from_ms < $2::int8 AND to_ms >= $3::int8
  AND (to_ms, journal_id) < ($4::int8, $5::int8) ${which === "waiting" ? `AND ${PENDING_ROWS}` : ""}
ORDER BY to_ms DESC, journal_id DESC LIMIT $6::int`;

/** Where blocks hold thousands of events, a page is in the first ones, and fetching 20 takes 50 ms. */
const BLOCKS_AT_FIRST = 2;

interface TimedBlock extends Record<string, unknown>, PendingRow {
  readonly journal_id: number;
  readonly to_ms: number;
}

/** Yields the journal blocks with an event in a span, the one with the latest end first. */
async function* blocksBackwards(
  sql: Sql,
  projectId: number,
  span: Span,
  which: "all" | "waiting",
): AsyncGenerator<TimedBlock> {
  let [toMs, journalId] = [Number.MAX_SAFE_INTEGER, 0];
  for (let limit = BLOCKS_AT_FIRST;; limit = Math.min(2 * limit, BLOCKS_AT_ONCE)) {
    const blocks = await sql.query<TimedBlock>(
      blocksOf(which),
      [projectId, span.toMs, span.fromMs, toMs, journalId, limit],
    );
    yield* blocks;
    if (blocks.length < limit) return;
    ({ to_ms: toMs, journal_id: journalId } = blocks.at(-1)!);
  }
}

const UNLIMITED: JournalListLimits = { blocksMax: Infinity, eventsMax: Infinity };

/**
 * Reads the next `rows` events of a span behind a place from the journal: all events, or only those that
 * are not projected yet. Applies `bots` and no other filter. Decodes blocks from the latest back, until no
 * earlier block can hold an event of the page. Throws UnreadableBlock.
 * @param limits how much may be decoded; absent: no limit
 * @returns null where the limits do not suffice
 */
async function journalRows(
  { sql, scope }: ListSource,
  span: Span,
  place: ListPlace,
  rows: number,
  which: "all" | "waiting",
  limits?: JournalListLimits,
): Promise<EventRow[] | null> {
  const behind = spanBehind(span, place);
  const isListed = (row: EventRow): boolean => {
    const ms = Date.parse(row.occurred_at);
    const isBehind = ms < place.ms || ms === place.ms && place.id !== null &&
        row.event_id < place.id;
    return isBehind && ms >= span.fromMs && ms < span.toMs && isOfBots(scope.bots, row);
  };
  const toMs = Math.min(span.toMs, behind.toMs);
  let listed: EventRow[] = [];
  let lastMs = -Infinity;
  let { blocksMax: blocksLeft, eventsMax: eventsLeft } = limits ?? UNLIMITED;
  for await (const block of blocksBackwards(sql, scope.projectId, { ...span, toMs }, which)) {
    // A block that ends in the millisecond of the page's last event may hold a greater id.
    if (block.to_ms < lastMs) break;
    if (blocksLeft-- <= 0 || eventsLeft <= 0) return null;
    const events = which === "all" ? journalEvents(block) : waitingEvents(block);
    eventsLeft -= events.length;
    const before = listed.length;
    listed.push(...events.filter(isListed));
    // A page from many small blocks is sorted once it is full, not after each block.
    if (listed.length === before || listed.length < rows) continue;
    listed = listed.sort(byPlace).slice(0, rows);
    lastMs = Date.parse(listed.at(-1)!.occurred_at);
  }
  return listed.sort(byPlace);
}

/** Returns the event time from which on the journal holds every stored event. */
async function journalFromMs(sql: Sql, projectId: number): Promise<number> {
  const [row] = await sql.query<{ journal_lacks_to_ms: number | null }>(
    "SELECT journal_lacks_to_ms FROM projections WHERE project_id = $1::int",
    [projectId],
  );
  return (row?.journal_lacks_to_ms ?? -Infinity) + 1;
}

/** Reads the next `rows` selected events behind a place from segments; fewer where no more follow. */
async function projectedRows(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const listed: EventRow[] = [];
  let place = from;
  for (const part of partsBackwards(spanBehind(span, from))) {
    const wanted = rows - listed.length;
    const edgeMs = place.id === null ? NaN : place.ms;
    const newest = await (source.newest ?? newestOf)(source, part, wanted, edgeMs);
    listed.push(...await inOrder(source, newest, place, wanted));
    if (listed.length === rows) break;
    place = { ms: part.fromMs, id: null };
  }
  return listed;
}

/**
 * Returns the span from the first to the last event of a project, projected or not; null: there is no event.
 */
export async function storedSpan(sql: Sql, projectId: number): Promise<Span | null> {
  const [row] = await sql.query<{ first: number | null; last: number | null }>(
    `SELECT min(first)::int8 AS first, max(last)::int8 AS last FROM (
      SELECT min(from_ms) AS first, max(to_ms) AS last FROM segments WHERE project_id = $1::int
      UNION ALL
      SELECT min(from_ms), max(to_ms) FROM journal WHERE project_id = $1::int) AS stored`,
    [projectId],
  );
  const { first, last } = row!;
  return first === null || last === null ? null : { fromMs: first, toMs: last + 1 };
}

/** Lists events without a filter: projected ones from segments, the others from the journal. */
async function storedRows(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const projected = await projectedRows(source, span, from, rows);
  // A full page of projected events has no place for older events that are not projected yet.
  const last = projected.length === rows ? Date.parse(projected.at(-1)!.occurred_at) : span.fromMs;
  const recent = { fromMs: Math.max(span.fromMs, last), toMs: span.toMs };
  const waiting = await journalRows(source, recent, from, rows, "waiting");
  return [...projected, ...waiting ?? []].sort(byPlace).slice(0, rows);
}

/** Reads the newest events from the journal; null where it is damaged, or where too much would be decoded. */
async function newestRows(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
  limits: JournalListLimits,
): Promise<EventRow[] | null> {
  try {
    return await journalRows(source, span, from, rows, "all", limits);
  } catch (error) {
    // Projected events are in segments too. For other events the list meets this failure again and reports it.
    if (error instanceof UnreadableBlock) return null;
    throw error;
  }
}

/**
 * Lists the next `rows` selected events of a span behind a place, newest first; fewer where no more
 * follow. Filters see projected events only; without filters, events that are not projected yet are
 * listed too.
 *
 * Without filters the newest events come from the journal, which holds the last two days in roughly
 * chronological order: a page is in a few journal blocks, but in one segment block per person on it.
 */
export async function listEvents(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
  limits = JOURNAL_LIST_LIMITS,
): Promise<EventRow[]> {
  const { sql, scope } = source;
  if (isNarrowed(scope)) return await projectedRows(source, span, from, rows);
  const edgeMs = Math.max(span.fromMs, await journalFromMs(sql, scope.projectId));
  if (edgeMs >= spanBehind(span, from).toMs) return await storedRows(source, span, from, rows);
  const newest = { fromMs: edgeMs, toMs: span.toMs };
  const recent = await newestRows(source, newest, from, rows, limits);
  if (recent === null) return await storedRows(source, span, from, rows);
  if (recent.length === rows || edgeMs === span.fromMs) return recent;
  const older = { fromMs: span.fromMs, toMs: edgeMs };
  const rest = await storedRows(source, older, { ms: edgeMs, id: null }, rows - recent.length);
  return [...recent, ...rest];
}
