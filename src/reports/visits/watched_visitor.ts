import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { EventPlace } from "../../store/rows_by_place.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import type { PlainSum } from "../../scans/decimal_sum.ts";
import { type MatchPasses, MatchTests, UNMATCHED, UNSELECTED } from "../../scans/match_tests.ts";
import { numberAt } from "../../scans/number_columns.ts";
import { PlaceAmounts } from "../../scans/place_amounts.ts";
import { addColumns, followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";

/** A span of an actor whose events are counted: `[fromMs, toMs)`. */
export interface Watched {
  readonly actor: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface WatchedInputs {
  /** The spans of an actor do not overlap. */
  readonly watched: readonly Watched[];
  /** Whether only events of sessions count. */
  readonly ofSessions: boolean;
  readonly matches: MatchPasses;
  /** By match: the property that is summed over its events; null: none. See `prepareNumbers`. */
  readonly summed: readonly (string | null)[];
  /** Whether the events that matches take are listed. */
  readonly isListing: boolean;
}

/** An event that a match took: the match, and where the event is stored. */
interface TakenEvent extends EventPlace {
  readonly match: number;
}

/** Counts of the selected events, by watched span. */
export interface WatchedCounts {
  readonly events: Int32Array;
  readonly pageviews: Int32Array;
  /** The time of the last event; -Infinity: there is none. */
  readonly lastMs: Float64Array;
  /** Events that each match takes, by watched span, then by match. */
  readonly totals: Int32Array;
  /** The sums of their properties, by place in `totals`. */
  readonly amounts: ReadonlyMap<number, PlainSum>;
  readonly taken: readonly TakenEvent[];
}

/** Counts the events of a few actors in the watched spans. */
class WatchedVisitor implements Visitor<WatchedCounts> {
  readonly #tests: MatchTests;
  /** By actor: the places of its spans in `watched`, by time. Most actors have none. */
  readonly #placesOf: ReadonlyMap<number, readonly number[]>;
  /** By actor, up to the last that has spans: 1 if it has any. */
  readonly #isWatched: Uint8Array;
  readonly #counts;
  readonly #amounts = new PlaceAmounts();
  readonly #taken: TakenEvent[] = [];

  constructor(private readonly inputs: WatchedInputs, words: readonly Int32Array[]) {
    const { watched } = inputs;
    this.#tests = new MatchTests(inputs.matches, words);
    const last = watched.reduce((max, { actor }) => Math.max(max, actor), 0);
    this.#isWatched = new Uint8Array(last + 1);
    for (const { actor } of watched) this.#isWatched[actor] = 1;
    const byTime = [...watched.keys()].sort((a, b) => watched[a]!.fromMs - watched[b]!.fromMs);
    this.#placesOf = Map.groupBy(byTime, (place) => watched[place]!.actor);
    const length = watched.length;
    this.#counts = {
      events: new Int32Array(length),
      pageviews: new Int32Array(length),
      lastMs: new Float64Array(length).fill(-Infinity),
      totals: new Int32Array(length * this.#tests.tests.length),
    };
  }

  visit(actor: number, timeline: Timeline): void {
    if (this.#isWatched[actor] === 1) followRuns(actor, timeline, this.#follow);
  }

  result(): WatchedCounts {
    return { ...this.#counts, amounts: this.#amounts.plain(), taken: this.#taken };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, traffics } = segment;
    const { watched, ofSessions } = this.inputs;
    const places = this.#placesOf.get(actor)!;
    let next = 0;
    for (let at = start; at < end; at++) {
      if (ofSessions && traffics[at] === 0) continue;
      const ms = fromMs + times[at]!;
      while (next < places.length && watched[places[next]!]!.toMs <= ms) next++;
      if (next === places.length) return;
      const place = places[next]!;
      if (ms >= watched[place]!.fromMs) this.#count(place, actor, segment, at, ms);
    }
  };

  #count(place: number, actor: number, segment: LoadedSegment, at: number, ms: number): void {
    const { scope, tests, groupOf, matches, narrowed, isScopeNarrowed, counted } = this.#tests;
    const { names, paths, contexts, filterBits } = segment;
    const [name, path] = [names[at]!, paths[at]!];
    const [context, bits] = [contexts[at]!, filterBits[at]!];
    const group = groupOf[name]!;
    if (group === UNSELECTED || context < scope.contextMin || context > scope.contextMax) return;
    if (isScopeNarrowed && !scope.passesBeyondName(path, context, actor, bits)) return;
    const { events, pageviews, lastMs, totals } = this.#counts;
    if (counted === null || counted[name] === 1) {
      events[place]!++;
      if (name === PAGE_VIEW) pageviews[place]!++;
      if (ms > lastMs[place]!) lastMs[place] = ms;
    }
    if (group === UNMATCHED) return;
    for (const match of matches[group]!) {
      const isTaken = narrowed[match] === 0 ||
        tests[match]!.passesBeyondName(path, context, actor, bits);
      if (!isTaken) continue;
      const sum = place * tests.length + match;
      totals[sum]!++;
      this.#addNumber(sum, match, segment, at);
      if (!this.inputs.isListing) continue;
      this.#taken.push({ match, segmentId: segment.segmentId, place: segment.storedPlace(at) });
    }
  }

  #addNumber(sum: number, match: number, segment: LoadedSegment, at: number): void {
    const key = this.inputs.summed[match]!;
    const number = key === null ? null : numberAt(segment, key, at);
    if (number !== null) this.#amounts.add(sum, number);
  }
}

function mergeWatched(
  { lastMs, amounts, taken, ...sums }: WatchedCounts,
  { lastMs: otherMs, amounts: others, taken: more, ...otherSums }: WatchedCounts,
): WatchedCounts {
  const all = new PlaceAmounts();
  all.addAll(amounts);
  all.addAll(others);
  return {
    ...addColumns(sums, otherSums),
    lastMs: lastMs.map((ms, i) => Math.max(ms, otherMs[i]!)),
    amounts: all.plain(),
    taken: [...taken, ...more],
  };
}

export const WATCHED_COUNTS: VisitorKind<WatchedInputs, WatchedCounts> = {
  name: "watched",
  create: (inputs, words) => new WatchedVisitor(inputs, words),
  merge: mergeWatched,
};
