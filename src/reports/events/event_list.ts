import { isNarrowed, type Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { UnreadableBlock } from "../../store/journal_block.ts";
import { JOURNAL_KEPT_MS } from "../../store/store_limits.ts";
import type { Read } from "../../scans/read.ts";
import { type PartedSource, partsBackwards } from "../newest/backwards.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { askJournal, journalFromMs, journalRows } from "./journal_list.ts";
import { type ListPlace, spanAfter } from "./list_place.ts";
import { firstInOrder, newestFirst } from "../newest/first_in_order.ts";
import { type FoundEvents, NEWEST } from "../newest/newest_events.ts";
import { type FoundEvent, type RowSource, wholeRows } from "./whole_rows.ts";

export interface ListSource extends RowSource, Pick<PartedSource, "firstEvents"> {
  readonly timelines: Read["timelines"];
  /** Finds the newest events of a span; absent: `newestOf` does. */
  readonly newest?: typeof newestOf;
}

/** Finds the newest selected events of a span by a scan; there may be more of them than wanted. */
export async function newestOf(
  source: ListSource,
  span: Span,
  rows: number,
  edgeMs: number,
): Promise<FoundEvents> {
  const { selected, test } = await selectEvents(source, span);
  return await selected.scan(NEWEST, () => ({ test, span, rows, edgeMs }), { byRun: true });
}

/** Reads the found events after a place, and returns the first `rows` in the order of the list. */
async function inOrder(
  source: ListSource,
  { ms, segmentIds, places }: FoundEvents,
  place: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  return await firstInOrder(ms.length, rows, newestFirst, async (from, to) => {
    const asked: FoundEvent[] = [];
    for (let i = from; i < to; i++) {
      asked.push({ ms: ms[i]!, segmentId: segmentIds[i]!, place: places[i]! });
    }
    const found = await wholeRows(source, asked);
    return found.filter(({ event_id }, i) => ms[from + i]! < place.ms || event_id < place.id!);
  });
}

/** Reads the next `rows` selected events after a place that are projected; fewer if no more follow. */
async function projectedRows(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const listed: EventRow[] = [];
  let place = from;
  for await (const part of partsBackwards(source, spanAfter(span, from), rows)) {
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
 * Lists events without filters: projected ones, which the journal lacks or has in too many blocks, from segments, and
 * those that are not projected yet.
 */
async function storedRows(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<EventRow[]> {
  const projected = await projectedRows(source, span, from, rows);
  // Older events that are not projected yet have no room on a full page of projected ones.
  const last = projected.length === rows ? Date.parse(projected.at(-1)!.occurred_at) : span.fromMs;
  const recent = { fromMs: Math.max(span.fromMs, last), toMs: span.toMs };
  const waiting = await journalRows(source, recent, from, rows, "waiting");
  return [...projected, ...waiting ?? []].sort(newestFirst).slice(0, rows);
}

/**
 * Lists the next `rows` selected events of a span after a place, newest first; fewer if no more follow.
 * Filters see projected events only; without filters, events that are not projected yet are listed, too.
 *
 * Without filters the newest events come from the journal, which has the last two days in roughly
 * chronological order: a page is in a few journal blocks, but in one segment block per person on it.
 * @param nowMs the time as of which the journal has the last two days
 */
export async function listEvents(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
  nowMs = Date.now(),
): Promise<EventRow[]> {
  const { sql, scope } = source;
  const journalFrom = journalFromMs(sql, scope.projectId);
  // If the list fails before it is needed, nothing awaits it.
  journalFrom.catch(() => {});
  if (isNarrowed(scope)) return await projectedRows({ ...source, journalFrom }, span, from, rows);
  const after = spanAfter(span, from);
  // Sent beside the question how far the journal goes, if the page mostly is there. Of one that the journal has lost,
  // the statement would pass over all rows in the index.
  const asked = after.toMs > nowMs - JOURNAL_KEPT_MS ? askJournal(source, after, "all") : undefined;
  const edgeMs = Math.max(span.fromMs, await journalFrom);
  if (edgeMs >= after.toMs) return await storedRows(source, span, from, rows);
  const newest = { fromMs: edgeMs, toMs: span.toMs };
  // Of a damaged journal, projected events are in segments too. If others are damaged, `storedRows` fails as well.
  const recent = await journalRows(source, newest, from, rows, "all", asked).catch((error) => {
    if (error instanceof UnreadableBlock) return null;
    throw error;
  });
  if (recent === null) return await storedRows(source, span, from, rows);
  if (recent.length === rows || edgeMs === span.fromMs) return recent;
  const older = { fromMs: span.fromMs, toMs: edgeMs };
  const edge = { ms: edgeMs, id: null };
  const rest = await storedRows(source, older, edge, rows - recent.length);
  return [...recent, ...rest];
}
