import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import { prefersToJson } from "../../http/accept.ts";
import { DiskFull, ReplicaUnavailable, type Sql } from "../../db/sql.ts";
import type { Exchange } from "../../http/router.ts";
import { readReply } from "../../http/read_reply.ts";
import { PROJECTION_JOB_WAIT_MS_MAX, PROJECTION_WAIT_MS_MAX } from "../../limits.ts";
import { comparedSegment, comparisonKind, shownComparison } from "../../query/comparison.ts";
import {
  encodePageCursor,
  encodeTailCursor,
  readPageCursor,
  readTailCursor,
} from "../../query/event_cursor.ts";
import { readFilters } from "../../query/filters.ts";
import {
  givenText,
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../../query/parameters.ts";
import { namesBound } from "../../query/range.ts";
import { replyShown } from "../../query/reply_shown.ts";
import { filtersOfSegment, readSegmentSlug, type SavedSegment } from "../../query/saved_segment.ts";
import { BOT_CHOICES, isNarrowed, type Scope } from "../../query/selection.ts";
import { readTimes } from "../../query/times.ts";
import { valueWarnings } from "../../query/warnings.ts";
import { comparisonWarnings, NO_EFFECT } from "../../query/without_effect.ts";
import { namedSegment, SEGMENT_SEMANTICS } from "../answer/asked_segment.ts";
import { lineReply } from "./line_stream.ts";
import { countedWithin, NOTHING_LACKED } from "../answer/counted.ts";
import { projectedState } from "../answer/projected_state.ts";
import { READ_QUERY, siteHostOf } from "../answer/report_endpoint.ts";
import { EventShown } from "../../event_file/exported_event_schema.ts";
import { shownEvent } from "../shown/shown_event.ts";
import { readFailure, withinTime } from "../answer/time_limit.ts";
import type { ListSource } from "./event_list.ts";
import { type EventsContext, nextCursor, onSnapshot, readPage } from "./event_page.ts";
import { exportedLines } from "./exported_lines.ts";

/** Descriptions of the parameters of `GET /v1/events`. */
export const EVENT_QUERY: Readonly<Record<string, string>> = {
  ...READ_QUERY,
  timezone: "IANA time zone of the local dates. Default: the project's",
  interval: NO_EFFECT,
  compare: NO_EFFECT,
  segment: "Slug of a saved segment: events of its people alone, under its filters too",
  after: "`tailCursor` of an earlier reply, or an instant: only what was stored since",
};

/** Reply of `GET /v1/events`. */
export const EventsReply = replyShown({
  events: z.array(EventShown),
  nextCursor: z.string().nullable(),
  tailCursor: z.string(),
});

/** Says in the reply what a list and a tail contain. */
export const EVENT_SEMANTICS =
  "Stored events, newest first by their corrected time, ties by eventId; with `after`, those " +
  "committed since, the latest stored first. To continue a tail, read its pages (with `cursor` and " +
  "the same `after`, until `nextCursor` is null), then give its `tailCursor` as `after`.";

/** Reads where the page begins. A cursor is of the list or of a tail, whose pages have different orders. */
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
function readQuery(query: URLSearchParams, { timezone }: Project, asOf: Date, isExport: boolean) {
  const { place, times, ...others } = readAll({
    unknown: () => refuseUnknown(query, Object.keys(EVENT_QUERY)),
    // `interval` and `compare` have no effect; bad values are refused as in any other report.
    times: () => readTimes(query, timezone, asOf.getTime(), { isSingle: isExport }),
    slug: () => readSegmentSlug(query),
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOT_CHOICES, "exclude"),
    rows: () => pageRows(query),
    place: () => readPlace(query, asOf.getTime()),
  });
  const rowsMax = givenText(query, "limit") === null ? Infinity : others.rows;
  return { ...others, ...times, rowsMax, ...place };
}

/**
 * Waits until no event is pending, because an export cannot report pending events. On a full disk they stay
 * pending; an export of all events, which includes them, is made nevertheless, so that they can be saved.
 * Segments are looked up afterwards, as the replica may lack them, too.
 * @throws ReplicaUnavailable if the replica that answers reads stays behind
 */
async function catchUp(
  { projection, replica }: EventsContext,
  scope: Scope,
  hasSegment: boolean,
  projectId: number,
): Promise<void> {
  try {
    await projection.catchUp(projectId);
  } catch (error) {
    if (!(error instanceof DiskFull) || hasSegment || isNarrowed(scope)) throw error;
  }
  if (await replica?.lagging([projectId], PROJECTION_JOB_WAIT_MS_MAX)) {
    throw new ReplicaUnavailable("The replica that answers reads is behind");
  }
}

/** Loads the segment of the events. That of `compare`, which has no effect, must exist as in any other report. */
async function segmentOf(
  sql: Sql,
  projectId: number,
  slug: string | null,
  query: URLSearchParams,
): Promise<SavedSegment | null> {
  const segment = await namedSegment(sql, projectId, "segment", slug);
  await namedSegment(sql, projectId, "compare", comparedSegment(query));
  return segment;
}

/** Warns of values in the filters of a read and of its segment that never occurred. */
function warningsOf(sql: Sql, { projectId, filters }: Scope, segment: SavedSegment | null) {
  return valueWarnings(sql, projectId, [
    { parameter: "filters", filters },
    { parameter: "segment", filters: segment === null ? [] : filtersOfSegment(segment) },
  ]);
}

/**
 * `GET /v1/events`: a page of stored events, or all selected events as NDJSON where the caller
 * accepts `application/x-ndjson`. A list is read from segments and the journal, a tail from the journal.
 * @throws DatabaseUnavailable; Problem `invalid_parameter`, `cursor_expired`, `range_too_large`, `read_timeout`,
 * `damaged_events`.
 */
export async function getEvents(
  context: EventsContext,
  { request, url, requestId }: Exchange<unknown>,
): Promise<Response> {
  const { project, project: { projectId }, replica } = context;
  const [query, asOf] = [url.searchParams, new Date(context.now())];
  const isExport = prefersToJson(request, "application/x-ndjson");
  const asked = readQuery(query, project, asOf, isExport);
  const { range, slug, filters, bots, rows, rowsMax, tail, cursor } = asked;
  const bounded = tail === null || namesBound(query);
  const scope = { projectId, siteHost: siteHostOf(project), bots, filters };
  const selected = { scope, range: bounded ? range : null, tail, asked: range };
  if (isExport) {
    await catchUp(context, scope, slug !== null, projectId);
    const segment = await segmentOf(context.reads, projectId, slug, query);
    const exporting = { ...context, gone: request.signal };
    const lines = exportedLines(exporting, { ...selected, segment }, cursor, rowsMax, asOf);
    return await lineReply(lines, requestId, readFailure);
  }
  const isOfCounted = tail === null || filters.length > 0 || slug !== null;
  const countLacked = isOfCounted
    ? await countedWithin(context, projectId, PROJECTION_WAIT_MS_MAX)
    : await replica?.lagging([projectId], 0) ?? NOTHING_LACKED;
  const { page, warnings, pending, segment } = await withinTime(
    context.reads,
    context.readTimeoutMs,
    projectId,
    async (sql, signal) => {
      const segment = await segmentOf(sql, projectId, slug, query);
      const selection = { ...selected, segment };
      const readOf = (source: ListSource) => readPage(source, selection, cursor, rows, asOf);
      const reading = onSnapshot(context, { sql, signal }, selection, readOf);
      // Sent after the page's first statements, for whose answers it waits. If it fails, nothing awaits these.
      const state = projectedState(sql, projectId);
      state.catch(() => {});
      const warned = warningsOf(sql, scope, segment);
      warned.catch(() => {});
      const page = await reading;
      const pending = (await state).pending + await countLacked(sql, [projectId]);
      return { page, pending, warnings: await warned, segment };
    },
    request.signal,
  );
  const next = nextCursor(page, rows, tail !== null);
  const resolved = {
    project: project.id,
    from: selected.range?.from.toISOString() ?? null,
    to: selected.range?.to.toISOString() ?? null,
    timezone: range.timezone,
    interval: asked.interval,
    compare: shownComparison(query, asked.comparison),
    segment,
    filters,
    bots,
    limit: rows,
    cursor: query.get("cursor") || null,
    after: query.get("after") || null,
    semantics: segment === null ? EVENT_SEMANTICS : `${EVENT_SEMANTICS} ${SEGMENT_SEMANTICS}`,
    warnings: [...comparisonWarnings("nothing", comparisonKind(query)), ...warnings],
  };
  const result = {
    events: page.events.slice(0, rows).map(({ row }) => shownEvent(row)),
    nextCursor: next === null ? null : encodePageCursor(next),
  };
  const volatile = { tailCursor: encodeTailCursor(page.position) };
  return await readReply(request, { asOf, pending }, resolved, result, volatile);
}
