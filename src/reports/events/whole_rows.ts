import { arrayLiteral, isOneOf, type Row } from "../../db/sql.ts";
import { BLOCKS_AT_ONCE } from "../../limits.ts";
import type { Read } from "../../scans/read.ts";
import type { EventRow } from "../../store/event_row.ts";
import { UnreadableBlock } from "../../store/journal_block.ts";
import {
  type BlockColumns,
  type KeptJournalBlock,
  newPlaces,
  wholeEvents,
} from "../../store/journal_events.ts";
import { type EventPlace, rowsAt } from "../../store/rows_by_place.ts";
import { countWhile } from "../../store/segment_head.ts";
import { BLOCK_EVENTS_MAX } from "../../store/store_limits.ts";
import { STORED_ROW, storedRow } from "../../store/stored_journal.ts";
import { yielding } from "../../store/yielding.ts";
import type { JournalSource } from "./journal_list.ts";
import { BLOCK_HEAD, decodedBlock, keptOf } from "./kept_blocks.ts";
import { JOURNAL_LIST_LIMITS } from "./list_limits.ts";

/** An event that a scan found: where it is stored in segments, and its time. */
export interface FoundEvent extends EventPlace {
  readonly ms: number;
}

/** What the rows of a list are read from. */
export interface RowSource extends JournalSource, Pick<Read, "rowCache"> {
  /** The event time from which on the journal has every event; absent: rows are read from segments alone. */
  readonly journalFrom?: Promise<number>;
}

/**
 * Costs of reading, in decoded events of the journal: of the wanted events of one segment block, and of a
 * journal row in addition to its events.
 */
const BLOCK_COST_EVENTS = 3_000;
const ROW_COST_EVENTS = 100;

// Rows that begin after the events are passed over within the index, up to the last row: even that may begin before
// them. About how many, the rows' numbers say, which are mostly in the order of their times or, for a history that was
// sent backwards, in the opposite one. The rows of other projects have numbers in between, so where there are many, rows
// are counted up to a limit: 17,000 take 7 ms or more, passing over them 0.4.
const ENDED_AFTER = `SELECT journal_id FROM journal
      WHERE project_id = (SELECT $1::int) AND to_ms >= (SELECT $2::int8)`;

// The heads and the known ids are outside the rows of their table: they are read only where the rows are within the limit.
// The bounds are sub-selects: of unknown ones the planner assumes that a tenth of the found rows will do, and looks for
// them in the index. Else it may read the whole table.
const OVERLAPPING = `
SELECT "journalId", "fromMs", "toMs", events,
  CASE WHEN "isFew" THEN array_to_string(known_ids, ',') END AS known,
  CASE WHEN "isFew" THEN encode(${BLOCK_HEAD}, 'hex') ELSE '' END AS head
FROM (
  SELECT journal_id::int8 AS "journalId", from_ms::int8 AS "fromMs", to_ms::int8 AS "toMs",
    event_count::int8 AS events, known_ids, block, count(*) OVER () < $4::int AS "isFew"
  FROM (
    SELECT journal_id, from_ms, to_ms, event_count, known_ids, block FROM journal
    WHERE project_id = (SELECT $1::int) AND to_ms >= (SELECT $2::int8)
      AND from_ms <= (SELECT $3::int8)
      AND (abs((${ENDED_AFTER} ORDER BY to_ms, journal_id LIMIT 1)
          - (${ENDED_AFTER} ORDER BY to_ms DESC, journal_id DESC LIMIT 1)) <= (SELECT $5::int8)
        OR (SELECT count(*) FROM (${ENDED_AFTER} ORDER BY to_ms, journal_id LIMIT (SELECT $6::int + 1)) AS ended
          ) <= (SELECT $6::int))
    ORDER BY to_ms, journal_id LIMIT (SELECT $4::int)) AS overlapping) AS bounded`;

/** A row of the journal, without its block. */
interface OverlappingRow extends Row {
  readonly journalId: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly events: number;
  readonly known: string | null;
  readonly head: string;
}

const BLOCKS = `
SELECT ${STORED_ROW} FROM journal j
WHERE project_id = (SELECT $1::int) AND ${isOneOf("journal_id", "$2::text::int8[]")}`;

/** Whether one of some ascending times is within a row's. */
function hasTime(times: Float64Array, { fromMs, toMs }: OverlappingRow): boolean {
  const first = countWhile(times.length, (i) => times[i]! < fromMs);
  return first < times.length && times[first]! <= toMs;
}

/**
 * Returns the rows of the journal that may have these events, the one with the latest end first; null: the events are
 * read faster from segments than from so many.
 * @param times of the events, ascending
 */
async function fewJournalRows(
  source: RowSource,
  found: readonly FoundEvent[],
  times: Float64Array,
): Promise<OverlappingRow[] | null> {
  const { sql, scope: { projectId }, limits = JOURNAL_LIST_LIMITS } = source;
  const { blocksMax, eventsMax, passedMax, countedMax } = limits;
  // A lower bound: blocks with long texts have fewer events.
  const blocks = new Set(
    found.map(({ segmentId, place }) => `${segmentId} ${Math.floor(place / BLOCK_EVENTS_MAX)}`),
  );
  const overlapping = await sql.query<OverlappingRow>(
    OVERLAPPING,
    [projectId, times[0]!, times.at(-1)!, blocksMax + 1, passedMax, countedMax],
  );
  if (overlapping.length > blocksMax) return null;
  const rows = overlapping.filter((row) => hasTime(times, row))
    .sort((a, b) => b.toMs - a.toMs || b.journalId - a.journalId);
  const eventsOf = (some: readonly OverlappingRow[]) =>
    some.reduce((sum, { events }) => sum + events, 0);
  const missing = rows.filter(({ journalId, head }) => keptOf(source, journalId, head) === null);
  const cost = eventsOf(missing) + ROW_COST_EVENTS * missing.length;
  return eventsOf(rows) <= eventsMax && cost <= BLOCK_COST_EVENTS * blocks.size ? rows : null;
}

/** Yields rows with their blocks, in their order: kept ones, or fetched and decoded now. Throws UnreadableBlock. */
async function* blocksOf(
  source: RowSource,
  rows: readonly OverlappingRow[],
): AsyncGenerator<readonly [OverlappingRow, KeptJournalBlock]> {
  const { sql, scope: { projectId } } = source;
  const keptOfRow = ({ journalId, head }: OverlappingRow) => keptOf(source, journalId, head);
  const fetched = new Map<number, Uint8Array>();
  for (const [number, row] of rows.entries()) {
    let kept = keptOfRow(row);
    if (kept === null && !fetched.has(row.journalId)) {
      const missing = rows.slice(number).filter((one) => keptOfRow(one) === null)
        .slice(0, BLOCKS_AT_ONCE);
      const ids = arrayLiteral(missing.map(({ journalId }) => journalId));
      fetched.clear();
      for (const one of await sql.binary(BLOCKS, [projectId, ids])) {
        const { journal_id, block } = storedRow(one);
        fetched.set(journal_id, block);
      }
    }
    kept ??= decodedBlock(source, row.journalId, fetched.get(row.journalId)!);
    yield [row, kept];
  }
}

/** An event in a block of the journal. */
interface PlacedEvent {
  readonly block: BlockColumns;
  readonly place: number;
}

/**
 * Finds the events of some times in rows of the journal, by their time; null: most times have more events than were
 * found, as those of clients that send whole seconds.
 * @param counts how many events were found of each time
 */
async function placedEvents(
  source: RowSource,
  rows: readonly OverlappingRow[],
  counts: ReadonlyMap<number, number>,
): Promise<Map<number, PlacedEvent[]> | null> {
  const placedAt = new Map<number, PlacedEvent[]>();
  const yieldIfDue = yielding();
  let crowded = 0;
  for await (const [{ known }, { columns: block, moments }] of blocksOf(source, rows)) {
    for (const place of newPlaces(block, { known_ids: known?.split(",") ?? null })) {
      const ms = moments[place]!;
      const count = counts.get(ms);
      if (count === undefined) continue;
      const placed = placedAt.getOrInsertComputed(ms, () => []);
      placed.push({ block, place });
      if (placed.length === count + 1) crowded++;
    }
    if (2 * crowded > counts.size) return null;
    await yieldIfDue();
  }
  return placedAt;
}

/**
 * Reads found events from the journal; null for each that must be read from its segment. Events are identified
 * by their time: if a millisecond has more events than were found, all found ones of it are null.
 */
async function journalRowsOf(
  source: RowSource,
  found: readonly FoundEvent[],
): Promise<(EventRow | null)[]> {
  const rows = new Array<EventRow | null>(found.length).fill(null);
  const edgeMs = await source.journalFrom ?? Infinity;
  // The journal may lack some events of earlier milliseconds.
  const recent = [...found.keys()].filter((i) => found[i]!.ms >= edgeMs);
  if (recent.length === 0) return rows;
  const numbersAt = Map.groupBy(recent, (i) => found[i]!.ms);
  const times = Float64Array.from(numbersAt.keys()).sort();
  const events = recent.map((i) => found[i]!);
  const journalRows = await fewJournalRows(source, events, times);
  if (journalRows === null) return rows;
  const counts = new Map(numbersAt.entries().map(([ms, { length }]) => [ms, length]));
  const placedAt = await placedEvents(source, journalRows, counts);
  if (placedAt === null) return rows;
  const wantedOf = new Map<BlockColumns, { readonly place: number; readonly number: number }[]>();
  for (const [ms, placed] of placedAt) {
    const numbers = numbersAt.get(ms)!;
    if (numbers.length !== placed.length) continue;
    for (const [n, { block, place }] of placed.entries()) {
      wantedOf.getOrInsertComputed(block, () => []).push({ place, number: numbers[n]! });
    }
  }
  for (const [block, wanted] of wantedOf) {
    const whole = wholeEvents(block, source.scope.projectId, wanted.map(({ place }) => place));
    for (const [n, { number }] of wanted.entries()) rows[number] = whole[n]!;
  }
  return rows;
}

/**
 * Reads whole events that a scan found, in the same order, except that events of one millisecond may be
 * swapped. In the journal the events of a page are close together, in segments they are in the blocks of their
 * people: 101 events of a day with 330,000 take 20 ms from the journal, and 90 from segments.
 */
export async function wholeRows(
  source: RowSource,
  found: readonly FoundEvent[],
): Promise<EventRow[]> {
  let rows: (EventRow | null)[] = found.map(() => null);
  try {
    rows = await journalRowsOf(source, found);
  } catch (error) {
    // Found events are projected, and thus in segments, too.
    if (!(error instanceof UnreadableBlock)) throw error;
  }
  const missing = [...rows.keys()].filter((i) => rows[i] === null);
  if (missing.length === 0) return rows as EventRow[];
  const { sql, scope, rowCache } = source;
  const read = await rowsAt(sql, scope.projectId, missing.map((i) => found[i]!), rowCache);
  for (const [n, i] of missing.entries()) rows[i] = read[n]!;
  return rows as EventRow[];
}
