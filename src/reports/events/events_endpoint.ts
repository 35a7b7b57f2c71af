import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { prefersToJson } from "../../http/accept.ts";
import type { Exchange } from "../../http/router.ts";
import {
  EXPORT_FIRST_ROWS,
  EXPORT_PAGE_ROWS,
  EXPORT_WINDOW_ROWS,
  PROJECTION_WAIT_MS_MAX,
} from "../../limits.ts";
import {
  encodePageCursor,
  encodeTailCursor,
  type PageCursor,
  readPageCursor,
  readTailCursor,
  type TailCursor,
} from "../../query/event_cursor.ts";
import { readFilters } from "../../query/filters.ts";
import {
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../../query/parameters.ts";
import { type Range, readRange } from "../../query/range.ts";
import { filtersOfSegment, readSegmentSlug, type SavedSegment } from "../../query/saved_segment.ts";
import { BOT_CHOICES, isNarrowed, type Scope } from "../../query/selection.ts";
import { readTimes } from "../../query/times.ts";
import { valueWarnings, Warning } from "../../query/warnings.ts";
import { withTimelines } from "../../scans/filtered_timelines.ts";
import {
  namedSegment,
  ofSegment,
  scopeOfSegment,
  SEGMENT_SEMANTICS,
} from "../answer/asked_segment.ts";
import { chunked } from "./event_lines.ts";
import { listedFrom, listEvents, type ListSource, storedSpan } from "./event_list.ts";
import { refuseExpired, type TailEvent, tailEvents } from "./event_tail.ts";
import { pageRowsOf, readWindow, WINDOW_SIZES } from "./event_window.ts";
import type { ExportSeats } from "./export_seats.ts";
import { lineReply, type Lines } from "./line_stream.ts";
import { LineMemory } from "./packed_lines.ts";
import { readPersistently } from "./persistent_read.ts";
import { newestStored } from "./stored_newest.ts";
import { currentSnapshot, projectedPlace } from "./projected_place.ts";
import { projectedState } from "../answer/projected_state.ts";
import { PendingShown, readReply } from "../answer/read_reply.ts";
import { type ReportServices, siteHostOf } from "../answer/report_endpoint.ts";
import { EventShown } from "../shown/exported_event_schema.ts";
import { shownEvent } from "../shown/shown_event.ts";
import { atOneMoment, readFailure, withinTime } from "../answer/time_limit.ts";

/** The services of the read, and a project that the token may read. */
interface EventsContext extends ReportServices {
  readonly project: Project;
  readonly exports: ExportSeats;
}

/** Descriptions of the parameters of `GET /v1/events`. */
export const EVENT_QUERY: Readonly<Record<string, string>> = {
  project: "Project id. Default: the token's only project",
  from: "Local date, inclusive, or instant. Default: 29 days before `to`",
  to: "Local date, inclusive, or instant, exclusive. Default: today",
  timezone: "IANA time zone of the local dates. Default: the project's",
  bots: "exclude (default), include or only",
  segment: "Slug of a saved segment: events of its people alone, under its filters too",
  filters: 'JSON list of {"field","op","values"}; all must hold. Default: []',
  interval: "Of no effect here",
  compare: "Of no effect here",
  limit: "Rows of a page, 1 to 1000. Default: 100",
  cursor: "`nextCursor` of the page before",
  after: "`tailCursor` of an earlier reply, or an instant: only what was stored since",
};

/** Reply of `GET /v1/events`. */
export const EventsReply = z.object({
  query: z.looseObject({ warnings: z.array(Warning) }),
  asOf: z.iso.datetime(),
  pending: PendingShown,
  events: z.array(EventShown),
  nextCursor: z.string().nullable(),
  tailCursor: z.string(),
});

/** Says in the reply what the list and the tail hold. */
export const EVENT_SEMANTICS =
  "Stored events, newest first by their corrected time, ties by eventId; with `after`, those " +
  "committed since, the latest stored first. A tail goes on with `tailCursor` as `after` once its " +
  "pages are read: those of one call with `cursor` and the same `after`, until `nextCursor` is null.";

/** Reads where to go on. A cursor serves either the list or a tail, whose pages have different orders. */
function readPlace(query: URLSearchParams, asOfMs: number) {
  const place = readAll({
    tail: () => readTailCursor(query, asOfMs),
    cursor: () => readPageCursor(query),
  });
  const { tail, cursor } = place;
  if (cursor === null || (cursor.tail !== null) === (tail !== null)) return place;
  throw invalidParameter(
    "cursor",
    tail === null
      ? "It is of a page that was asked for with `after`: give the same `after` again."
      : "It is of a page that was asked for without `after`: leave `after` out.",
  );
}

/** Reads the parameters, and reports all bad ones at once. */
function readQuery(
  query: URLSearchParams,
  { timezone }: Project,
  asOf: Date,
  isExport: boolean,
) {
  const { place, ...others } = readAll({
    unknown: () => refuseUnknown(query, Object.keys(EVENT_QUERY)),
    // `interval` and `compare` have no effect; bad values are refused as in any other report.
    range: () =>
      isExport
        ? readRange(query, timezone, asOf.getTime(), null)
        : readTimes(query, timezone, asOf.getTime()).range,
    slug: () => readSegmentSlug(query),
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOT_CHOICES, "exclude"),
    rows: () => pageRows(query),
    place: () => readPlace(query, asOf.getTime()),
  });
  const rowsMax = query.has("limit") ? others.rows : Infinity;
  return { ...others, rowsMax, ...place };
}

/** Which events a request selects. */
interface Selection {
  readonly scope: Scope;
  /** The span of the events' own times; null for a tail without dates. */
  readonly range: Range | null;
  readonly tail: TailCursor | null;
  /** Null: the events of all people. */
  readonly segment: SavedSegment | null;
  /** The range to which the conditions of a segment apply. */
  readonly asked: Range;
}

/** One page, with one event more where others follow. */
interface Page {
  readonly events: readonly TailEvent[];
  /** Where a tail goes on; the same for all pages of one poll. */
  readonly position: TailCursor & { readonly snapshot: string };
}

/** Reads a page of `rows` events, and one event more. */
async function readPage(
  source: ListSource,
  { range, tail }: Selection,
  cursor: PageCursor | null,
  rows: number,
  asOf: Date,
): Promise<Page> {
  const { sql, scope } = source;
  // Filters see projected events only; a tail from this place shows the others later.
  const told = async () =>
    isNarrowed(scope)
      ? await projectedPlace(sql, scope.projectId, asOf.toISOString())
      : { at: asOf.toISOString(), snapshot: await currentSnapshot(sql) };
  if (tail === null) {
    const { span, place } = listedFrom(range!, cursor);
    const listed = await listEvents(source, span, place, rows + 1);
    return { events: listed.map((row) => ({ journalId: 0, row })), position: await told() };
  }
  await refuseExpired(sql, scope.projectId, tail);
  const page = cursor?.tail ?? null;
  const position = page === null ? await told() : { at: tail.at, snapshot: page.snapshot };
  const selection = { after: tail, until: position.snapshot, range };
  return { events: await tailEvents(source, selection, page, rows + 1), position };
}

/** Returns the cursor of the next page; null after the last page. */
function nextCursor({ events, position }: Page, rows: number, isTail: boolean): PageCursor | null {
  const last = events[rows - 1];
  if (last === undefined || events.length <= rows) return null;
  const { journalId, row: { occurred_at: at, event_id: eventId } } = last;
  const tail = isTail ? { snapshot: position.snapshot, journalId, eventId } : null;
  return { at, eventId, tail };
}

/**
 * `GET /v1/events`: a page of stored events, or all selected events as NDJSON where the caller
 * accepts `application/x-ndjson`. A list is read from segments, a tail from the journal.
 * @throws Problem `invalid_parameter`, `cursor_expired`, `range_too_large`, `read_timeout`, `damaged_events`.
 */
export async function getEvents(
  context: EventsContext,
  { request, url, requestId }: Exchange<unknown>,
): Promise<Response> {
  const { projection, project } = context;
  const query = url.searchParams;
  const asOf = new Date(context.now());
  const isExport = prefersToJson(request, "application/x-ndjson");
  const asked = readQuery(query, project, asOf, isExport);
  const { range, slug, filters, bots, rows, rowsMax, tail, cursor } = asked;
  const bounded = tail === null || query.has("from") || query.has("to");
  const scope = { projectId: project.projectId, siteHost: siteHostOf(project), bots, filters };
  const selected = { scope, range: bounded ? range : null, tail, asked: range };
  if (isExport) {
    const segment = await namedSegment(context.reads, project.projectId, "segment", slug);
    // An export cannot say that events are pending, so it waits until none is.
    await projection.catchUp(project.projectId);
    const exporting = { ...context, gone: request.signal };
    const lines = exportedLines(exporting, { ...selected, segment }, cursor, rowsMax, asOf);
    return await lineReply(lines, requestId, readFailure);
  }
  if (tail === null || filters.length > 0 || slug !== null) {
    await projection.catchUpWithin(project.projectId, PROJECTION_WAIT_MS_MAX);
  }
  const { page, warnings, pending, segment } = await withinTime(
    context.reads,
    context.readTimeoutMs,
    async (sql, signal) => {
      const { pending } = await projectedState(sql, project.projectId);
      const segment = await namedSegment(sql, project.projectId, "segment", slug);
      const selection = { ...selected, segment };
      const page = await onSnapshot(
        context,
        { sql, signal },
        selection,
        (source) => readPage(source, selection, cursor, rows, asOf),
      );
      const warnings = await valueWarnings(sql, project.projectId, [
        { parameter: "filters", filters },
        { parameter: "segment", filters: segment === null ? [] : filtersOfSegment(segment) },
      ]);
      return { page, pending, warnings, segment };
    },
    request.signal,
  );
  const next = nextCursor(page, rows, tail !== null);
  const resolved = {
    project: project.id,
    from: bounded ? range.from.toISOString() : null,
    to: bounded ? range.to.toISOString() : null,
    timezone: range.timezone,
    interval: query.get("interval") || null,
    compare: query.get("compare") || "none",
    ...segment === null ? {} : { segment },
    filters,
    bots,
    limit: rows,
    cursor: query.get("cursor") || null,
    after: query.get("after") || null,
    semantics: segment === null ? EVENT_SEMANTICS : `${EVENT_SEMANTICS} ${SEGMENT_SEMANTICS}`,
    warnings,
  };
  const result = {
    events: page.events.slice(0, rows).map(({ row }) => shownEvent(row)),
    nextCursor: next === null ? null : encodePageCursor(next),
  };
  return readReply(request, { asOf, pending }, resolved, result, {
    tailCursor: encodeTailCursor(page.position),
  });
}

/** Runs `work` on one snapshot of the database. */
function onSnapshot<T>(
  { segments, pool }: EventsContext,
  access: { readonly sql: Sql; readonly signal?: AbortSignal },
  { scope, segment, asked }: Selection,
  work: (source: ListSource) => Promise<T>,
): Promise<T> {
  const all = { sql: access.sql, scope };
  return withTimelines(
    { segments, pool },
    { ...access, scope },
    (load, memory) => work(ofSegment({ load, memory, segments }, all, segment, asked)),
  );
}

/** Narrows the range of a list, which is searched part by part, to the time that has events; null: none has. */
async function narrowed(context: EventsContext, selection: Selection): Promise<Selection | null> {
  const { scope, range, tail } = selection;
  if (tail !== null || range === null) return selection;
  const stored = await storedSpan(context.reads, scope.projectId);
  if (stored === null) return null;
  const from = new Date(Math.max(range.from.getTime(), stored.fromMs));
  const to = new Date(Math.min(range.to.getTime(), stored.toMs));
  return from < to ? { ...selection, range: { ...range, from, to } } : null;
}

interface ExportContext extends EventsContext {
  /** Aborted once nobody takes the export any more. */
  readonly gone: AbortSignal;
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
    const moment = () =>
      atOneMoment(context.reads, (sql) => onSnapshot(context, { sql }, selection, read));
    const page = await readPersistently(moment, context.gone);
    const shown = page.events.slice(0, rows);
    yield* chunked(shown.map(({ row }) => row));
    left -= shown.length;
    cursor = nextCursor(page, rows, true);
    if (cursor === null) return;
  }
}

/**
 * Yields the events of a list, newest first: a small page first, so that it arrives soon, then windows. Where
 * there is no window, one page is read in its place.
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
    atOneMoment(
      reads,
      (sql) => onSnapshot(context, { sql }, selection, (read) => work({ ...read, ...newest })),
    );
  const source = { reads, projectId: scope.projectId, atOneMoment: moment, isFiltered };
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
function exportedLines(...asked: Parameters<typeof selectedLines>): AsyncGenerator<Lines, void> {
  const [{ exports, project, gone }] = asked;
  return exports.seated(project.projectId, selectedLines(...asked), gone);
}

async function* selectedLines(
  context: ExportContext,
  asked: Selection,
  start: PageCursor | null,
  rowsMax: number,
  asOf: Date,
): AsyncGenerator<Lines, void> {
  const selection = await readPersistently(() => narrowed(context, asked), context.gone);
  if (selection === null) return;
  yield* selection.tail === null
    ? listedLines(context, selection, start, rowsMax)
    : tailedLines(context, selection, start, rowsMax, asOf);
}
