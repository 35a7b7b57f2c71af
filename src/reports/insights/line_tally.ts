import { type CountedKeys, KeyCounts } from "../../scans/key_counts.ts";
import type { Counts } from "./insight_candidates.ts";

/** The indexes of a piece's ids, which determine its lines; the first id is the same for every piece. */
export const WHOLE_ID = 0;
/** The ids of sessions, in the order of `SESSION_IDS`. */
export const FIRST_SESSION_ID = 1;
export const TRAFFIC_ID = 1;
export const ENTRY_PATH_ID = 2;
export const CONTEXT_ID = 3;
/** The joint cell: see `JointIds`. */
export const JOINT_ID = 4;

/** The lines in which the ids of a kind are counted. */
export interface LineTable {
  /** The index of the kind among a piece's ids. */
  readonly of: number;
  readonly idsFrom: number;
  /** How many lines an id has. */
  readonly width: number;
  /** The lines of id i are at `(i - idsFrom) * width` and after; -1: none. */
  readonly linesOf: Int32Array;
}

/** The lines of entry paths. They have no table, because a site may have millions of them. */
interface PathLines {
  /** The line of each path's id; null: path i has the line `first + i`. */
  readonly lineOf: ReadonlyMap<number, number> | null;
  readonly first: number;
}

/** The lines of a match: each event is counted in the lines of all its ids. */
export interface Lines {
  readonly tables: readonly LineTable[];
  /** Null: entry paths have no lines. */
  readonly paths: PathLines | null;
  readonly count: number;
}

/** Returns the line of an entry path; -1: it has none. */
function lineOfPath({ lineOf, first }: PathLines, path: number): number {
  return lineOf === null ? first + path : lineOf.get(path) ?? -1;
}

/** Selected events of one actor, segment of the calendar, context and session (or of none). */
export class Piece {
  /** By `WHOLE_ID` and those after it. */
  readonly ids = new Int32Array(5);
  /** The place at which its events are counted, from 1; 0: none. */
  place = 0;
  /** Change when the actor or the day does, when the actor or the period does, and when the session does. */
  dayTurn = 0;
  periodTurn = 0;
  sessionTurn = 0;
  /** The place at which the session started; 0: none, or there is no session. */
  startPlace = 0;
  /** 1: the session bounced. */
  bounces = 0;
}

/** The figures of a line at a place, side by side in this order. */
const EVENTS = 0;
const PAGEVIEWS = 1;
/** Distinct actors of the day and of the period, each counted at the place of their first event in it. */
export const IN_DAY = 2;
const IN_PERIOD = 3;
const SESSIONS = 4;
const BOUNCES = 5;
const FIGURES = 6;

/** The turns in which a line was counted last, side by side in this order. */
const LAST_DAY = 0;
const LAST_PERIOD = 1;
const LAST_SESSION = 2;
const LASTS = 3;

/** Counts the pieces of a match. */
export interface PieceTally {
  /** Adds the events of a piece, some of which are page views. Pieces of an actor come in order of time. */
  add(piece: Piece, events: number, pageviews: number): void;
}

/** Counts the events of each line except the total, at all places together: see `KeyCounts`. */
export class LineEvents implements PieceTally {
  readonly counts = new KeyCounts();
  readonly #tables: readonly LineTable[];
  readonly #paths: PathLines | null;

  constructor({ tables, paths }: Lines) {
    this.#tables = tables.filter(({ of }) => of !== WHOLE_ID);
    this.#paths = paths;
  }

  add({ ids, place }: Piece, events: number): void {
    if (place === 0) return;
    for (const { of, idsFrom, width, linesOf } of this.#tables) {
      const from = (ids[of]! - idsFrom) * width;
      for (let i = from; i < from + width; i++) {
        if (linesOf[i]! >= 0) this.counts.add(linesOf[i]!, events);
      }
    }
    const line = this.#paths === null ? -1 : lineOfPath(this.#paths, ids[ENTRY_PATH_ID]!);
    if (line >= 0) this.counts.add(line, events);
  }
}

/** Counts the figures of each line, by place, for one match. */
export class LineTally implements PieceTally {
  readonly #tables: readonly LineTable[];
  readonly #paths: PathLines | null;
  /** The line of a piece's entry path, reused for each piece. */
  readonly #pathLine = new Int32Array(1);
  readonly #lines: number;
  readonly #places: number;
  readonly counts: Int32Array;
  readonly #lasts: Int32Array;

  /**
   * @param places how many places there are; their numbers begin at 1
   * @param counts the counts to start from
   */
  constructor({ tables, paths, count }: Lines, places: number, counts?: Int32Array) {
    this.#tables = tables;
    this.#paths = paths;
    this.#lines = count;
    this.#places = places;
    this.counts = counts ?? new Int32Array(count * places * FIGURES);
    this.#lasts = new Int32Array(count * LASTS);
  }

  /** Returns how many numbers the lines take with this many places. */
  static cellsOf({ count }: Pick<Lines, "count">, places: number): number {
    return count * (places * FIGURES + LASTS);
  }

  /** Returns the counts of a line at a place. @param visitors `IN_DAY`: those of the day, else of the period */
  at(line: number, place: number, visitors = IN_PERIOD): Counts {
    const at = (line * this.#places + place - 1) * FIGURES;
    const { counts } = this;
    return {
      visitors: counts[at + visitors]!,
      pageviews: counts[at + PAGEVIEWS]!,
      events: counts[at + EVENTS]!,
      sessions: counts[at + SESSIONS]!,
      bounces: counts[at + BOUNCES]!,
    };
  }

  /** Returns the events of each line at some places together. */
  eventsAt(places: readonly number[]): CountedKeys {
    const keys = Int32Array.from({ length: this.#lines }, (_, line) => line);
    const eventsOf = (line: number, place: number) =>
      this.counts[(line * this.#places + place - 1) * FIGURES + EVENTS]!;
    const counts = keys.map((line) =>
      places.reduce((events, place) => events + eventsOf(line, place), 0)
    );
    return { keys, counts };
  }

  add(piece: Piece, events: number, pageviews: number): void {
    const tables = this.#tables;
    for (let i = 0; i < tables.length; i++) {
      const { of, idsFrom, width, linesOf } = tables[i]!;
      const from = (piece.ids[of]! - idsFrom) * width;
      this.#addTo(linesOf, from, from + width, piece, events, pageviews);
    }
    if (this.#paths === null) return;
    this.#pathLine[0] = lineOfPath(this.#paths, piece.ids[ENTRY_PATH_ID]!);
    this.#addTo(this.#pathLine, 0, 1, piece, events, pageviews);
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
    const [counts, lasts, places] = [this.counts, this.#lasts, this.#places];
    for (let i = from; i < to; i++) {
      const line = lines[i]!;
      if (line < 0) continue;
      // Sums instead of branches, because the processor cannot predict which actors and sessions are new.
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
