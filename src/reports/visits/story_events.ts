import type { PageCursor } from "../../query/event_cursor.ts";
import type { Span } from "../../query/selection.ts";
import type { EventRow } from "../../store/event_row.ts";
import { rowsAt } from "../../store/segments.ts";
import { LISTED_ROWS_AT_ONCE } from "../../limits.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import { matchPasses } from "../../scans/match_passes.ts";
import type { Read } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { NewestEvents } from "../newest_events.ts";
import type { Goal } from "../goal_definitions.ts";
import { MATCHED_EVENTS } from "./matched_events_visitor.ts";
import { PERSON_EVENTS } from "./person_events_visitor.ts";

type Source = Pick<Read, "sql" | "scope" | "timelines" | "blocks">;

/** An event of a story, and where it is stored. */
export interface StoryEvent {
  readonly row: EventRow;
  readonly segmentId: number;
  readonly place: number;
}

/** Which events of an actor are told, and in which order. */
export interface StoryQuestion {
  readonly actorId: number;
  readonly span: Span;
  /** Whether events of sessions alone are told. */
  readonly ofSessions: boolean;
  readonly order: "oldest" | "newest";
  /** Behind it the page begins; null: with the first. */
  readonly after: PageCursor | null;
  readonly rows: number;
}

/** By time, ties by id. */
function byTime(a: StoryEvent, b: StoryEvent): number {
  const [one, other] = [a.row, b.row];
  if (one.occurred_at !== other.occurred_at) return one.occurred_at < other.occurred_at ? -1 : 1;
  return one.event_id < other.event_id ? -1 : 1;
}

/** The span without what lies on the page's wrong side of the cursor. */
function spanBehind({ span, order, after }: StoryQuestion): Span {
  if (after === null) return span;
  const ms = Date.parse(after.at);
  return order === "newest"
    ? { fromMs: span.fromMs, toMs: Math.min(span.toMs, ms + 1) }
    : { fromMs: Math.max(span.fromMs, ms), toMs: span.toMs };
}

/** Whether an event lies behind a cursor. */
function isBehind({ row }: StoryEvent, { order, after }: StoryQuestion): boolean {
  if (after === null) return true;
  const differs = row.occurred_at !== after.at;
  const isLater = differs ? row.occurred_at > after.at : row.event_id > after.eventId;
  return row.event_id !== after.eventId && isLater === (order === "oldest");
}

/**
 * The next events of an actor that `bots` and the filters of the scope let through, in their order; one
 * more than `rows` where others follow.
 */
export async function storyEvents(
  source: Source,
  question: StoryQuestion,
): Promise<StoryEvent[]> {
  const { sql, scope, blocks } = source;
  const { actorId, ofSessions, order, after, rows } = question;
  const span = spanBehind(question);
  if (span.fromMs >= span.toMs) return [];
  const selected = await selectTimelines(source, span);
  const { eventFilters, timelines } = selected;
  const test = await eventPassesOf(sql, scope, scope.bots, eventFilters, timelines.bits);
  const sign = order === "newest" ? 1 : -1;
  const edgeMs = after === null ? NaN : sign * Date.parse(after.at);
  const wanted = rows + 1;
  const newest = new NewestEvents(wanted, edgeMs);
  const inputs = { actor: actorId, span, test, ofSessions, sign, rows: wanted, edgeMs } as const;
  newest.add(await selected.scan(PERSON_EVENTS, () => inputs, true));
  newest.thin();
  const { segmentIds, places } = newest;
  let listed: StoryEvent[] = [];
  const rowsAtOnce = Math.max(wanted, LISTED_ROWS_AT_ONCE);
  for (let from = 0; from < places.length; from += rowsAtOnce) {
    const asked = places.slice(from, from + rowsAtOnce)
      .map((place, i) => ({ segmentId: segmentIds[from + i]!, place }));
    const found = await rowsAt(sql, scope.projectId, asked, blocks);
    const behind = found.map((row, i): StoryEvent => ({ row, ...asked[i]! }))
      .filter((event) => isBehind(event, question));
    listed = [...listed, ...behind].sort((a, b) => -sign * byTime(a, b)).slice(0, wanted);
  }
  return listed;
}

/** Of each event the slugs of the goals that it is a conversion of, under `bots` and no other filter. */
export async function goalsOfEvents(
  { sql, scope, timelines }: Source,
  actorId: number,
  events: readonly StoryEvent[],
  goals: readonly Goal[],
): Promise<string[][]> {
  if (events.length === 0 || goals.length === 0) return events.map(() => []);
  const times = events.map(({ row }) => Date.parse(row.occurred_at));
  const span = {
    fromMs: times.reduce((min, ms) => Math.min(min, ms)),
    toMs: times.reduce((max, ms) => Math.max(max, ms)) + 1,
  };
  const unfiltered = { ...scope, filters: [] };
  const source = { sql, scope: unfiltered, timelines };
  const selected = await selectTimelines(source, span, {
    filters: goals.flatMap(({ match }) => match.filters),
  });
  const asked = goals.map(({ match }) => match);
  const places = Map.groupBy(events, ({ segmentId }) => segmentId);
  const inputs = {
    actor: actorId,
    places: new Map([...places].map(([id, some]) => [id, new Set(some.map(({ place }) => place))])),
    matches: await matchPasses(sql, unfiltered, asked, selected.timelines.bits),
  };
  const found = await selected.scan(MATCHED_EVENTS, () => inputs, true);
  const taken = new Map<string, number[]>();
  for (const [i, match] of found.matches.entries()) {
    const key = `${found.segmentIds[i]} ${found.places[i]}`;
    taken.set(key, [...taken.get(key) ?? [], match]);
  }
  return events.map(({ segmentId, place }) =>
    (taken.get(`${segmentId} ${place}`) ?? []).sort((a, b) => a - b)
      .map((match) => goals[match]!.slug)
  );
}
