import { type ActorWay, lengthened } from "../histories/actor_way.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import type { Span } from "../selection/selection.ts";
import { CLICK, PAGE_VIEW, RESERVED_TERM_MAX, SCROLL } from "../selection/terms.ts";
import type { EventTest } from "./event_tests.ts";
import type { SessionTest } from "./session_tests.ts";
import { SessionWalk, type WalkedSession } from "./session_walk.ts";
import { firstCountedMs, type TechnicalNames } from "./technical_names.ts";

/** Ids by what they stand for: those of one value have one number, counted from 0. */
export interface NumberedIds {
  readonly idsFrom: number;
  /** The number of id i stands at `i - idsFrom`. */
  readonly numberOf: Int32Array;
  /** Of each number one id that has it. */
  readonly idOf: Int32Array;
}

/** Which of the ids of a session tells its value. */
export type ValueId = "entry_path_id" | "context_id" | "traffic_id";

/** Which sessions and events pass. */
export interface SessionsAndEvents {
  readonly sessions: SessionTest;
  readonly events: EventTest;
}

/** What the walk counts. */
export interface CountedSessions {
  readonly span: Span;
  readonly valueId: ValueId;
  readonly values: NumberedIds;
  /** Channel rules, by the ids of traffic. */
  readonly rules: NumberedIds;
  readonly selected: SessionsAndEvents;
  /** What a conversion is; null: nothing. */
  readonly goal: SessionsAndEvents | null;
  readonly technical: TechnicalNames;
}

/** The place of everything together; those of the values follow. */
export const WHOLE = 0;

/** Two numbers a row, in as many rows as there are. */
class Pairs {
  first = new Int32Array(1_024);
  second = new Int32Array(1_024);
  length = 0;

  add(first: number, second: number): void {
    if (this.length === this.first.length) {
      this.first = lengthened(this.first);
      this.second = lengthened(this.second);
    }
    this.first[this.length] = first;
    this.second[this.length++] = second;
  }
}

/** What values come to, by place: the whole, then each value's number + 1. */
export class AcquisitionTally {
  readonly visitors: Int32Array;
  readonly newVisitors: Int32Array;
  readonly sessions: Int32Array;
  readonly bounces: Int32Array;
  readonly pageviews: Int32Array;
  readonly conversions: Int32Array;
  /** Places, and whose first event in the histories may be the first ever: who is new is known later. */
  readonly newcomers = new Pairs();
  /** Place and rule of each session: which rules prevail is asked of few values. */
  readonly #rules = new Pairs();

  constructor(values: number, readonly ruleCount: number) {
    const counts = () => new Int32Array(values + 1);
    this.visitors = counts();
    this.newVisitors = counts();
    this.sessions = counts();
    this.bounces = counts();
    this.pageviews = counts();
    this.conversions = counts();
  }

  countSession({ views, customs }: WalkedSession, place: number, rule: number): void {
    this.sessions[place]!++;
    this.pageviews[place]! += views;
    if (views <= 1 && customs === 0) this.bounces[place]!++;
    this.#rules.add(place, rule);
  }

  /** Ends the count. `news`: 1 at the place of each actor whose first event ever lies in the span; null: all. */
  end(news: Uint8Array | null): void {
    const { first: actors, second: places, length } = this.newcomers;
    for (let i = 0; i < length; i++) {
      if (news === null || news[actors[i]!] === 1) this.newVisitors[places[i]!]!++;
    }
    for (const counts of [this.sessions, this.bounces, this.pageviews]) {
      for (let place = 1; place < counts.length; place++) counts[WHOLE]! += counts[place]!;
    }
  }

  /** Sessions of each of these places by rule: those of place i from `i * ruleCount` on. */
  rulesOf(places: readonly number[]): Int32Array {
    const { ruleCount } = this;
    const wanted = new Int32Array(this.sessions.length).fill(-1);
    for (const [i, place] of places.entries()) wanted[place] = i * ruleCount;
    const counts = new Int32Array(places.length * ruleCount);
    const { first, second, length } = this.#rules;
    for (let i = 0; i < length; i++) {
      const at = wanted[first[i]!]!;
      if (at >= 0) counts[at + second[i]!]!++;
    }
    return counts;
  }
}

/** Tells whether sessions hold an event that passes a test. */
class HeldEvents {
  readonly #test: EventTest;
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
    const { names } = test;
    this.#takesViews = names === null || names[PAGE_VIEW] === 1;
    this.#takesCustoms = names === null || names.indexOf(1, RESERVED_TERM_MAX + 1) >= 0;
    this.#takesClicksOrScrolls = names === null || names[CLICK] === 1 || names[SCROLL] === 1;
  }

  areIn(session: WalkedSession): boolean {
    const { actor, views, customs, entryPath, context } = session;
    // The first page view is known as it is, but for its properties.
    if (
      views > 0 && this.#test.marks === 0 &&
      this.#test.passes(PAGE_VIEW, entryPath, context, actor, 0)
    ) return true;
    const mayBeIn = this.#takesViews && views > (this.#test.marks === 0 ? 1 : 0) ||
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
export class AcquisitionWalk {
  readonly tally: AcquisitionTally;
  readonly #asked: CountedSessions;
  readonly #selected: HeldEvents;
  readonly #converting: HeldEvents | null;
  readonly #walk: SessionWalk;
  /** The last actor who came by, and the last who converted at each place. */
  readonly #lastVisitors: Int32Array;
  readonly #lastConverts: Int32Array;
  /** Whether the first event of the actor under way may be in the span. */
  #mayBeNew = false;

  /** `reach`: from the longest pause of a session before the span to the end of all that cross its end. */
  constructor(asked: CountedSessions, reach: Span) {
    const { values, rules, selected, goal } = asked;
    this.tally = new AcquisitionTally(values.idOf.length, rules.idOf.length);
    this.#asked = asked;
    this.#selected = new HeldEvents(selected.events);
    this.#converting = goal === null ? null : new HeldEvents(goal.events);
    this.#walk = new SessionWalk(reach, (session) => this.#visitSession(session));
    this.#lastVisitors = new Int32Array(values.idOf.length + 1).fill(-1);
    this.#lastConverts = this.#lastVisitors.slice();
  }

  visit(actor: number, way: ActorWay): void {
    const { span, technical, selected: { events } } = this.#asked;
    if (events.actors !== null && events.actors[actor] !== 1) return;
    this.#mayBeNew = firstCountedMs(way, technical) >= span.fromMs;
    this.#walk.visit(actor, way);
  }

  #visitSession(session: WalkedSession): void {
    const { span, selected: { sessions } } = this.#asked;
    const { traffic, entryPath, exitPath, startMs } = session;
    if (traffic === 0 || startMs < span.fromMs || startMs >= span.toMs) return;
    if (!sessions.passes(traffic, entryPath, exitPath) || !this.#selected.areIn(session)) return;
    const { rules } = this.#asked;
    const place = this.#placeOf(session);
    this.tally.countSession(session, place, rules.numberOf[traffic - rules.idsFrom]!);
    this.#countVisitor(session.actor, place);
    if (this.#converting !== null) this.#countConvert(session, place, this.#converting);
  }

  #placeOf({ entryPath, context, traffic }: WalkedSession): number {
    const { valueId, values } = this.#asked;
    const id = valueId === "traffic_id" ? traffic : valueId === "context_id" ? context : entryPath;
    return values.numberOf[id - values.idsFrom]! + 1;
  }

  #countVisitor(actor: number, place: number): void {
    const { visitors, newcomers } = this.tally;
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
    if (!this.#asked.goal!.sessions.passes(traffic, entryPath, exitPath)) return;
    if (!converting.areIn(session)) return;
    last[place] = actor;
    conversions[place]!++;
    if (last[WHOLE] === actor) return;
    last[WHOLE] = actor;
    conversions[WHOLE]!++;
  }
}
