import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import type { PageCursor, TailCursor } from "../../query/event_cursor.ts";
import type { Range } from "../../query/range.ts";
import type { SavedSegment } from "../../query/saved_segment.ts";
import { isNarrowed, type Scope } from "../../query/selection.ts";
import { withTimelines } from "../../scans/filtered_timelines.ts";
import { ofSegment } from "../answer/asked_segment.ts";
import { listEvents, type ListSource } from "./event_list.ts";
import { listedFrom } from "./list_place.ts";
import { refuseExpired, type TailEvent, tailEvents } from "./event_tail.ts";
import type { ExportSeats } from "./export_seats.ts";
import { currentSnapshot, projectedPlace } from "./projected_place.ts";
import type { ReportServices } from "../answer/report_endpoint.ts";

/** The services of the read, and a project that the token may read. */
export interface EventsContext extends ReportServices {
  readonly project: Project;
  readonly exports: ExportSeats;
}

/** Which events a request selects. */
export interface Selection {
  readonly scope: Scope;
  /** The span of the events' own times; null for a tail without dates. */
  readonly range: Range | null;
  readonly tail: TailCursor | null;
  /** Null: the events of all people. */
  readonly segment: SavedSegment | null;
  /** The range to which the conditions of a segment apply. */
  readonly asked: Range;
}

/**
 * Reads a page of `rows` events, and one event more if others follow. `position`: where the next poll of a tail
 * begins; the same for all pages of one poll.
 */
export async function readPage(
  source: ListSource,
  { range, tail }: Selection,
  cursor: PageCursor | null,
  rows: number,
  asOf: Date,
): Promise<{ events: TailEvent[]; position: TailCursor & { readonly snapshot: string } }> {
  const { sql, scope } = source;
  // Filters see projected events only; a tail from this position shows the others later.
  const positionNow = async () =>
    isNarrowed(scope)
      ? await projectedPlace(sql, scope.projectId, asOf.toISOString())
      : { at: asOf.toISOString(), snapshot: await currentSnapshot(sql) };
  if (tail === null) {
    const { span, place } = listedFrom(range!, cursor);
    const listing = listEvents(source, span, place, rows + 1);
    // Sent after the list's first statements, for whose answers the list waits. If it fails, nothing awaits this.
    const position = positionNow();
    position.catch(() => {});
    const listed = await listing;
    return { events: listed.map((row) => ({ journalId: 0, row })), position: await position };
  }
  await refuseExpired(sql, scope.projectId, tail);
  const page = cursor?.tail ?? null;
  const position = page === null
    ? await positionNow()
    : { at: cursor!.at, snapshot: page.snapshot };
  const selection = { after: tail, until: position.snapshot, range };
  return { events: await tailEvents(source, selection, page, rows + 1), position };
}

/** Returns the cursor of the next page; null after the last page. */
export function nextCursor(
  { events, position }: Awaited<ReturnType<typeof readPage>>,
  rows: number,
  isTail: boolean,
): PageCursor | null {
  const last = events[rows - 1];
  if (last === undefined || events.length <= rows) return null;
  const { journalId, row: { occurred_at, event_id: eventId } } = last;
  if (!isTail) return { at: occurred_at, eventId, tail: null };
  const { at, snapshot } = position;
  return { at, eventId, tail: { snapshot, journalId, eventId } };
}

/** Runs `work` on one snapshot of the database. */
export function onSnapshot<T>(
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
