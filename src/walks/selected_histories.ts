import type { Sql } from "../db/sql.ts";
import { walkActors } from "../histories/actor_walk.ts";
import { type ActorWay, GrowingWay } from "../histories/actor_way.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { walkRuns } from "../histories/run_walk.ts";
import { type Filter, isSessionField } from "../selection/filters.ts";
import type { Span } from "../selection/selection.ts";
import { isKnownToHistories } from "./event_tests.ts";
import type { MarkedHistories } from "./marked_histories.ts";
import type { Read } from "./read.ts";
import { sessionsEndByMs, sessionsStartMs } from "./session_end.ts";
import { type SessionTest, sessionTest } from "./session_tests.ts";
import { SessionWalk, type WalkedSession } from "./session_walk.ts";

/** Histories of a read, and which sessions of them its filters let through. */
export interface SelectedHistories {
  readonly histories: MarkedHistories;
  /** The read's filters on events: those that each event must still be tested for. */
  readonly eventFilters: readonly Filter[];
  /** Where sessions matter, all that have an event in the span lie whole in it; else it is the span. */
  readonly reach: Span;
  /** Null: no filter is on sessions. */
  readonly sessions: SessionTest | null;
}

/** Visits what an actor did in a segment, from the event `start` to before `end`. */
export type VisitStretch = (
  actor: number,
  segment: LoadedSegment,
  start: number,
  end: number,
) => void;

/** Whether a read's filters can be told from histories: those on sessions too, as they hold for all of it. */
export function isScopeKnownToHistories(filters: readonly Filter[]): boolean {
  return isKnownToHistories(filters.filter(({ field }) => !isSessionField(field)));
}

/**
 * Histories with all events of a span, and the whole of the sessions that cross its edges where
 * filters on sessions, or the caller, need it. Null where the filters cannot be told, or no histories
 * are at hand.
 * @param others filters on events that matter beside those of the scope
 * @param needsSessions whether sessions matter even if no filter is on them
 */
export async function selectHistories(
  source: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
  others: readonly Filter[] = [],
  needsSessions = false,
): Promise<SelectedHistories | null> {
  const { sql, scope, histories } = source;
  const { projectId, filters } = scope;
  if (!isScopeKnownToHistories(filters)) return null;
  const eventFilters = filters.filter(({ field }) => !isSessionField(field));
  const marking = [...eventFilters, ...others];
  const isOfSessions = eventFilters.length < filters.length;
  const reach: Span = isOfSessions || needsSessions
    ? {
      fromMs: await sessionsStartMs(source, projectId, span.fromMs),
      toMs: await sessionsEndByMs(source, projectId, span.toMs),
    }
    : span;
  const loaded = await histories(reach, marking);
  if (loaded === null) return null;
  const sessions = isOfSessions ? await sessionTest(sql, scope, filters) : null;
  return { histories: loaded, eventFilters, reach, sessions };
}

/** What is left of an actor's way: the sessions that pass, and what is in none if that passes. */
class PassingWay extends GrowingWay {
  constructor(segments: readonly LoadedSegment[], readonly test: SessionTest) {
    super(segments);
  }

  take(session: WalkedSession): void {
    const { test } = this;
    const passes = session.traffic !== 0 &&
      test.passes(session.traffic, session.entryPath, session.exitPath);
    if (!session.hasOthers || passes === test.passesNone) {
      if (passes) session.forEachStretch((_, start, end, place) => this.add(place, start, end));
      return;
    }
    session.forEachStretch(({ traffics }, start, end, place) => {
      for (let at = start; at < end; at++) {
        if ((traffics[at] === 0) !== passes) this.add(place, at, at + 1);
      }
    });
  }
}

/**
 * Visits every actor with all events in sessions that pass, in order: see `walkActors`. Events of
 * the span's edges may lie outside of it; filters on events are the visitor's to apply.
 */
export async function walkSelected(
  sql: Sql,
  { histories, reach, sessions }: SelectedHistories,
  visit: (actor: number, way: ActorWay) => void,
): Promise<void> {
  if (sessions === null) return await walkActors(sql, histories, visit);
  const passing = new PassingWay(histories.segments, sessions);
  const walk = new SessionWalk(reach, (session) => passing.take(session));
  await walkActors(sql, histories, (actor, way) => {
    passing.clear();
    walk.visit(actor, way);
    if (passing.end > 0) visit(actor, passing);
  });
}

/** `walkSelected`, stretch by stretch. */
export async function walkSelectedStretches(
  sql: Sql,
  selected: SelectedHistories,
  visit: VisitStretch,
): Promise<void> {
  await walkSelected(sql, selected, (actor, way) => {
    const { segments, segmentOf, starts, ends } = way;
    for (let i = way.first; i < way.end; i++) {
      visit(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!);
    }
  });
}

/**
 * Visits all events in sessions that pass, stretch by stretch, those of an actor not together: where
 * that does not matter it is quicker than `walkSelectedStretches`.
 */
export async function walkSelectedRuns(
  sql: Sql,
  selected: SelectedHistories,
  visit: VisitStretch,
): Promise<void> {
  if (selected.sessions === null) await walkRuns(selected.histories, visit);
  else await walkSelectedStretches(sql, selected, visit);
}
