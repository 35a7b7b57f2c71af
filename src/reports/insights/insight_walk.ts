import type { ActorWay } from "../../timelines/actor_way.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { isBounce } from "../../query/metrics.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import type { EventTest } from "../../scans/event_tests.ts";
import { MatchTests, UNMATCHED, UNSELECTED } from "../../scans/match_tests.ts";
import type { SessionTest } from "../../scans/session_tests.ts";
import { SessionWalk, type WalkedSession } from "../../scans/session_walk.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import type { Calendar } from "./insight_calendar.ts";
import type { Places } from "./insight_candidates.ts";
import type { SessionId } from "../session_values.ts";

/** Where a piece of visit has the ids that tell values; first one that everything has alike. */
export const WHOLE_ID = 0;
const TRAFFIC_ID = 1;
const ENTRY_PATH_ID = 2;
const CONTEXT_ID = 3;
export const ID_PLACES: Readonly<Record<SessionId, number>> = {
  traffic_id: TRAFFIC_ID,
  entry_path_id: ENTRY_PATH_ID,
  context_id: CONTEXT_ID,
};

/** Which lines each id of a kind counts for. */
export interface LineTable {
  /** Which of the ids. */
  readonly of: number;
  readonly idsFrom: number;
  /** How many lines an id has. */
  readonly width: number;
  /** Those of id i, from `(i - idsFrom) * width`; -1: none. */
  readonly linesOf: Int32Array;
}

/** How events are told apart: each counts for the lines of all its ids. */
export interface Lines {
  readonly tables: readonly LineTable[];
  readonly count: number;
}

/** Selected events of one actor that lie in one segment of the calendar and context, in a session or in none. */
class Piece {
  /** By `WHOLE_ID` and `ID_PLACES`. */
  readonly ids = new Int32Array(4);
  place = 0;
  /** Numbers that change whenever the actor or the day does, and the actor or the period, and the session. */
  dayTurn = 0;
  periodTurn = 0;
  sessionTurn = 0;
  /** Where the session started; 0: nowhere that counts, or it is none. */
  startPlace = 0;
  /** 1: the session bounced. */
  bounces = 0;
}

/** What lines come to at a place: figures in this order, side by side. */
const EVENTS = 0;
const PAGEVIEWS = 1;
const IN_DAY = 2;
const IN_PERIOD = 3;
const SESSIONS = 4;
const BOUNCES = 5;
const FIGURES = 6;

/** Turns of which something was counted last: figures in this order, side by side. */
const LAST_DAY = 0;
const LAST_PERIOD = 1;
const LAST_SESSION = 2;
const LASTS = 3;

/** What a line comes to at one place. */
export interface PlaceCounts {
  readonly events: number;
  readonly pageviews: number;
  /** Distinct actors, by the first of what each did in the day, and in the period; of no day or period nothing. */
  readonly inDay: number;
  readonly inPeriod: number;
  /** That start there. */
  readonly sessions: number;
  readonly bounces: number;
}

/** What the lines come to, of the events of one match. */
export class LineTally {
  readonly #tables: readonly LineTable[];
  readonly #places: number;
  readonly #counts: Int32Array;
  readonly #lasts: Int32Array;

  /** `places`: how many there are; they are counted from 1. */
  constructor({ tables, count }: Lines, places: number) {
    this.#tables = tables;
    this.#places = places;
    this.#counts = new Int32Array(count * places * FIGURES);
    this.#lasts = new Int32Array(count * LASTS);
  }

  /** Numbers that so many lines at so many places take. */
  static cellsOf({ count }: Lines, places: number): number {
    return count * (places * FIGURES + LASTS);
  }

  at(line: number, place: number): PlaceCounts {
    const at = (line * this.#places + place - 1) * FIGURES;
    const counts = this.#counts;
    return {
      events: counts[at + EVENTS]!,
      pageviews: counts[at + PAGEVIEWS]!,
      inDay: counts[at + IN_DAY]!,
      inPeriod: counts[at + IN_PERIOD]!,
      sessions: counts[at + SESSIONS]!,
      bounces: counts[at + BOUNCES]!,
    };
  }

  /** Events of a line at some places. */
  eventsAt(line: number, places: readonly number[]): number {
    let events = 0;
    for (const place of places) {
      events += this.#counts[(line * this.#places + place - 1) * FIGURES + EVENTS]!;
    }
    return events;
  }

  /** Adds the events of a piece, some of which are page views. Pieces of an actor come in order of time. */
  add(piece: Piece, events: number, pageviews: number): void {
    const tables = this.#tables;
    for (let i = 0; i < tables.length; i++) {
      const { of, idsFrom, width, linesOf } = tables[i]!;
      const from = (piece.ids[of]! - idsFrom) * width;
      this.#addTo(linesOf, from, from + width, piece, events, pageviews);
    }
  }

  #addTo(
    lines: Int32Array,
    from: number,
    to: number,
    piece: Piece,
    events: number,
    pageviews: number,
  ): void {
    const { place, startPlace, dayTurn, periodTurn, sessionTurn, bounces } = piece;
    const [counts, lasts, places] = [this.#counts, this.#lasts, this.#places];
    for (let i = from; i < to; i++) {
      const line = lines[i]!;
      if (line < 0) continue;
      // Sums instead of branches: which actors and sessions are new cannot be foreseen.
      const lastsAt = line * LASTS;
      if (place > 0) {
        const at = (line * places + place - 1) * FIGURES;
        counts[at + EVENTS]! += events;
        counts[at + PAGEVIEWS]! += pageviews;
        counts[at + IN_DAY]! += Number(lasts[lastsAt + LAST_DAY] !== dayTurn);
        counts[at + IN_PERIOD]! += Number(lasts[lastsAt + LAST_PERIOD] !== periodTurn);
        lasts[lastsAt + LAST_DAY] = dayTurn;
        lasts[lastsAt + LAST_PERIOD] = periodTurn;
      }
      if (startPlace > 0) {
        const at = (line * places + startPlace - 1) * FIGURES;
        const isNew = Number(lasts[lastsAt + LAST_SESSION] !== sessionTurn);
        counts[at + SESSIONS]! += isNew;
        counts[at + BOUNCES]! += isNew & bounces;
        lasts[lastsAt + LAST_SESSION] = sessionTurn;
      }
    }
  }
}

/** What is selected, and what is counted of it: a tally for each match, with the filters on its sessions. */
export interface Counted {
  readonly events: MatchTests;
  readonly sessions: SessionTest;
  readonly ofMatches: readonly SessionTest[];
  readonly tallies: readonly LineTally[];
}

/** Follows actors through their sessions, and adds up the pieces of them. */
export class InsightWalk {
  readonly #counted: Counted;
  readonly #places: Places;
  readonly #segments: SpanFinder;
  readonly #walk: SessionWalk;
  readonly #visitStretch = (segment: LoadedSegment, start: number, end: number) =>
    this.#follow(segment, start, end);
  /** Matches that take whatever is selected, and the others, as which `#tests` knows them. */
  readonly #taking: readonly number[];
  readonly #choosing: readonly number[];
  readonly #tests: MatchTests;

  #actor = -1;
  #session: WalkedSession | null = null;
  #takesOwn = false;
  #takesOthers = false;
  /** The piece under way, which ends before `#toMs`, and what is selected of it. */
  readonly #piece = new Piece();
  #isOwn = false;
  #toMs = -Infinity;
  #selected = 0;
  #selectedViews = 0;
  /** By match that chooses its events and page views of the piece, and which matches have any. */
  readonly #events: Int32Array;
  readonly #views: Int32Array;
  readonly #matched: Int32Array;
  #matchedCount = 0;
  /** Whose piece was begun last, and in which day and period. */
  #lastActor = -1;
  #lastDay = 0;
  #lastPeriod = 0;

  /** `reach`: from the start of the first session to the end of the last one that crosses an edge of the calendar. */
  constructor(counted: Counted, { segments }: Calendar, places: Places, reach: Span) {
    this.#counted = counted;
    this.#places = places;
    this.#segments = new SpanFinder(segments);
    this.#walk = new SessionWalk(reach, (session) => this.#visitSession(session));
    const { scope, tests, counted: counting } = counted.events;
    const takes = ({ names, isOfName }: EventTest) => names === null && isOfName;
    const matches = [...tests.keys()];
    this.#taking = matches.filter((match) => takes(tests[match]!));
    this.#choosing = matches.filter((match) => !takes(tests[match]!));
    this.#tests = new MatchTests(scope, this.#choosing.map((match) => tests[match]!), counting);
    this.#events = new Int32Array(this.#choosing.length);
    this.#views = new Int32Array(this.#choosing.length);
    this.#matched = new Int32Array(this.#choosing.length);
  }

  visit(actor: number, way: ActorWay): void {
    const { scope: { actors } } = this.#counted.events;
    if (actors !== null && actors[actor] !== 1) return;
    this.#actor = actor;
    this.#walk.visit(actor, way);
  }

  #visitSession(session: WalkedSession): void {
    const { sessions } = this.#counted;
    const { traffic, entryPath, exitPath, startMs, lastMs, hasOthers } = session;
    const { fromMs, toMs } = this.#segments;
    const reachesIn = traffic !== 0 && lastMs >= fromMs && startMs < toMs;
    this.#takesOwn = reachesIn && sessions.passes(traffic, entryPath, exitPath);
    this.#takesOthers = hasOthers && sessions.passesNone;
    if (!this.#takesOwn && !this.#takesOthers) return;
    this.#session = session;
    this.#piece.sessionTurn++;
    session.forEachStretch(this.#visitStretch);
    this.#endPiece();
    this.#toMs = -Infinity;
  }

  #follow(
    { fromMs: baseMs, times, names, paths, contexts, traffics, marks }: LoadedSegment,
    start: number,
    end: number,
  ): void {
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
      if (isScopeNarrowed && !scope.passesBeyondName(paths[at]!, context, actor, marks[at]!)) {
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
        if (isNarrowed && !tests[match]!.passesBeyondName(paths[at]!, context, actor, marks[at]!)) {
          continue;
        }
        if (events[match]!++ === 0) matched[this.#matchedCount++] = match;
        if (name === PAGE_VIEW) views[match]!++;
      }
    }
    this.#selected += selected;
    this.#selectedViews += selectedViews;
  }

  /** Goes on with what happens in another segment or context, or no longer in a session. */
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

  /** Adds to a match, if what it says of sessions holds for that of the piece. */
  #add(match: number, events: number, views: number): void {
    const { ofMatches, tallies } = this.#counted;
    const { traffic, entryPath, exitPath } = this.#session!;
    const test = ofMatches[match]!;
    const passes = this.#isOwn ? test.passes(traffic, entryPath, exitPath) : test.passesNone;
    if (passes) tallies[match]!.add(this.#piece, events, views);
  }
}
