import { encodePageCursor, type PageCursor, readPageCursor } from "../../query/event_cursor.ts";
import { invalidCursor } from "../../query/parameters.ts";
import type { Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { type EventPlace, rowsAt } from "../../store/rows_by_place.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import { firstInOrder, newestFirst } from "../newest/first_in_order.ts";
import type { Goal } from "../saved/goal_definitions.ts";
import { selectEvents, selectMatches } from "../../scans/selected_events.ts";
import { type Watched, WATCHED_COUNTS } from "./watched_visitor.ts";
import { PERSON_EVENTS } from "./person_events_visitor.ts";

type StorySource = ScanSource & Pick<Read, "rowCache">;

/** An event of a visit or a person, and where it is stored. */
export interface StoryEvent extends EventPlace {
  readonly row: EventRow;
}

export const msOf = ({ row }: StoryEvent): number => Date.parse(row.occurred_at);

/** Which events of an actor are listed, and in which order. */
export interface StoryQuestion {
  readonly actorId: number;
  readonly span: Span;
  /** Whether only events of sessions are listed. */
  readonly ofSessions: boolean;
  readonly order: "oldest" | "newest";
  /** The last event of the page before; null: the page is the first. */
  readonly after: PageCursor | null;
  readonly rows: number;
}

/** Reads the `cursor` of a list that is not a tail; null: it is not given. */
export function readStoryCursor(query: URLSearchParams): PageCursor | null {
  const cursor = readPageCursor(query);
  if (cursor === null || cursor.tail === null) return cursor;
  throw invalidCursor();
}

/** Returns the cursor of the page that begins after an event. */
export function cursorAt({ row }: StoryEvent): PageCursor {
  return { at: row.occurred_at, eventId: row.event_id, tail: null };
}

/** Returns that cursor as text. */
export const encodeStoryCursor = (event: StoryEvent): string => encodePageCursor(cursorAt(event));

/** Returns the part of the span that lies after the cursor in the order of the list. */
function spanAfterCursor({ span, order, after }: StoryQuestion): Span {
  if (after === null) return span;
  const ms = Date.parse(after.at);
  return order === "newest"
    ? { fromMs: span.fromMs, toMs: Math.min(span.toMs, ms + 1) }
    : { fromMs: Math.max(span.fromMs, ms), toMs: span.toMs };
}

/** Tells whether an event comes after the cursor in the order of the list. */
function isAfterCursor({ row }: StoryEvent, { order, after }: StoryQuestion): boolean {
  if (after === null) return true;
  const differs = row.occurred_at !== after.at;
  const isLater = differs ? row.occurred_at > after.at : row.event_id > after.eventId;
  return row.event_id !== after.eventId && isLater === (order === "oldest");
}

/**
 * Lists the next events of an actor that pass `bots` and the filters of the scope, in order; one more than
 * `rows` if others follow.
 */
export async function storyEvents(
  source: StorySource,
  question: StoryQuestion,
): Promise<StoryEvent[]> {
  const { sql, scope, rowCache } = source;
  const { actorId, ofSessions, order, after, rows } = question;
  const span = spanAfterCursor(question);
  if (span.fromMs >= span.toMs) return [];
  const { selected, test } = await selectEvents(source, span);
  const sign = order === "newest" ? 1 : -1;
  const edgeMs = after === null ? NaN : sign * Date.parse(after.at);
  const wanted = rows + 1;
  const inputs = { actor: actorId, span, test, ofSessions, sign, rows: wanted, edgeMs } as const;
  const { segmentIds, places } = await selected.scan(
    PERSON_EVENTS,
    () => inputs,
    { byRun: true },
  );
  const compare = (a: StoryEvent, b: StoryEvent) => sign * newestFirst(a.row, b.row);
  return await firstInOrder(places.length, wanted, compare, async (from, to) => {
    const stored = places.slice(from, to)
      .map((place, i) => ({ segmentId: segmentIds[from + i]!, place }));
    const found = await rowsAt(sql, scope.projectId, stored, rowCache);
    return found.map((row, i): StoryEvent => ({ row, ...stored[i]! }))
      .filter((event) => isAfterCursor(event, question));
  });
}

/** Returns for each event the slugs of the goals that it reaches, under `bots` and no other filter. */
export async function goalsOfEvents(
  { sql, scope, timelines }: StorySource,
  actorId: number,
  events: readonly StoryEvent[],
  goals: readonly Goal[],
): Promise<string[][]> {
  if (events.length === 0 || goals.length === 0) return events.map(() => []);
  const times = new Set(events.map(msOf));
  const watched = [...times].sort((a, b) => a - b)
    .map((ms): Watched => ({ actor: actorId, fromMs: ms, toMs: ms + 1 }));
  const span = { fromMs: watched[0]!.fromMs, toMs: watched.at(-1)!.toMs };
  const source = { sql, scope: { ...scope, filters: [] }, timelines };
  const goalMatches = goals.map(({ match }) => match);
  const { selected, matches } = await selectMatches(source, span, goalMatches);
  const summed = goals.map(() => null);
  const inputs = { watched, ofSessions: false, matches, summed, isListing: true };
  const { taken } = await selected.scan(WATCHED_COUNTS, () => inputs, { byRun: true });
  const keyOf = ({ segmentId, place }: EventPlace) => `${segmentId} ${place}`;
  const takenAt = Map.groupBy(taken, keyOf);
  return events.map((event) =>
    (takenAt.get(keyOf(event)) ?? []).sort((a, b) => a.match - b.match)
      .map(({ match }) => goals[match]!.slug)
  );
}
