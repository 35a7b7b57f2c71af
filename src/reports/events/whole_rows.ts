import type { Read } from "../../scans/read.ts";
import type { EventRow } from "../../store/event_row.ts";
import { UnreadableBlock } from "../../store/journal_block.ts";
import { type BlockColumns, wholeEvents } from "../../store/journal_events.ts";
import { type EventPlace, rowsAt } from "../../store/rows_by_place.ts";
import { BLOCK_EVENTS_MAX } from "../../store/store_limits.ts";
import { yielding } from "../../store/yielding.ts";
import { decodedRow, type JournalSource, rowsBackwards } from "./journal_list.ts";
import { JOURNAL_LIST_LIMITS } from "./list_limits.ts";

/** An event that a scan found: where it is stored in segments, and its time. */
export interface FoundEvent extends EventPlace {
  readonly ms: number;
}

/** What the rows of a list are read from. */
export interface RowSource extends JournalSource, Pick<Read, "blocks"> {
  /** The event time from which on the journal has every event; absent: rows are read from segments alone. */
  readonly journalFrom?: Promise<number>;
}

/**
 * Costs of reading, in decoded events of the journal: of the wanted events of one segment block, and of a
 * journal row in addition to its events.
 */
const BLOCK_COST_EVENTS = 3_000;
const ROW_COST_EVENTS = 100;

// Looks at all rows that end after the span begins, as even one that ends after the span may begin within it.
const OVERLAPPING = `
SELECT count(*)::int8 AS looked_at, count(*) FILTER (WHERE from_ms <= $3::int8) AS rows,
  coalesce(sum(event_count) FILTER (WHERE from_ms <= $3::int8), 0)::int8 AS events
FROM (
  SELECT from_ms, event_count FROM journal WHERE project_id = $1::int AND to_ms >= $2::int8
  ORDER BY to_ms LIMIT $4::int) AS later`;

/**
 * Returns how many rows of the journal have these events; null: they are read faster from segments than from so many.
 */
async function fewJournalRows(
  { sql, scope: { projectId }, limits = JOURNAL_LIST_LIMITS }: RowSource,
  found: readonly FoundEvent[],
  fromMs: number,
  toMs: number,
): Promise<number | null> {
  const { blocksMax, eventsMax, countedMax } = limits;
  // A lower bound: blocks with long texts have fewer events.
  const blocks = new Set(
    found.map(({ segmentId, place }) => `${segmentId} ${Math.floor(place / BLOCK_EVENTS_MAX)}`),
  );
  type Counts = { looked_at: number; rows: number; events: number };
  const [counts] = await sql.query<Counts>(OVERLAPPING, [projectId, fromMs, toMs, countedMax]);
  const { looked_at, rows, events } = counts!;
  const areFew = looked_at < countedMax && rows <= blocksMax && events <= eventsMax &&
    events + ROW_COST_EVENTS * rows <= BLOCK_COST_EVENTS * blocks.size;
  return areFew ? rows : null;
}

/**
 * Reads found events from the journal; null for each that must be read from its segment. Events are identified
 * by their time: if a millisecond has more events than were found, all found ones of it are null.
 */
async function journalRowsOf(
  source: RowSource,
  found: readonly FoundEvent[],
): Promise<(EventRow | null)[]> {
  const { sql, scope: { projectId } } = source;
  const rows = new Array<EventRow | null>(found.length).fill(null);
  const edgeMs = await source.journalFrom ?? Infinity;
  // The journal may lack some events of earlier milliseconds.
  const recent = [...found.keys()].filter((i) => found[i]!.ms >= edgeMs);
  if (recent.length === 0) return rows;
  const numbersAt = Map.groupBy(recent, (i) => found[i]!.ms);
  const fromMs = numbersAt.keys().reduce((first, ms) => Math.min(first, ms), Infinity);
  const toMs = numbersAt.keys().reduce((last, ms) => Math.max(last, ms), -Infinity);
  const events = recent.map((i) => found[i]!);
  const journalRows = await fewJournalRows(source, events, fromMs, toMs);
  if (journalRows === null) return rows;
  const placedAt = new Map<number, { readonly block: BlockColumns; readonly place: number }[]>();
  const yieldIfDue = yielding();
  let crowded = 0;
  const span = { fromMs, toMs: toMs + 1 };
  // One more than there are, so that fewer than twenty of them and their end are known after one statement.
  for await (const row of rowsBackwards(sql, projectId, span, "all", journalRows + 1)) {
    const { block, places, moments } = decodedRow(row, "all");
    for (const [n, place] of places.entries()) {
      const ms = moments[n]!;
      if (!numbersAt.has(ms)) continue;
      const placed = placedAt.getOrInsertComputed(ms, () => []);
      placed.push({ block, place });
      if (placed.length === numbersAt.get(ms)!.length + 1) crowded++;
    }
    // If clients send whole seconds, most times also have events that were not found.
    if (2 * crowded > numbersAt.size) return rows;
    await yieldIfDue();
  }
  const wantedOf = new Map<BlockColumns, { readonly place: number; readonly number: number }[]>();
  for (const [ms, placed] of placedAt) {
    const numbers = numbersAt.get(ms)!;
    if (numbers.length !== placed.length) continue;
    for (const [n, { block, place }] of placed.entries()) {
      wantedOf.getOrInsertComputed(block, () => []).push({ place, number: numbers[n]! });
    }
  }
  for (const [block, wanted] of wantedOf) {
    const whole = wholeEvents(block, projectId, wanted.map(({ place }) => place));
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
  const { sql, scope, blocks } = source;
  const read = await rowsAt(sql, scope.projectId, missing.map((i) => found[i]!), blocks);
  for (const [n, i] of missing.entries()) rows[i] = read[n]!;
  return rows as EventRow[];
}
