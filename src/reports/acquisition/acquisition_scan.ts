import type { AcquisitionDimension } from "../../attribution/dimensions.ts";
import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Sql } from "../../db/sql.ts";
import type { ActorWay } from "../../timelines/actor_way.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { SESSION_GAP_MS } from "../../limits.ts";
import { type EventMatch, type Filter, isSessionField } from "../../query/filters.ts";
import { isBounce } from "../../query/metrics.ts";
import { matchFilters, type Scope, type Span } from "../../query/selection.ts";
import { CLICK, PAGE_VIEW, RESERVED_TERM_MAX, SCROLL } from "../../query/terms.ts";
import { type EventTest, eventTests } from "../../scans/event_tests.ts";
import type { MarkBits } from "../../scans/mark_bits.ts";
import type { Read } from "../../scans/read.ts";
import { sessionsEndByMs } from "../../scans/session_end.ts";
import { type SessionTest, sessionTest } from "../../scans/session_tests.ts";
import { SessionWalk, type WalkedSession } from "../../scans/session_walk.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import { AcquisitionTally, WHOLE } from "./acquisition_tally.ts";
import { Newcomers } from "../new_actors.ts";
import { type NumberedValues, numberValues } from "../session_values.ts";

/** What the figures are of: whom `by` splits, and what counts as a conversion (null: nothing). */
export interface Asked {
  readonly scope: Scope;
  readonly span: Span;
  readonly by: AcquisitionDimension;
  readonly goal: EventMatch | null;
}

/** Which sessions and events pass. */
interface SessionsAndEvents {
  readonly sessions: SessionTest;
  readonly events: EventTest;
}

/** What is counted, by ids. */
interface Counted {
  readonly selected: SessionsAndEvents;
  /** What a conversion is; null: nothing. */
  readonly goal: SessionsAndEvents | null;
  readonly values: NumberedValues;
  /** Of each traffic the least that the same channel rule decided on. */
  readonly ruleOf: Int32Array;
  readonly newcomers: Newcomers;
}

/** Tells whether sessions hold an event that passes a test. */
class HeldEvents {
  readonly #test: EventTest;
  /** Whether nothing that lies in lazy columns decides. */
  readonly #isKnown: boolean;
  /** Whether events of these names may pass. */
  readonly #takesViews: boolean;
  readonly #takesCustoms: boolean;
  readonly #takesClicksOrScrolls: boolean;
  #actor = -1;
  #isHeld = false;
  readonly #visitStretch = (segment: LoadedSegment, start: number, end: number) => {
    if (!this.#isHeld) this.#isHeld = this.#seek(segment, start, end);
  };

  constructor(test: EventTest) {
    this.#test = test;
    this.#isKnown = test.marks === 0 && test.wideMarks === null;
    const { names } = test;
    this.#takesViews = names === null || names[PAGE_VIEW] === 1;
    this.#takesCustoms = names === null || names.indexOf(1, RESERVED_TERM_MAX + 1) >= 0;
    this.#takesClicksOrScrolls = names === null || names[CLICK] === 1 || names[SCROLL] === 1;
  }

  areIn(session: WalkedSession): boolean {
    const { actor, views, customs, entryPath, context } = session;
    // The first page view is known as it is, but for its properties.
    if (
      views > 0 && this.#isKnown &&
      this.#test.passes(PAGE_VIEW, entryPath, context, actor, 0)
    ) return true;
    const mayBeIn = this.#takesViews && views > (this.#isKnown ? 1 : 0) ||
      this.#takesCustoms && customs > 0 ||
      this.#takesClicksOrScrolls;
    if (!mayBeIn) return false;
    this.#actor = actor;
    this.#isHeld = false;
    session.forEachStretch(this.#visitStretch);
    return this.#isHeld;
  }

  #seek(segment: LoadedSegment, start: number, end: number): boolean {
    const { names, paths, contexts, traffics, marks } = segment;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) continue;
      if (this.#test.passes(names[at]!, paths[at]!, contexts[at]!, this.#actor, marks[at]!)) {
        return true;
      }
    }
    return false;
  }
}

/** Follows actors through their sessions, and counts those that start in the span by their values. */
class AcquisitionWalk {
  readonly tally: AcquisitionTally;
  readonly #counted: Counted;
  readonly #span: Span;
  readonly #selected: HeldEvents;
  readonly #converting: HeldEvents | null;
  readonly #walk: SessionWalk;
  /** The last actor who came by, and the last who converted at each place. */
  readonly #lastVisitors: Int32Array;
  readonly #lastConverts: Int32Array;
  /** Whether the actor under way may be new. */
  #mayBeNew = false;

  /** `reach`: from the longest pause of a session before the span to the end of all that cross its end. */
  constructor(counted: Counted, span: Span, reach: Span) {
    const { values, selected, goal } = counted;
    this.tally = new AcquisitionTally(values.idOf);
    this.#counted = counted;
    this.#span = span;
    this.#selected = new HeldEvents(selected.events);
    this.#converting = goal === null ? null : new HeldEvents(goal.events);
    this.#walk = new SessionWalk(reach, (session) => this.#visitSession(session));
    this.#lastVisitors = new Int32Array(values.idOf.length + 1).fill(-1);
    this.#lastConverts = this.#lastVisitors.slice();
  }

  visit(actor: number, way: ActorWay): void {
    const { newcomers, selected: { events } } = this.#counted;
    if (events.actors !== null && events.actors[actor] !== 1) return;
    this.#mayBeNew = newcomers.firstMs(way) !== null;
    this.#walk.visit(actor, way);
  }

  #visitSession(session: WalkedSession): void {
    const { traffic, entryPath, exitPath, startMs, views } = session;
    const { ruleOf, selected: { sessions } } = this.#counted;
    if (traffic === 0 || startMs < this.#span.fromMs || startMs >= this.#span.toMs) return;
    if (!sessions.passes(traffic, entryPath, exitPath) || !this.#selected.areIn(session)) return;
    const place = this.#placeOf(session);
    this.tally.addSessions(place, ruleOf[traffic]!, 1, Number(isBounce(session)), views);
    this.#countVisitor(session.actor, place);
    if (this.#converting !== null) this.#countConvert(session, place, this.#converting);
  }

  #placeOf({ entryPath, context, traffic }: WalkedSession): number {
    const { of, numberOf, idsFrom } = this.#counted.values;
    const id = of === "traffic_id" ? traffic : of === "context_id" ? context : entryPath;
    return numberOf[id - idsFrom]! + 1;
  }

  #countVisitor(actor: number, place: number): void {
    const { visitors } = this.tally;
    const { newcomers } = this.#counted;
    const last = this.#lastVisitors;
    if (last[place] === actor) return;
    last[place] = actor;
    visitors[place]!++;
    if (this.#mayBeNew) newcomers.add(actor, place);
    if (last[WHOLE] === actor) return;
    last[WHOLE] = actor;
    visitors[WHOLE]!++;
    if (this.#mayBeNew) newcomers.add(actor, WHOLE);
  }

  #countConvert(session: WalkedSession, place: number, converting: HeldEvents): void {
    const { actor, traffic, entryPath, exitPath } = session;
    const { conversions } = this.tally;
    const last = this.#lastConverts;
    if (last[place] === actor) return;
    if (!this.#counted.goal!.sessions.passes(traffic, entryPath, exitPath)) return;
    if (!converting.areIn(session)) return;
    last[place] = actor;
    conversions[place]!++;
    if (last[WHOLE] === actor) return;
    last[WHOLE] = actor;
    conversions[WHOLE]!++;
  }
}

async function readRules(sql: Sql, projectId: number): Promise<Int32Array> {
  const [row] = await sql.query<{ pack: string | null }>(
    `SELECT ${packInts(["traffic_id", "least"])} AS pack
    FROM (
      SELECT traffic_id, min(traffic_id) OVER (PARTITION BY rule COLLATE "C") AS least
      FROM traffic WHERE project_id = $1::int
    ) AS alike`,
    [projectId],
  );
  const pairs = unpackInts(row!.pack);
  const ruleOf = new Int32Array(pairs.reduce((max, id) => Math.max(max, id), 0) + 1);
  for (let i = 0; i < pairs.length; i += 2) ruleOf[pairs[i]!] = pairs[i + 1]!;
  return ruleOf;
}

/** The filters on all sessions, and those on sessions that convert. */
const filtersOf = ({ scope, goal }: Asked) => [
  scope.filters,
  ...goal === null ? [] : [matchFilters(goal)],
];

const ofEvents = (filters: readonly Filter[]) =>
  filters.filter(({ field }) => !isSessionField(field));

/** The values with those of some places at the first of these. */
function withFolded(values: NumberedValues, folded: readonly number[]): NumberedValues {
  if (folded.length === 0) return values;
  const isFolded = new Set(folded);
  const first = folded[0]! - 1;
  const numberOf = values.numberOf.map((number) => isFolded.has(number + 1) ? first : number);
  return { ...values, numberOf };
}

async function countedOf(
  sql: Sql,
  asked: Asked,
  bits: MarkBits,
  folded: readonly number[],
): Promise<Counted> {
  const { span, scope, by } = asked;
  const { projectId } = scope;
  const lists = filtersOf(asked);
  const tested = await eventTests(sql, scope, scope.bots, lists.map(ofEvents), bits);
  const tests: SessionsAndEvents[] = [];
  for (const [i, events] of tested.entries()) {
    tests.push({ sessions: await sessionTest(sql, scope, lists[i]!), events });
  }
  const [selected, goal = null] = tests;
  const values = await numberValues(sql, projectId, [by], selected!.events.termMax);
  return {
    selected: selected!,
    goal,
    values: withFolded(values.get(by)!, folded),
    ruleOf: await readRules(sql, projectId),
    newcomers: new Newcomers(span, await readTechnicalNames(sql, projectId)),
  };
}

/** What the values come to, counted in one scan. `folded`: places whose values are counted as one, at the first. */
export async function scanAcquisition(
  source: Pick<Read, "sql" | "histories">,
  asked: Asked,
  folded: readonly number[] = [],
): Promise<AcquisitionTally> {
  const { sql } = source;
  const { scope: { projectId }, span } = asked;
  // Of a session that crosses the beginning of the span, only that it does matters: it does not count.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await sessionsEndByMs(source, projectId, span.toMs),
  };
  const histories = await source.histories(reach, ofEvents(filtersOf(asked).flat()));
  const counted = await countedOf(sql, asked, histories.bits, folded);
  const walk = new AcquisitionWalk(counted, span, reach);
  const visit = (actor: number, way: ActorWay) => walk.visit(actor, way);
  await counted.newcomers.follow(sql, histories, reach, visit, walk.tally.newVisitors);
  return walk.tally.sumUp();
}
