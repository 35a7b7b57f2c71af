import type { Sql } from "../../db/sql.ts";
import { EXPORT_FIRST_ROWS, EXPORT_PAGE_ROWS, EXPORT_WINDOW_ROWS } from "../../limits.ts";
import type { PageCursor } from "../../query/event_cursor.ts";
import { isNarrowed } from "../../query/selection.ts";
import { scopeOfSegment } from "../answer/asked_segment.ts";
import { chunked } from "./event_lines.ts";
import { listEvents, type ListSource } from "./event_list.ts";
import { listedFrom } from "./list_place.ts";
import { pageRowsOf, readWindow, WINDOW_SIZES } from "./event_window.ts";
import type { Lines } from "./line_stream.ts";
import { LineMemory } from "./packed_lines.ts";
import { readPersistently } from "./persistent_read.ts";
import { newestStored } from "./stored_newest.ts";
import { atOneMoment, turnsOf } from "../answer/time_limit.ts";
import {
  type EventsContext,
  nextCursor,
  onSnapshot,
  readPage,
  type Selection,
} from "./event_page.ts";

interface ExportContext extends EventsContext {
  /** Aborted when the reader of the export has gone. */
  readonly gone: AbortSignal;
}

/** Runs `work` on one snapshot of the database, in the turn of the project. */
async function inTurn<T>(
  context: ExportContext,
  selection: Selection,
  work: (source: ListSource) => Promise<T>,
): Promise<T> {
  const { reads, gone: signal, project: { projectId } } = context;
  const moment = (sql: Sql) => onSnapshot(context, { sql, signal }, selection, work);
  return await turnsOf(reads).take(projectId, signal, () => atOneMoment(reads, moment));
}

/** Yields the events of a tail, page by page. */
async function* tailedLines(
  context: ExportContext,
  selection: Selection,
  start: PageCursor | null,
  rowsMax: number,
  asOf: Date,
): AsyncGenerator<Lines> {
  let cursor = start;
  for (let left = rowsMax; left > 0;) {
    const rows = Math.min(EXPORT_PAGE_ROWS, left);
    const read = (source: ListSource) => readPage(source, selection, cursor, rows, asOf);
    const page = await readPersistently(() => inTurn(context, selection, read), context.gone);
    const shown = page.events.slice(0, rows);
    yield* chunked(shown.map(({ row }) => row));
    left -= shown.length;
    cursor = nextCursor(page, rows, true);
    if (cursor === null) return;
  }
}

/**
 * Yields the events of a list, newest first: a small page first, so that it arrives soon, then windows, or a
 * page in place of a window that cannot be read.
 */
async function* listedLines(
  context: ExportContext,
  selection: Selection,
  start: PageCursor | null,
  rowsMax: number,
): AsyncGenerator<Lines> {
  const { reads, gone } = context;
  const { scope, range, segment } = selection;
  const { span, place: first } = listedFrom(range!, start);
  const isFiltered = isNarrowed(segment === null ? scope : scopeOfSegment(scope, segment));
  const newest = isFiltered ? {} : { newest: newestStored };
  const moment = <T>(work: (source: ListSource) => Promise<T>) =>
    inTurn(context, selection, (read) => work({ ...read, ...newest }));
  const source = { reads, projectId: scope.projectId, atOneMoment: moment, isFiltered, gone };
  const memory = new LineMemory(WINDOW_SIZES);
  let place = first;
  let pageRows: number | null = EXPORT_FIRST_ROWS;
  let lineBytes = 0;
  for (let left = rowsMax; left > 0;) {
    const behind = place;
    if (pageRows === null) {
      const rows = Math.min(EXPORT_WINDOW_ROWS, left);
      const window = await readPersistently(
        () => readWindow(source, span, behind, rows, memory),
        gone,
      );
      if (window.handed === null) {
        pageRows = pageRowsOf(window.lineBytes ?? lineBytes);
        continue;
      }
      for (const { bytes, lines } of window.handed(left)) {
        yield bytes;
        left -= lines;
        lineBytes = bytes.length / lines;
      }
      if (window.next === null) return;
      place = window.next;
    } else {
      const wanted = Math.min(pageRows, left);
      const listed = () => moment((read) => listEvents(read, span, behind, wanted + 1));
      const page = await readPersistently(listed, gone);
      let length = 0;
      for (const lines of chunked(page.slice(0, wanted))) {
        yield lines;
        length += lines.length;
      }
      if (page.length <= wanted) return;
      lineBytes = length / wanted;
      const { occurred_at, event_id } = page[wanted - 1]!;
      place = { ms: Date.parse(occurred_at), id: event_id };
      left -= wanted;
      pageRows = null;
    }
  }
}

/** Yields one line per event, chunk by chunk as the reader takes them, so that memory stays bounded. */
export function exportedLines(
  context: ExportContext,
  selection: Selection,
  start: PageCursor | null,
  rowsMax: number,
  asOf: Date,
): AsyncGenerator<Lines, void> {
  const { exports, project, gone } = context;
  const lines = selection.tail === null
    ? listedLines(context, selection, start, rowsMax)
    : tailedLines(context, selection, start, rowsMax, asOf);
  return exports.seated(project.projectId, lines, gone);
}
