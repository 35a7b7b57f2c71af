import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { isBounce } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { EventInSession } from "../../scans/event_in_session.ts";
import { numberAt } from "../../scans/number_columns.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import { passesSession, type SessionPasses } from "../../scans/session_test.ts";
import { joinColumns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { NewcomerFinder, type NewcomerInputs, type Pairs } from "../visitors/newcomers.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";
import type { NumberedValues } from "../visitors/session_values.ts";
import {
  AcquisitionCounter,
  type AcquisitionTally,
  addTallies,
  WHOLE,
} from "./acquisition_tally.ts";

/** Which sessions and events pass. */
export interface SessionsAndEvents {
  readonly sessions: SessionPasses;
  readonly events: EventPasses;
}

/** What the visitor counts; values, rules and tests are by id. */
export interface AcquisitionInputs {
  readonly selected: SessionsAndEvents;
  /** What a conversion is; null: none are counted. */
  readonly goal: SessionsAndEvents | null;
  /**
   * Null: conversions have no value. Else the property whose numbers are summed, which must be prepared: see
   * `prepareNumbers`; null: all conversions are worth the same.
   */
  readonly worth: { readonly property: string | null } | null;
  readonly values: NumberedValues;
  readonly rules: NumberedRules;
  readonly newcomers: NewcomerInputs;
  readonly span: Span;
  /** From one session gap before the span to the end of the sessions that cross its end. */
  readonly reach: Span;
  /**
   * The row whose sessions are listed; null: none. `places`: 1 for its places; `isOfConversions`: only each
   * actor's first session that reaches the goal is listed.
   */
  readonly listed: { readonly places: Uint8Array; readonly isOfConversions: boolean } | null;
}

/** The channel rules, numbered from 0. */
export interface NumberedRules {
  /** By traffic id. */
  readonly ruleOf: Int32Array;
  /** By rule: the id of a traffic whose channel it determined. */
  readonly trafficOf: readonly number[];
}

interface CountedSessions {
  readonly tally: AcquisitionTally;
  /** Actors who may be new, and the places at which they then count. */
  readonly newcomers: Pairs;
  /** The listed sessions: their actors, and when they started. */
  readonly behind: Behind;
}

function testsOf({ sessions, events }: SessionsAndEvents, words: readonly Int32Array[]) {
  const test = new EventTest(events, words);
  return { sessions, events: test, inSession: new EventInSession(test) };
}

type Tests = ReturnType<typeof testsOf>;

/** Follows actors through their sessions, and counts the sessions that start in the span by value. */
class AcquisitionVisitor implements Visitor<CountedSessions> {
  readonly #counter: AcquisitionCounter;
  readonly #newcomers: NewcomerFinder;
  readonly #selected: Tests;
  readonly #goal: Tests | null;
  readonly #listed = new BehindTally();
  readonly #scan: SessionScan;
  /** By place: the last actor who was counted as visitor, and as converting. */
  readonly #lastVisitors: Int32Array;
  readonly #lastConverts: Int32Array;
  #mayBeNew = false;
  /** The place of the session whose conversions are added, and how many these are. */
  #place = 0;
  #conversions = 0;

  constructor(private readonly inputs: AcquisitionInputs, words: readonly Int32Array[]) {
    const { values, selected, goal, reach } = inputs;
    this.#counter = new AcquisitionCounter(values.idOf, inputs.rules.trafficOf);
    this.#newcomers = new NewcomerFinder(inputs.newcomers);
    this.#selected = testsOf(selected, words);
    this.#goal = goal && testsOf(goal, words);
    this.#scan = new SessionScan(reach, (session) => this.#visitSession(session));
    this.#lastVisitors = new Int32Array(values.idOf.length + 1).fill(-1);
    this.#lastConverts = this.#lastVisitors.slice();
  }

  visit(actor: number, timeline: Timeline): void {
    const { selected: { events } } = this.inputs;
    if (events.actors !== null && events.actors[actor] !== 1) return;
    this.#mayBeNew = this.#newcomers.firstMs(timeline) !== null;
    this.#scan.visit(actor, timeline);
  }

  result(): CountedSessions {
    return {
      tally: this.#counter.tally(),
      newcomers: this.#newcomers.found(),
      behind: this.#listed.all(),
    };
  }

  #visitSession(session: ScannedSession): void {
    const { startMs, views } = session;
    const { rules: { ruleOf }, span } = this.inputs;
    if (startMs < span.fromMs || startMs >= span.toMs) return;
    const { sessions, inSession } = this.#selected;
    if (!passesSession(sessions, session) || !inSession.isIn(session)) return;
    const place = this.#placeOf(session);
    this.#counter.addSessions(place, ruleOf[session.traffic]!, 1, Number(isBounce(session)), views);
    this.#countVisitor(session.actor, place);
    this.#list(session, place, false);
    if (this.#goal !== null) this.#countConvert(session, place, this.#goal);
  }

  #placeOf({ entryPath, context, traffic }: ScannedSession): number {
    const { of, numberOf, idsFrom } = this.inputs.values;
    const id = of === "traffic_id" ? traffic : of === "context_id" ? context : entryPath;
    return numberOf[id - idsFrom]! + 1;
  }

  #countVisitor(actor: number, place: number): void {
    const last = this.#lastVisitors;
    if (last[place] === actor) return;
    last[place] = actor;
    this.#counter.sums.visitors[place]!++;
    if (this.#mayBeNew) this.#newcomers.add(actor, place);
    if (place !== WHOLE) this.#countVisitor(actor, WHOLE);
  }

  #countConvert(session: ScannedSession, place: number, goal: Tests): void {
    const { actor } = session;
    const { conversions } = this.#counter.sums;
    const { worth } = this.inputs;
    const last = this.#lastConverts;
    // An actor counts once; but if conversions have a value, that of each is added.
    if (worth === null && last[place] === actor) return;
    if (!passesSession(goal.sessions, session)) return;
    const converts = worth === null
      ? goal.inSession.isIn(session)
      : this.#addConversions(session, place) > 0;
    if (!converts || last[place] === actor) return;
    last[place] = actor;
    conversions[place]!++;
    this.#list(session, place, true);
    if (last[WHOLE] === actor) return;
    last[WHOLE] = actor;
    conversions[WHOLE]!++;
  }

  /** Counts the conversions in a session, and sums their property. @returns how many they are */
  #addConversions(session: ScannedSession, place: number): number {
    this.#place = place;
    this.#conversions = 0;
    session.forEachSlice(this.#addSlice);
    this.#counter.sums.totalConversions[place]! += this.#conversions;
    return this.#conversions;
  }

  readonly #addSlice = (segment: LoadedSegment, start: number, end: number): void => {
    const { names, paths, contexts, traffics, filterBits } = segment;
    const { actor } = this.#scan;
    const { events } = this.#goal!;
    const { property } = this.inputs.worth!;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) continue;
      if (!events.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
      this.#conversions++;
      const number = property === null ? null : numberAt(segment, property, at);
      if (number !== null) this.#counter.amounts.add(this.#place, number);
    }
  };

  /** Lists a session of the listed row. `isConversion`: the actor's first that reaches the goal. */
  #list({ actor, startMs }: ScannedSession, place: number, isConversion: boolean): void {
    const { listed } = this.inputs;
    if (listed === null || listed.isOfConversions !== isConversion) return;
    if (listed.places[place] === 1) this.#listed.add(actor, startMs);
  }
}

export const ACQUISITION_COUNTS: VisitorKind<AcquisitionInputs, CountedSessions> = {
  name: "acquisition",
  create: (inputs, words) => new AcquisitionVisitor(inputs, words),
  merge: (counts, more) => ({
    tally: addTallies(counts.tally, more.tally),
    newcomers: joinColumns(counts.newcomers, more.newcomers),
    behind: joinColumns(counts.behind, more.behind),
  }),
};
