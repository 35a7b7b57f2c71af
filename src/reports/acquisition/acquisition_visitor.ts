import type { Timeline } from "../../timelines/timeline.ts";
import { isBounce } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { EventInSession } from "../../scans/event_in_session.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import { passesSession, type SessionPasses } from "../../scans/session_test.ts";
import { joinColumns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { NewcomerFinder, type NewcomerInputs, type Pairs } from "../visitors/newcomers.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";
import type { NumberedValues } from "../visitors/session_values.ts";
import { type AcquisitionCounts, AcquisitionTally, WHOLE } from "./acquisition_tally.ts";
import { ConversionWorth } from "./conversion_worth.ts";

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
   * Null: conversions have no value. Else the property whose numbers are summed; null: all conversions are
   * worth the same.
   */
  readonly worth: { readonly property: string | null } | null;
  readonly values: NumberedValues;
  /** By traffic id: the least traffic id with the same channel rule. */
  readonly ruleOf: Int32Array;
  readonly newcomers: NewcomerInputs;
  readonly span: Span;
  /** From one session gap before the span to the end of the sessions that cross its end. */
  readonly reach: Span;
  /** The row whose sessions are listed; null: none. */
  readonly listed: ListedRow | null;
}

/** Which sessions of a row are listed. */
interface ListedRow {
  /** By place: 1 for the places of the row. */
  readonly places: Uint8Array;
  /** Whether only each actor's first session that reaches the goal is listed. */
  readonly isOfConversions: boolean;
}

export interface CountedSessions {
  readonly counts: AcquisitionCounts;
  /** Actors who may be new, and the places at which they then count. */
  readonly newcomers: Pairs;
  /** The listed sessions: their actors, and when they started. */
  readonly behind: Behind;
}

/** Follows actors through their sessions, and counts the sessions that start in the span by value. */
class AcquisitionVisitor implements Visitor<CountedSessions> {
  readonly #tally: AcquisitionTally;
  readonly #inputs: AcquisitionInputs;
  readonly #newcomers: NewcomerFinder;
  readonly #sessions: SessionPasses;
  readonly #goalSessions: SessionPasses | null;
  readonly #span: Span;
  readonly #selected: EventInSession;
  readonly #converting: EventInSession | null;
  readonly #worth: ConversionWorth | null;
  readonly #listed = new BehindTally();
  readonly #scan: SessionScan;
  /** By place: the last actor who was counted as visitor, and as converting. */
  readonly #lastVisitors: Int32Array;
  readonly #lastConverts: Int32Array;
  #mayBeNew = false;

  constructor(inputs: AcquisitionInputs, words: readonly Int32Array[]) {
    const { values, selected, goal, worth, span, reach } = inputs;
    this.#tally = new AcquisitionTally(values.idOf);
    this.#inputs = inputs;
    this.#span = span;
    this.#newcomers = new NewcomerFinder(inputs.newcomers);
    this.#sessions = selected.sessions;
    this.#goalSessions = goal?.sessions ?? null;
    this.#selected = new EventInSession(new EventTest(selected.events, words));
    const converting = goal === null ? null : new EventTest(goal.events, words);
    this.#converting = converting === null ? null : new EventInSession(converting);
    this.#worth = converting === null || worth === null
      ? null
      : new ConversionWorth(converting, worth.property, this.#tally);
    this.#scan = new SessionScan(reach, (session) => this.#visitSession(session));
    this.#lastVisitors = new Int32Array(values.idOf.length + 1).fill(-1);
    this.#lastConverts = this.#lastVisitors.slice();
  }

  visit(actor: number, timeline: Timeline): void {
    const { selected: { events } } = this.#inputs;
    if (events.actors !== null && events.actors[actor] !== 1) return;
    this.#mayBeNew = this.#newcomers.firstMs(timeline) !== null;
    this.#scan.visit(actor, timeline);
  }

  result(): CountedSessions {
    return {
      counts: this.#tally.counts(),
      newcomers: this.#newcomers.found(),
      behind: this.#listed.all(),
    };
  }

  #visitSession(session: ScannedSession): void {
    const { traffic, startMs, views } = session;
    const { ruleOf } = this.#inputs;
    if (startMs < this.#span.fromMs || startMs >= this.#span.toMs) return;
    if (!passesSession(this.#sessions, session) || !this.#selected.isIn(session)) return;
    const place = this.#placeOf(session);
    this.#tally.addSessions(place, ruleOf[traffic]!, 1, Number(isBounce(session)), views);
    this.#countVisitor(session.actor, place);
    this.#list(session, place, false);
    if (this.#converting !== null) this.#countConvert(session, place, this.#converting);
  }

  #placeOf({ entryPath, context, traffic }: ScannedSession): number {
    const { of, numberOf, idsFrom } = this.#inputs.values;
    const id = of === "traffic_id" ? traffic : of === "context_id" ? context : entryPath;
    return numberOf[id - idsFrom]! + 1;
  }

  #countVisitor(actor: number, place: number): void {
    const { visitors } = this.#tally.sums;
    const last = this.#lastVisitors;
    if (last[place] === actor) return;
    last[place] = actor;
    visitors[place]!++;
    if (this.#mayBeNew) this.#newcomers.add(actor, place);
    if (last[WHOLE] === actor) return;
    last[WHOLE] = actor;
    visitors[WHOLE]!++;
    if (this.#mayBeNew) this.#newcomers.add(actor, WHOLE);
  }

  #countConvert(session: ScannedSession, place: number, converting: EventInSession): void {
    const { actor } = session;
    const { conversions } = this.#tally.sums;
    const last = this.#lastConverts;
    // An actor counts once; but if conversions have a value, that of each is added.
    if (this.#worth === null && last[place] === actor) return;
    if (!passesSession(this.#goalSessions!, session)) return;
    const converts = this.#worth === null
      ? converting.isIn(session)
      : this.#worth.add(session, place);
    if (!converts || last[place] === actor) return;
    last[place] = actor;
    conversions[place]!++;
    this.#list(session, place, true);
    if (last[WHOLE] === actor) return;
    last[WHOLE] = actor;
    conversions[WHOLE]!++;
  }

  /** Lists a session of the listed row. `isConversion`: the actor's first that reaches the goal. */
  #list({ actor, startMs }: ScannedSession, place: number, isConversion: boolean): void {
    const { listed } = this.#inputs;
    if (listed === null || listed.isOfConversions !== isConversion) return;
    if (listed.places[place] === 1) this.#listed.add(actor, startMs);
  }
}

export const ACQUISITION_COUNTS: VisitorKind<AcquisitionInputs, CountedSessions> = {
  name: "acquisition",
  create: (inputs, words) => new AcquisitionVisitor(inputs, words),
  merge: ({ counts, newcomers, behind }, more) => {
    const tally = new AcquisitionTally(counts.idOf, counts);
    tally.add(more.counts);
    return {
      counts: tally.counts(),
      newcomers: joinColumns(newcomers, more.newcomers),
      behind: joinColumns(behind, more.behind),
    };
  },
};
