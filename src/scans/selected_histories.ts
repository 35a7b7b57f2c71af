import type { Sql } from "../db/sql.ts";
import { type VisitActor, walkActors } from "../timelines/actor_walk.ts";
import { type ActorWay, GrowingWay } from "../timelines/actor_way.ts";
import type { LazyColumn } from "../timelines/lazy_columns.ts";
import { type VisitRun, walkRuns } from "../timelines/run_walk.ts";
import { type Filter, isSessionField } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
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

/** What a read needs of histories beside its scope. */
export interface Needed {
  /** Filters on events that matter too. */
  readonly filters?: readonly Filter[];
  /** What visits find on segments beside the columns of all reads. */
  readonly columns?: readonly LazyColumn[];
  /** Whether sessions matter even if no filter is on them. */
  readonly sessions?: boolean;
}

/**
 * Histories with all events of a span, and the whole of the sessions that cross its edges where
 * filters on sessions, or the caller, need it.
 */
export async function selectHistories(
  source: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
  { filters: others = [], columns = [], sessions: needsSessions = false }: Needed = {},
): Promise<SelectedHistories> {
  const { sql, scope, histories } = source;
  const { projectId, filters } = scope;
  const eventFilters = filters.filter(({ field }) => !isSessionField(field));
  const marking = [...eventFilters, ...others];
  const isOfSessions = eventFilters.length < filters.length;
  const asksForSessions = needsSessions || others.some(({ field }) => isSessionField(field));
  const reach: Span = isOfSessions || asksForSessions
    ? {
      fromMs: await sessionsStartMs(source, projectId, span.fromMs),
      toMs: await sessionsEndByMs(source, projectId, span.toMs),
    }
    : span;
  const loaded = await histories(reach, marking, columns);
  const sessions = isOfSessions ? await sessionTest(sql, scope, filters) : null;
  return { histories: loaded, eventFilters, reach, sessions };
}

/** What is left of an actor's way: the sessions that pass, and what is in none if that passes. */
class PassingWay extends GrowingWay {
  constructor(readonly test: SessionTest) {
    super();
  }

  /** Goes on with another actor. */
  open({ segments }: ActorWay): void {
    this.segments = segments;
    this.clear();
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
  visit: VisitActor,
): Promise<void> {
  if (sessions === null) return await walkActors(sql, histories, visit);
  const passing = new PassingWay(sessions);
  const walk = new SessionWalk(reach, (session) => passing.take(session));
  await walkActors(sql, histories, (actor, way) => {
    passing.open(way);
    walk.visit(actor, way);
    if (passing.end > 0) visit(actor, passing);
  });
}

/** Visits what an actor did stretch by stretch. */
export function byStretch(visit: VisitRun): VisitActor {
  return (actor, { segments, segmentOf, starts, ends, first, end }) => {
    for (let i = first; i < end; i++) visit(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!);
  };
}

/** `walkSelected`, stretch by stretch. */
export async function walkSelectedStretches(
  sql: Sql,
  selected: SelectedHistories,
  visit: VisitRun,
): Promise<void> {
  await walkSelected(sql, selected, byStretch(visit));
}

/**
 * Visits all events in sessions that pass, stretch by stretch, those of an actor not together: where
 * that does not matter it is quicker than `walkSelectedStretches`.
 */
export async function walkSelectedRuns(
  sql: Sql,
  selected: SelectedHistories,
  visit: VisitRun,
): Promise<void> {
  if (selected.sessions === null) await walkRuns(selected.histories, visit);
  else await walkSelectedStretches(sql, selected, visit);
}
