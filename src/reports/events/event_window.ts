import type { Database } from "../../db/sql.ts";
import {
  EXPORT_HANDED_BYTES,
  EXPORT_OPEN_BYTES,
  EXPORT_OPEN_ROWS,
  EXPORT_PAGE_BYTES_AIM,
  EXPORT_PAGE_ROWS,
  EXPORT_WINDOW_BYTES_MAX,
  EXPORT_WINDOW_CHUNK_ROWS,
} from "../../limits.ts";
import type { Span } from "../../query/selection.ts";
import { compareIds, ID_BYTES, uuidBytes } from "../../store/id_codec.ts";
import { COLUMNS } from "../../store/segment_columns.ts";
import { fetchBlocks, fetchHeadsById } from "../../store/stored_segments.ts";
import { readRows } from "../../store/whole_events.ts";
import { type Yield, yielding } from "../../store/yielding.ts";
import { partsBackwards } from "../newest/backwards.ts";
import { atOneMoment } from "../answer/time_limit.ts";
import { lineOf } from "./event_lines.ts";
import { type ListSource, newestOf } from "./event_list.ts";
import { isWaiting } from "./journal_list.ts";
import { type ListPlace, spanAfter } from "./list_place.ts";
import {
  type HandedLines,
  type LineMemory,
  PackedLines,
  type PackedSizes,
} from "./packed_lines.ts";
import { NewestEvents } from "../newest/newest_events.ts";

export const WINDOW_SIZES: PackedSizes = {
  chunkRows: EXPORT_WINDOW_CHUNK_ROWS,
  openRows: EXPORT_OPEN_ROWS,
  openBytes: EXPORT_OPEN_BYTES,
  bytesMax: EXPORT_WINDOW_BYTES_MAX,
  handedBytes: EXPORT_HANDED_BYTES,
};

/**
 * Finds the newest events after a place: at least `rows` if that many exist, and all of the last one's
 * millisecond. `next`: where the next window begins; null: no event follows.
 */
async function newestAfter(
  source: ListSource,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<{ events: NewestEvents; next: ListPlace | null }> {
  const events = new NewestEvents(Infinity, NaN);
  let edgeMs = from.id === null ? NaN : from.ms;
  for await (const part of partsBackwards(source, spanAfter(span, from), rows)) {
    const wanted = rows - events.ms.length;
    const found = await (source.newest ?? newestOf)(source, part, wanted, edgeMs);
    events.addAll(found);
    if (events.ms.length >= rows) {
      const ms = found.ms.reduce((first, at) => Math.min(first, at), Infinity);
      return { events, next: { ms, id: null } };
    }
    edgeMs = NaN;
  }
  return { events, next: null };
}

type Outcome = "read" | "gone" | "too large";

/** Reads some of the found events, all of one segment, into `lines`, one block at a time. */
async function readSegment(
  lines: PackedLines,
  { reads, projectId }: WindowSource,
  { ms, segmentIds, places }: NewestEvents,
  wanted: readonly number[],
  from: ListPlace,
  pause: Yield,
): Promise<Outcome> {
  const segmentId = segmentIds[wanted[0]!]!;
  const order = Uint32Array.from(wanted).sort((a, b) => places[a]! - places[b]!);
  const fromId = from.id === null ? null : uuidBytes([from.id]);
  for (let at = 0; at < order.length;) {
    const fetched = await atOneMoment(reads, async (sql) => {
      const stored = (await fetchHeadsById(sql, projectId, [segmentId])).get(segmentId);
      if (stored === undefined) return null;
      const first = Math.floor(places[order[at]!]! / stored.head.blockEvents);
      const wanted = { ...stored, blocks: { first, end: first + 1 } };
      return (await fetchBlocks(sql, projectId, [wanted], COLUMNS))[0]!;
    });
    if (fetched === null) return "gone";
    const { firstPlace, events } = fetched;
    let end = at;
    while (end < order.length && places[order[end]!]! < firstPlace + events) end++;
    // Only these are decoded: in a long history a window has few events of each block.
    const own = order.subarray(at, end).filter((i) => lines.keeps(ms[i]!));
    const picked = fetched.pick(own.map((i) => places[i]! - firstPlace));
    const moments = picked.moments();
    const ids = picked.ids(moments);
    const rowAt = await readRows(picked, projectId, pause, moments, ids);
    for (const [n, i] of own.entries()) {
      const idAt = ID_BYTES * n;
      const isEdge = ms[i]! === from.ms && fromId !== null;
      if (isEdge && compareIds(ids, idAt, fromId, 0) >= 0) continue;
      if (!await lines.add(ms[i]!, ids, idAt, lineOf(rowAt(n)))) return "too large";
      await pause();
    }
    at = end;
  }
  return "read";
}

/** Reads the found events into `lines`, segment by segment. */
async function readInto(
  lines: PackedLines,
  source: WindowSource,
  events: NewestEvents,
  from: ListPlace,
  pause: Yield,
): Promise<Outcome> {
  const bySegment = Map.groupBy(events.ms.keys(), (i) => events.segmentIds[i]!);
  for (const wanted of bySegment.values()) {
    const outcome = await readSegment(lines, source, events, wanted, from, pause);
    if (outcome !== "read") return outcome;
  }
  return await lines.pack() ? "read" : "too large";
}

/** What a window is read from. */
export interface WindowSource {
  readonly reads: Database;
  readonly projectId: number;
  /** Whether there are filters: these see projected events only. */
  readonly isFiltered: boolean;
  readonly atOneMoment: <T>(work: (source: ListSource) => Promise<T>) => Promise<T>;
  /** Aborting it ends the reading of a window. */
  readonly gone?: AbortSignal;
}

/** Many selected events, newest first. */
interface EventWindow {
  /** Yields at most `linesMax` lines, in batches; may be called once, before the next window is read. */
  readonly handed: (linesMax: number) => Iterable<HandedLines>;
  /** Where the next window begins; null: no event follows. */
  readonly next: ListPlace | null;
}

/** Says that the window could not be read. */
export interface NoWindow {
  readonly handed: null;
  /** The average bytes of an event's line; null: no line was read. */
  readonly lineBytes: number | null;
}

/** Returns how many events to read in place of a window: fewer if their lines are long. */
export function pageRowsOf(lineBytes: number): number {
  const rows = Math.floor(EXPORT_PAGE_BYTES_AIM / Math.max(1, lineBytes));
  return Math.max(1, Math.min(EXPORT_PAGE_ROWS, rows));
}

const NO_WINDOW: NoWindow = { handed: null, lineBytes: null };

/**
 * Reads a window: about `rows` of the selected events of a span after a place, fewer if they are large. Each
 * block is read once, and the lines are kept compressed. Writers may change the database meanwhile. There is no
 * window if some of its events are not projected yet, if a segment is rewritten meanwhile, or if the events of
 * one millisecond do not fit into the memory. Throws once `gone` is aborted.
 */
export async function readWindow(
  source: WindowSource,
  span: Span,
  from: ListPlace,
  rows: number,
  memory: LineMemory,
): Promise<EventWindow | NoWindow> {
  const { projectId, isFiltered, gone } = source;
  const found = await source.atOneMoment(async (moment) => {
    const found = await newestAfter(moment, span, from, rows);
    const fromMs = found.next?.ms ?? span.fromMs;
    const whole = spanAfter({ ...span, fromMs }, from);
    return !isFiltered && await isWaiting(moment.sql, projectId, whole) ? null : found;
  });
  if (found === null) return NO_WINDOW;
  const pause = yielding(gone);
  const lines = new PackedLines(memory, Float64Array.from(found.events.ms), pause);
  // No function made here may use the found events: `handed` would keep them in memory, too.
  const outcome = await readInto(lines, source, found.events, from, pause);
  if (outcome === "gone") return NO_WINDOW;
  if (outcome === "too large") return { handed: null, lineBytes: lines.lineBytes };
  const droppedMs = lines.droppedBeforeMs;
  const next = droppedMs === null ? found.next : { ms: droppedMs, id: null };
  return { handed: (linesMax) => lines.handed(linesMax), next };
}
