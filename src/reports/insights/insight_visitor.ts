import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { isBounce } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import { type EventPasses, isOfName } from "../../scans/event_test.ts";
import { type MatchPasses, MatchTests, UNMATCHED, UNSELECTED } from "../../scans/match_tests.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import { passesSession, type SessionPasses } from "../../scans/session_test.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import { addKeys, type CountedKeys } from "../../scans/key_counts.ts";
import { addTo, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import type { Places, PlacesOfSegments } from "./insight_candidates.ts";
import {
  CONTEXT_ID,
  ENTRY_PATH_ID,
  FIRST_SESSION_ID,
  JOINT_ID,
  LineEvents,
  type Lines,
  LineTally,
  Piece,
  type PieceTally,
  TRAFFIC_ID,
} from "./line_tally.ts";

/** How the ids of one kind are grouped. */
export interface IdGroups {
  readonly idsFrom: number;
  /** The group of id i at `i - idsFrom`; empty: all ids are in group 0. */
  readonly groupOf: Int32Array;
  /** How many groups there are. */
  readonly count: number;
}

/** The groups that define joint cells, in the order of `SESSION_IDS`: a cell has one group of each kind of id. */
export type JointIds = readonly IdGroups[];

/** Returns the number of the cell of a piece's ids: the groups are its digits, that of the last kind the last. */
function jointCell(joint: JointIds, ids: Int32Array): number {
  let cell = 0;
  for (let kind = 0; kind < joint.length; kind++) {
    const { idsFrom, groupOf, count } = joint[kind]!;
    cell = cell * count + (groupOf[ids[FIRST_SESSION_ID + kind]! - idsFrom] ?? 0);
  }
  return cell;
}

/** Which events and sessions are selected, and the lines in which each match is counted. */
export interface InsightInputs {
  readonly events: MatchPasses;
  readonly sessions: SessionPasses;
  /** By match: the filters on its sessions. */
  readonly ofMatches: readonly SessionPasses[];
  readonly lines: readonly Lines[];
  /** See `Calendar`. */
  readonly segments: readonly Span[];
  readonly places: Places["amid"];
  /** By actor: the index in `places`; null: the first. */
  readonly people: Uint8Array | null;
  /** How many places there are. */
  readonly placeCount: number;
  /** The groups of joint cells; null: no line is one of a joint cell. */
  readonly joint: JointIds | null;
  /** The segments, and the whole of each session that crosses their first or last edge. */
  readonly reach: Span;
}

/** Follows actors through their sessions, cuts these into pieces, and adds the pieces to the tally of each match. */
class InsightVisitor<Counts> implements Visitor<Counts> {
  #places: PlacesOfSegments;
  readonly #segments: SpanFinder;
  readonly #scan: SessionScan;
  /** Matches that take every selected event. */
  readonly #taking: readonly number[];
  /** The other matches, in the order of `#tests`. */
  readonly #choosing: readonly number[];
  readonly #tests: MatchTests;

  #actor = -1;
  #session: ScannedSession | null = null;
  /** Whether events of the session are counted, and those beside it, which belong to no session. */
  #takesOwn = false;
  #takesOthers = false;
  /** The current piece, which ends before `#toMs`, and its selected events and page views. */
  readonly #piece = new Piece();
  /** Whether the piece is of the session. */
  #isOwn = false;
  #toMs = -Infinity;
  #selected = 0;
  #selectedViews = 0;
  /** By match of `#choosing`: its events and page views in the piece; the first of `#matched` have any. */
  readonly #events: Int32Array;
  readonly #views: Int32Array;
  readonly #matched: Int32Array;
  #matchedCount = 0;
  /** The actor, day and period of the last piece. */
  #lastActor = -1;
  #lastDay = 0;
  #lastPeriod = 0;

  constructor(
    private readonly inputs: InsightInputs,
    words: readonly Int32Array[],
    private readonly tallies: readonly PieceTally[],
    readonly result: () => Counts,
  ) {
    const { scope, tests, counted } = inputs.events;
    this.#places = inputs.places[0]!;
    this.#segments = new SpanFinder(inputs.segments);
    this.#scan = new SessionScan(inputs.reach, (session) => this.#visitSession(session));
    const takes = (passes: EventPasses) => passes.names === null && isOfName(passes);
    const matches = [...tests.keys()];
    this.#taking = matches.filter((match) => takes(tests[match]!));
    this.#choosing = matches.filter((match) => !takes(tests[match]!));
    const choosing = this.#choosing.map((match) => tests[match]!);
    this.#tests = new MatchTests({ scope, tests: choosing, counted }, words);
    this.#events = new Int32Array(this.#choosing.length);
    this.#views = new Int32Array(this.#choosing.length);
    this.#matched = new Int32Array(this.#choosing.length);
  }

  visit(actor: number, timeline: Timeline): void {
    const { events: { scope: { actors } }, people, places } = this.inputs;
    if (actors !== null && actors[actor] !== 1) return;
    this.#actor = actor;
    if (people !== null) this.#places = places[people[actor]!]!;
    this.#scan.visit(actor, timeline);
  }

  #visitSession(session: ScannedSession): void {
    const { sessions } = this.inputs;
    const { startMs, lastMs, hasOthers } = session;
    const { fromMs, toMs } = this.#segments;
    const reachesIn = lastMs >= fromMs && startMs < toMs;
    this.#takesOwn = reachesIn && passesSession(sessions, session);
    this.#takesOthers = hasOthers && sessions.passesNone;
    if (!this.#takesOwn && !this.#takesOthers) return;
    this.#session = session;
    this.#piece.sessionTurn++;
    session.forEachSlice(this.#follow);
    this.#endPiece();
    this.#toMs = -Infinity;
  }

  readonly #follow = (segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs: baseMs, times, names, paths, contexts, traffics, filterBits } = segment;
    const { scope, tests, groupOf, matches, narrowed, isScopeNarrowed } = this.#tests;
    const { contextMin, contextMax } = scope;
    const [takesOwn, takesOthers, actor] = [this.#takesOwn, this.#takesOthers, this.#actor];
    const [events, views, matched] = [this.#events, this.#views, this.#matched];
    const firstTime = this.#segments.fromMs - baseMs;
    let toTime = this.#toMs - baseMs;
    let pieceContext = this.#piece.ids[CONTEXT_ID]!;
    let pieceIsOwn = this.#isOwn;
    let selected = 0;
    let selectedViews = 0;
    for (let at = start; at < end; at++) {
      const isOwn = traffics[at] !== 0;
      if (isOwn ? !takesOwn : !takesOthers) continue;
      const name = names[at]!;
      const group = groupOf[name]!;
      const time = times[at]!;
      if (group === UNSELECTED || time < firstTime) continue;
      const context = contexts[at]!;
      if (context < contextMin || context > contextMax) continue;
      if (isScopeNarrowed && !scope.passesBeyondName(paths[at]!, context, actor, filterBits[at]!)) {
        continue;
      }
      if (time >= toTime || context !== pieceContext || isOwn !== pieceIsOwn) {
        this.#selected += selected;
        this.#selectedViews += selectedViews;
        this.#beginPiece(baseMs + time, context, isOwn);
        toTime = this.#toMs - baseMs;
        pieceContext = context;
        pieceIsOwn = isOwn;
        selected = 0;
        selectedViews = 0;
      }
      selected++;
      if (name === PAGE_VIEW) selectedViews++;
      if (group === UNMATCHED) continue;
      const some = matches[group]!;
      for (let i = 0; i < some.length; i++) {
        const match = some[i]!;
        const isNarrowed = narrowed[match] === 1;
        if (
          isNarrowed && !tests[match]!.passesBeyondName(paths[at]!, context, actor, filterBits[at]!)
        ) {
          continue;
        }
        if (events[match]!++ === 0) matched[this.#matchedCount++] = match;
        if (name === PAGE_VIEW) views[match]!++;
      }
    }
    this.#selected += selected;
    this.#selectedViews += selectedViews;
  };

  /** Begins a piece: the next event has another segment or context, or enters or leaves the session. */
  #beginPiece(ms: number, context: number, isOwn: boolean): void {
    this.#endPiece();
    const { groupOf, periodOf, dayOf } = this.#places;
    const { traffic, entryPath, startMs } = this.#session!;
    const segments = this.#segments;
    const piece = this.#piece;
    const segment = segments.at(ms);
    const fromMs = segments.fromMsOf(segment);
    this.#toMs = segments.toMsOf(segment);
    this.#isOwn = isOwn;
    piece.ids[TRAFFIC_ID] = isOwn ? traffic : 0;
    piece.ids[ENTRY_PATH_ID] = isOwn ? entryPath : 0;
    piece.ids[CONTEXT_ID] = context;
    const { joint } = this.inputs;
    if (joint !== null) piece.ids[JOINT_ID] = jointCell(joint, piece.ids);
    piece.place = groupOf[segment] ?? 0;
    const startSegment = startMs >= fromMs ? segment : segments.at(startMs);
    piece.startPlace = isOwn ? groupOf[startSegment] ?? 0 : 0;
    piece.bounces = Number(isBounce(this.#session!));
    this.#turn(periodOf[segment] ?? 0, dayOf[segment] ?? 0);
  }

  #turn(period: number, day: number): void {
    const piece = this.#piece;
    const isOther = this.#actor !== this.#lastActor;
    if (isOther || day !== this.#lastDay) piece.dayTurn++;
    if (isOther || period !== this.#lastPeriod) piece.periodTurn++;
    this.#lastActor = this.#actor;
    this.#lastDay = day;
    this.#lastPeriod = period;
  }

  #endPiece(): void {
    if (this.#selected === 0) return;
    for (let i = 0; i < this.#taking.length; i++) {
      this.#add(this.#taking[i]!, this.#selected, this.#selectedViews);
    }
    for (let i = 0; i < this.#matchedCount; i++) {
      const match = this.#matched[i]!;
      this.#add(this.#choosing[match]!, this.#events[match]!, this.#views[match]!);
      this.#events[match] = 0;
      this.#views[match] = 0;
    }
    this.#matchedCount = 0;
    this.#selected = 0;
    this.#selectedViews = 0;
  }

  /** Adds the piece to a match, if its session passes the match's filters on sessions. */
  #add(match: number, events: number, views: number): void {
    const test = this.inputs.ofMatches[match]!;
    const passes = this.#isOwn ? passesSession(test, this.#session!) : test.passesNone;
    if (passes) this.tallies[match]!.add(this.#piece, events, views);
  }
}

/** Counts each line of each match: see `LineTally`. */
export const INSIGHT_COUNTS: VisitorKind<InsightInputs, Int32Array[]> = {
  name: "insights",
  create: (inputs, words) => {
    const tallies = inputs.lines.map((some) => new LineTally(some, inputs.placeCount));
    return new InsightVisitor(inputs, words, tallies, () => tallies.map(({ counts }) => counts));
  },
  merge: (counts, more) => counts.map((own, match) => addTo(own, more[match]!)),
};

/** Counts the events of each line of each match: see `LineEvents`. */
export const INSIGHT_EVENTS: VisitorKind<InsightInputs, CountedKeys[]> = {
  name: "insight events",
  create: (inputs, words) => {
    const tallies = inputs.lines.map((some) => new LineEvents(some));
    return new InsightVisitor(
      inputs,
      words,
      tallies,
      () => tallies.map(({ counts }) => counts.result()),
    );
  },
  merge: (counts, more) => counts.map((own, match) => addKeys(own, more[match]!)),
};
