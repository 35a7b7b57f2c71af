import type { Database } from "../../db/sql.ts";
import {
  EXPORT_CHUNK_ROWS,
  EXPORT_OPEN_LENGTH_MAX,
  EXPORT_OPEN_ROWS,
  EXPORT_PAGE_ROWS,
  EXPORT_WINDOW_BYTES_MAX,
} from "../../limits.ts";
import type { Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { decodeBlock, encodeBlock } from "../../store/journal_block.ts";
import { COLUMNS } from "../../store/segment_columns.ts";
import { countWhile } from "../../store/segment_head.ts";
import { fetchBlocks, fetchHeadsById } from "../../store/stored_segments.ts";
import { readRowsInTurns } from "../../store/whole_events.ts";
import { type Yield, yielding } from "../../store/yielding.ts";
import { atOneMoment } from "../time_limit.ts";
import {
  byPlace,
  firstPartMs,
  isWaiting,
  type ListPlace,
  newestOf,
  PART_GROWTH,
  partBefore,
  type Source,
} from "./event_list.ts";
import type { FoundEvents } from "../newest_events.ts";

/** What a window may take. */
export interface WindowSizes {
  /** Events that are handed on together. */
  readonly chunkRows: number;
  /** Events of a chunk all the same, where many are of one millisecond. */
  readonly chunkRowsMax: number;
  /** Events, and characters of their texts, that are held before they are compressed. */
  readonly openRows: number;
  readonly openLength: number;
  /** Bytes of all that is compressed. */
  readonly bytesMax: number;
}

export const WINDOW_SIZES: WindowSizes = {
  chunkRows: EXPORT_CHUNK_ROWS,
  chunkRowsMax: EXPORT_PAGE_ROWS,
  openRows: EXPORT_OPEN_ROWS,
  openLength: EXPORT_OPEN_LENGTH_MAX,
  bytesMax: EXPORT_WINDOW_BYTES_MAX,
};

/** Where a window's events are stored, and where the next one begins. */
interface Found {
  readonly parts: readonly FoundEvents[];
  /** Null: nothing follows. */
  readonly next: ListPlace | null;
}

/** The newest events behind a place: at least so many, where there are, and all of the last one's millisecond. */
async function newestBehind(
  source: Source,
  span: Span,
  from: ListPlace,
  rows: number,
): Promise<Found> {
  const parts: FoundEvents[] = [];
  let place = from;
  let wanted = rows;
  for (let partMs = firstPartMs(span, from);; partMs *= PART_GROWTH) {
    const part = partBefore(span, place, partMs);
    if (part === null) return { parts, next: null };
    const edgeMs = place.id === null ? NaN : place.ms;
    const found = (await newestOf(source, part, wanted, edgeMs)).found();
    parts.push(found);
    if (found.ms.length >= wanted) {
      const ms = found.ms.reduce((first, at) => Math.min(first, at), Infinity);
      return { parts, next: { ms, id: null } };
    }
    wanted -= found.ms.length;
    place = { ms: part.fromMs, id: null };
  }
}

/** Chunks of a window: each from a moment to before the next one's, the newest first. */
class Chunks {
  /** The first moment of each but the last, descending. */
  readonly #firsts: number[] = [];
  readonly sizes: Uint32Array;
  readonly #open: EventRow[][];
  readonly #pieces: Uint8Array[][];
  #openRows = 0;
  #openLength = 0;
  bytes = 0;

  constructor(parts: readonly FoundEvents[], readonly limits: WindowSizes) {
    const count = parts.reduce((sum, { ms }) => sum + ms.length, 0);
    const all = new Float64Array(count);
    let at = 0;
    for (const { ms } of parts) {
      all.set(ms, at);
      at += ms.length;
    }
    all.sort();
    for (let first = count - limits.chunkRows; first > 0; first -= limits.chunkRows) {
      if (all[first]! !== this.#firsts.at(-1)) this.#firsts.push(all[first]!);
    }
    this.sizes = new Uint32Array(this.#firsts.length + 1);
    for (const ms of all) this.sizes[this.#of(ms)]!++;
    this.#open = Array.from(this.sizes, () => []);
    this.#pieces = Array.from(this.sizes, () => []);
  }

  /** The number of the chunk of a moment. */
  #of(ms: number): number {
    return countWhile(this.#firsts.length, (i) => ms < this.#firsts[i]!);
  }

  add(ms: number, row: EventRow): void {
    this.#open[this.#of(ms)]!.push(row);
    this.#openRows++;
    this.#openLength += (row.properties?.length ?? 0) + (row.extra?.length ?? 0);
    const { openRows, openLength } = this.limits;
    if (this.#openRows >= openRows || this.#openLength >= openLength) this.close();
  }

  /** Compresses what is held. */
  close(): void {
    for (const [chunk, rows] of this.#open.entries()) {
      if (rows.length === 0) continue;
      const piece = encodeBlock(rows);
      this.#pieces[chunk]!.push(piece);
      this.bytes += piece.length;
      this.#open[chunk] = [];
    }
    this.#openRows = 0;
    this.#openLength = 0;
  }

  /** The events of all chunks, newest first; each chunk is let go of as it is handed on. */
  *rows(projectId: number): Generator<EventRow[]> {
    for (const [chunk, pieces] of this.#pieces.entries()) {
      const rows = pieces.flatMap((piece) => decodeBlock(piece, projectId)).sort(byPlace);
      this.#pieces[chunk] = [];
      if (rows.length > 0) yield rows;
    }
  }
}

/** Events of one block of a segment, by their number among those that were found. */
interface Wanted {
  readonly segmentId: number;
  readonly ms: number[];
  readonly places: number[];
}

function bySegment(parts: readonly FoundEvents[]): Map<number, Wanted> {
  const wanted = new Map<number, Wanted>();
  for (const { ms, segmentIds, places } of parts) {
    for (const [i, segmentId] of segmentIds.entries()) {
      let own = wanted.get(segmentId);
      if (own === undefined) wanted.set(segmentId, own = { segmentId, ms: [], places: [] });
      own.ms.push(ms[i]!);
      own.places.push(places[i]!);
    }
  }
  return wanted;
}

/** Reads the events of a segment that are wanted, one block at a time. */
async function readInto(
  chunks: Chunks,
  reads: Database,
  projectId: number,
  { segmentId, ms, places }: Wanted,
  from: ListPlace,
  pause: Yield,
): Promise<"read" | "gone" | "too large"> {
  const order = Uint32Array.from(places.keys()).sort((a, b) => places[a]! - places[b]!);
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
    const rowAt = await readRowsInTurns(fetched, projectId, pause);
    for (; at < order.length && places[order[at]!]! < firstPlace + events; at++) {
      const i = order[at]!;
      const row = rowAt(places[i]! - firstPlace);
      if (ms[i]! === from.ms && from.id !== null && row.event_id >= from.id) continue;
      chunks.add(ms[i]!, row);
      await pause();
    }
    if (chunks.bytes > chunks.limits.bytesMax) return "too large";
  }
  return "read";
}

/** What a window is read from. */
export interface WindowSource {
  readonly reads: Database;
  readonly projectId: number;
  /** Whether filters choose events: they see what is projected alone. */
  readonly isFiltered: boolean;
  /** Works on one snapshot of the database. */
  readonly atOneMoment: <T>(work: (source: Source) => Promise<T>) => Promise<T>;
}

/** Many selected events, newest first. */
export interface EventWindow {
  /** A chunk at a time; once. */
  readonly chunks: () => Iterable<EventRow[]>;
  /** Where the next one begins; null: nothing follows. */
  readonly next: ListPlace | null;
}

/**
 * About so many of the selected events of a span behind a place, or more: they are read block by block,
 * each block once, and kept compressed. Others write to the database meanwhile.
 *
 * @returns null where it cannot be had like this: some of it is not projected yet, a segment was written
 * anew meanwhile, too many events are of one millisecond, or it would be too large
 */
export async function readWindow(
  source: WindowSource,
  span: Span,
  from: ListPlace,
  rows: number,
  sizes = WINDOW_SIZES,
): Promise<EventWindow | null> {
  const { reads, projectId, isFiltered } = source;
  const found = await source.atOneMoment(async (moment) => {
    const found = await newestBehind(moment, span, from, rows);
    const fromMs = found.next?.ms ?? span.fromMs;
    const whole = { fromMs, toMs: from.id === null ? from.ms : from.ms + 1 };
    return !isFiltered && await isWaiting(moment.sql, projectId, whole) ? null : found;
  });
  if (found === null) return null;
  const chunks = new Chunks(found.parts, sizes);
  if (chunks.sizes.some((size) => size > sizes.chunkRowsMax)) return null;
  const pause = yielding();
  for (const wanted of bySegment(found.parts).values()) {
    const read = await readInto(chunks, reads, projectId, wanted, from, pause);
    if (read !== "read") return null;
  }
  chunks.close();
  return { chunks: () => chunks.rows(projectId), next: found.next };
}
