import { z } from "zod";
import type { Project } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";
import type { Exchange } from "../http/router.ts";
import { EXPORT_CHUNK_ROWS, FOLD_WAIT_MS_MAX } from "../limits.ts";
import {
  encodePageCursor,
  encodeTailCursor,
  type PageCursor,
  readPageCursor,
  readTailCursor,
  type TailCursor,
} from "../selection/event_cursor.ts";
import { readFilters } from "../selection/filters.ts";
import { planJoins } from "../selection/join_plans.ts";
import {
  invalidParameter,
  oneOf,
  pageRows,
  readAll,
  refuseUnknown,
} from "../selection/parameters.ts";
import { readTimes } from "../selection/times.ts";
import { valueWarnings, Warning } from "../selection/warnings.ts";
import { loadMarkedHistories } from "../walks/marked_histories.ts";
import type { Read } from "../walks/read.ts";
import { foldedPlace } from "./folded_place.ts";
import { foldedState } from "./folded_state.ts";
import { PendingShown, readReply } from "./read_reply.ts";
import { type ReportServices, siteHostOf } from "./report_endpoint.ts";
import {
  currentSnapshot,
  type EventSelection,
  readStoredEvents,
  shownEvent,
  type StoredEventPage,
  type StoredEventRow,
} from "./stored_events.ts";
import { withinTime } from "./time_limit.ts";

/** What the read works with: the project is one that the token may read. */
export interface EventsContext extends ReportServices {
  readonly project: Project;
}

/** The parameters of `GET /v1/events`. */
export const EVENT_QUERY: Readonly<Record<string, string>> = {
  project: "Project id. Default: the token's only project",
  from: "Local date, inclusive, or instant. Default: 29 days before `to`",
  to: "Local date, inclusive, or instant, exclusive. Default: today",
  timezone: "IANA time zone of the local dates. Default: the project's",
  bots: "exclude (default), include or only",
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
  events: z.array(z.record(z.string(), z.unknown())),
  nextCursor: z.string().nullable(),
  tailCursor: z.string(),
});

const BOTS = ["exclude", "include", "only"] as const;
const SEMANTICS =
  "Stored events, newest first by their corrected time, ties by eventId; with `after`, those " +
  "committed since, newest first by receive time. A tail goes on with `tailCursor` as `after` once its " +
  "pages are read: those of one call with `cursor` and the same `after`, until `nextCursor` is null.";

/** Where to go on. Pages of a tail are in another order than those of the list. */
function readPlace(query: URLSearchParams, asOfMs: number) {
  const place = readAll({
    tail: () => readTailCursor(query, asOfMs),
    cursor: () => readPageCursor(query),
  });
  const { tail, cursor } = place;
  if (cursor === null || (cursor.snapshot !== null) === (tail !== null)) return place;
  throw invalidParameter(
    "cursor",
    tail === null
      ? "It is of a page that was asked for with `after`: give the same `after` again."
      : "It is of a page that was asked for without `after`: leave `after` out.",
  );
}

/** The parameters, every bad one told at once. */
function readQuery(query: URLSearchParams, { timezone }: Project, asOf: Date) {
  const { place, ...others } = readAll({
    unknown: () => refuseUnknown(query, Object.keys(EVENT_QUERY)),
    // An interval and a comparison are of no effect, and refused where they would be anywhere else.
    range: () => readTimes(query, timezone, asOf.getTime()).range,
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOTS, "exclude"),
    rows: () => pageRows(query),
    place: () => readPlace(query, asOf.getTime()),
  });
  return { ...others, ...place };
}

/**
 * `GET /v1/events`: a page of stored events, or all of the selection as NDJSON where the caller
 * accepts `application/x-ndjson`.
 * @throws Problem `invalid_parameter`, `range_too_large`, `read_timeout`.
 */
export async function getEvents(
  { reads, fold, segments, readTimeoutMs, project, now }: EventsContext,
  { request, url }: Exchange<unknown>,
): Promise<Response> {
  const query = url.searchParams;
  const asOf = new Date(now());
  const { range, filters, bots, rows, tail, cursor } = readQuery(query, project, asOf);
  const bounded = tail === null || query.has("from") || query.has("to");
  const scope = { projectId: project.projectId, siteHost: siteHostOf(project), bots, filters };
  let selection: EventSelection = { scope, range: bounded ? range : null, tail, folded: null };
  // The snapshot comes first: what it shows is folded after this, and filters can see it.
  const place = filters.length === 0
    ? null
    : { at: asOf.toISOString(), snapshot: await currentSnapshot(reads) };
  if (request.headers.get("accept")?.includes("application/x-ndjson")) {
    // An export has no place to say what it leaves out: it waits until it leaves out nothing.
    if (place !== null) await fold.catchUp(project.projectId);
    const whole = { ...selection, folded: place };
    return exported(reads, whole, cursor, query.has("limit") ? rows : null);
  }
  if (place !== null) await fold.catchUpWithin(project.projectId, FOLD_WAIT_MS_MAX);
  const { page, warnings, pending } = await withinTime(
    reads,
    readTimeoutMs,
    async (sql) => {
      await planJoins(sql, project.projectId);
      const folded = place === null ? null : await foldedPlace(sql, project.projectId, place);
      selection = { ...selection, folded };
      const { pending } = await foldedState(sql, project.projectId);
      const histories: Read["histories"] = (span, filters) =>
        loadMarkedHistories(sql, segments, scope, span, filters);
      // One row more than the page tells whether there is a next one.
      const page = await readStoredEvents(sql, selection, { cursor, rows: rows + 1 }, histories);
      const asking = [{ parameter: "filters", filters }];
      return { page, pending, warnings: await valueWarnings(sql, project.projectId, asking) };
    },
  );
  const shown = page.rows.slice(0, rows);
  const tailCursor = positionAfter(page, selection, cursor, asOf);
  const resolved = {
    project: project.id,
    from: bounded ? range.from.toISOString() : null,
    to: bounded ? range.to.toISOString() : null,
    timezone: range.timezone,
    interval: query.get("interval") || null,
    compare: query.get("compare") || "none",
    filters,
    bots,
    limit: rows,
    cursor: query.get("cursor") || null,
    after: query.get("after") || null,
    semantics: SEMANTICS,
    warnings,
  };
  const result = {
    events: shown.map(shownEvent),
    nextCursor: page.rows.length > rows ? nextCursor(shown, selection, tailCursor) : null,
  };
  return readReply(request, { asOf, pending }, resolved, result, {
    tailCursor: encodeTailCursor(tailCursor),
  });
}

/** From where a tail goes on: all pages of one poll of a tail name the same place. */
function positionAfter(
  page: StoredEventPage,
  { tail, folded }: EventSelection,
  cursor: PageCursor | null,
  asOf: Date,
): TailCursor {
  return tail !== null && cursor !== null && cursor.snapshot !== null
    ? { at: tail.at, snapshot: cursor.snapshot }
    : { at: folded?.at ?? asOf.toISOString(), snapshot: page.snapshot };
}

function pageEnd(
  rows: readonly StoredEventRow[],
  selection: EventSelection,
  snapshot: string | null,
): PageCursor | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const at = selection.tail === null ? last.occurred_at : last.received_at;
  return { at: at.toISOString(), eventId: last.event_id, snapshot };
}

function nextCursor(
  rows: readonly StoredEventRow[],
  selection: EventSelection,
  position: TailCursor,
): string | null {
  const end = pageEnd(rows, selection, selection.tail === null ? null : position.snapshot);
  return end === null ? null : encodePageCursor(end);
}

/** One line an event, a chunk at a time as the reader takes them: memory stays bounded. */
function exported(
  database: Sql,
  selection: EventSelection,
  start: PageCursor | null,
  rowsMax: number | null,
): Response {
  const encoder = new TextEncoder();
  let cursor = start;
  let left = rowsMax ?? Infinity;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const rows = Math.min(EXPORT_CHUNK_ROWS, left);
      const found = rows === 0 ? [] : await database.transaction(async (sql) => {
        await planJoins(sql, selection.scope.projectId);
        return (await readStoredEvents(sql, selection, { cursor, rows })).rows;
      });
      if (found.length > 0) {
        const lines = found.map((row) => JSON.stringify(shownEvent(row)) + "\n");
        controller.enqueue(encoder.encode(lines.join("")));
        cursor = pageEnd(found, selection, cursor?.snapshot ?? null);
        left -= found.length;
      }
      if (found.length < rows || left === 0) controller.close();
    },
  });
  return new Response(stream, {
    headers: { "Content-Type": "application/x-ndjson", "Cache-Control": "no-store" },
  });
}
