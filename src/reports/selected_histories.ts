import type { Sql } from "../db/sql.ts";
import { type ActorWay, walkActors } from "../histories/actor_walk.ts";
import type { Histories } from "../histories/histories.ts";
import { walkRuns } from "../histories/run_walk.ts";
import type { LoadedSegment } from "../histories/segment_cache.ts";
import { isHeldByHistories } from "./event_tests.ts";
import { type Filter, isSessionField } from "./filters.ts";
import type { Read } from "./report.ts";
import type { Span } from "./selection.ts";
import { sessionsEndByMs, sessionsStartMs } from "./session_end.ts";
import { type SessionTest, sessionTest } from "./session_tests.ts";
import { SessionWalk, type WalkedSession } from "./session_walk.ts";

/** Histories of a read, and which sessions of them its filters let through. */
export interface SelectedHistories {
  readonly histories: Histories;
  /** The read's filters on events: those that each event must still be tested for. */
  readonly eventFilters: readonly Filter[];
  /** Null: no filter is on sessions. */
  readonly sessions: { readonly test: SessionTest; readonly reach: Span } | null;
}

/** Whether a read's filters can be told from histories: those on sessions too, as they hold for all of it. */
export function isScopeKnownToHistories(filters: readonly Filter[]): boolean {
  return filters.every(({ field }) => isHeldByHistories(field) || isSessionField(field));
}

/**
 * Histories with all events of a span, and the whole of the sessions that cross its edges where
 * filters on sessions need it. Null where the filters cannot be told, or no histories are at hand.
 */
export async function selectHistories(
  source: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
): Promise<SelectedHistories | null> {
  const { sql, scope, histories } = source;
  const { projectId, filters } = scope;
  if (!isScopeKnownToHistories(filters)) return null;
  const eventFilters = filters.filter(({ field }) => !isSessionField(field));
  if (eventFilters.length === filters.length) {
    const loaded = await histories(span);
    return loaded === null ? null : { histories: loaded, eventFilters, sessions: null };
  }
  const reach: Span = {
    fromMs: await sessionsStartMs(source, projectId, span.fromMs),
    toMs: await sessionsEndByMs(source, projectId, span.toMs),
  };
  const loaded = await histories(reach);
  if (loaded === null) return null;
  const test = await sessionTest(sql, scope, filters);
  return { histories: loaded, eventFilters, sessions: { test, reach } };
}

/** What is left of an actor's way: the sessions that pass, and what is in none if that passes. */
class PassingWay implements ActorWay {
  count = 0;
  readonly segments: LoadedSegment[] = [];
  starts = new Int32Array(64);
  ends = new Int32Array(64);

  constructor(readonly test: SessionTest) {}

  take(session: WalkedSession): void {
    const { test } = this;
    const passes = session.traffic !== 0 &&
      test.passes(session.traffic, session.entryPath, session.exitPath);
    if (!session.hasOthers || passes === test.passesNone) {
      if (passes) session.forEachStretch((segment, start, end) => this.#add(segment, start, end));
      return;
    }
    session.forEachStretch((segment, start, end) => {
      for (let at = start; at < end; at++) {
        if ((segment.traffics[at] === 0) !== passes) this.#add(segment, at, at + 1);
      }
    });
  }

  #add(segment: LoadedSegment, start: number, end: number): void {
    const last = this.count - 1;
    if (last >= 0 && this.segments[last] === segment && this.ends[last] === start) {
      this.ends[last] = end;
      return;
    }
    if (this.count === this.starts.length) {
      const longer = (list: Int32Array) => {
        const grown = new Int32Array(2 * list.length);
        grown.set(list);
        return grown;
      };
      this.starts = longer(this.starts);
      this.ends = longer(this.ends);
    }
    this.segments[this.count] = segment;
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }
}

/**
 * Visits every actor with all events in sessions that pass, in order: see `walkActors`. Events of
 * the span's edges may lie outside of it; filters on events are the visitor's to apply.
 */
export async function walkSelected(
  sql: Sql,
  { histories, sessions }: SelectedHistories,
  visit: (actor: number, way: ActorWay) => void,
): Promise<void> {
  if (sessions === null) return await walkActors(sql, histories, visit);
  const passing = new PassingWay(sessions.test);
  const walk = new SessionWalk(sessions.reach, (session) => passing.take(session));
  await walkActors(sql, histories, (actor, way) => {
    passing.count = 0;
    walk.visit(actor, way);
    if (passing.count > 0) visit(actor, passing);
  });
}

/**
 * Visits all events in sessions that pass, stretch by stretch, those of an actor not together: where
 * that does not matter it is quicker than `walkSelected`.
 */
export async function walkSelectedRuns(
  sql: Sql,
  selected: SelectedHistories,
  visit: (actor: number, segment: LoadedSegment, start: number, end: number) => void,
): Promise<void> {
  if (selected.sessions === null) return await walkRuns(selected.histories, visit);
  await walkSelected(sql, selected, (actor, way) => {
    for (let i = 0; i < way.count; i++) {
      visit(actor, way.segments[i]!, way.starts[i]!, way.ends[i]!);
    }
  });
}
