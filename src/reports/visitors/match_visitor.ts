import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { ANY_RUN, type RunBits, type Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type MatchPasses, MatchTests, UNMATCHED, UNSELECTED } from "../../scans/match_tests.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import { idsFrom, type IdsOf } from "../../scans/value_ids.ts";
import { addTo, followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import {
  type Breakdown,
  type FigureCounts,
  mergeFigures,
  PropertyFigures,
} from "./property_figures.ts";
import type { FigureMeasure } from "./trend_measures.ts";

export interface MatchInputs {
  readonly matches: MatchPasses;
  /** In order, without gaps. */
  readonly buckets: readonly Span[];
  /** Absent or null: there is one line. */
  readonly breakdown?: Breakdown | null;
  readonly countsVisitors?: boolean;
  /** Of properties whose numbers must be on the segments: see `prepareNumbers`. */
  readonly figures?: readonly { readonly match: number; readonly measure: FigureMeasure }[];
  /** Whether figures are of the whole span instead of each bucket. */
  readonly figuresOfWhole?: boolean;
}

/** Counts of the events that each match takes. */
export interface MatchCounts {
  /** Distinct actors of all selected events, whatever the matches; 0 without `countsVisitors`. */
  visitors: number;
  /** Distinct actors of each match, over all lines and buckets. */
  readonly actors: Int32Array;
  /** Events and distinct actors, by match, then line, then bucket. */
  readonly totalsOf: Int32Array;
  readonly actorsOf: Int32Array;
  /** Each figure by line, then bucket. */
  readonly figures: readonly FigureCounts[];
}

/**
 * Counts the selected events that each match takes, by line and bucket, and the distinct actors
 * behind them.
 */
class MatchVisitor implements Visitor<MatchCounts> {
  visitors = 0;
  readonly actors: Int32Array;
  readonly totalsOf: Int32Array;
  readonly actorsOf: Int32Array;
  readonly #figures: readonly PropertyFigures[];
  readonly bits: RunBits;
  readonly #lineCount: number;
  readonly #bucketCount: number;

  readonly #tests: MatchTests;
  readonly #breakdown: Breakdown | null;
  readonly #idsOf: IdsOf | null;
  readonly #countsVisitors: boolean;
  readonly #finder: SpanFinder;
  /** The actor who was counted last: as a visitor, by match, and by the place in `actorsOf`. */
  #lastVisitor = -1;
  readonly #lastActors: Int32Array;
  readonly #lastActorsOf: Int32Array;
  /** The bucket of the last event that was counted. */
  #bucket = 0;

  constructor(inputs: MatchInputs, words: readonly Int32Array[]) {
    const { buckets, breakdown = null, countsVisitors = false, figures = [] } = inputs;
    const tests = new MatchTests(inputs.matches, words);
    this.#tests = tests;
    this.#breakdown = breakdown;
    this.#idsOf = breakdown === null ? null : idsFrom(breakdown.from);
    this.#countsVisitors = countsVisitors;
    this.bits = countsVisitors ? ANY_RUN : tests.bits;
    this.#finder = new SpanFinder(buckets);
    this.#lineCount = breakdown?.count ?? 1;
    this.#bucketCount = buckets.length;
    const { fromMs, toMs } = this.#finder;
    const ofFigures = inputs.figuresOfWhole ? [{ fromMs, toMs }] : buckets;
    this.#figures = figures.map(({ match, measure }) =>
      new PropertyFigures(tests, match, measure, ofFigures, breakdown)
    );
    const matches = tests.tests.length;
    const places = matches * this.#lineCount * this.#bucketCount;
    this.actors = new Int32Array(matches);
    this.totalsOf = new Int32Array(places);
    this.actorsOf = new Int32Array(places);
    this.#lastActors = new Int32Array(matches).fill(-1);
    this.#lastActorsOf = new Int32Array(places).fill(-1);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): MatchCounts {
    const { visitors, actors, totalsOf, actorsOf } = this;
    const figures = this.#figures.map((one) => one.counts());
    return { visitors, actors, totalsOf, actorsOf, figures };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    this.#count(actor, segment, start, end);
    for (const one of this.#figures) one.follow(actor, segment, start, end);
  };

  #count(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const fromTime = this.#finder.fromMs - fromMs;
    const toTime = this.#finder.toMs - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return;
    const { scope, tests, groupOf, matches, pathsOf, narrowed, isScopeNarrowed, counted } =
      this.#tests;
    const { contextMin, contextMax } = scope;
    const { totalsOf, actorsOf } = this;
    const lastActorsOf = this.#lastActorsOf;
    const breakdown = this.#breakdown;
    const ids = this.#idsOf === null ? null : this.#idsOf(segment);
    const placesOfMatch = this.#lineCount * this.#bucketCount;
    // An actor already counted as a visitor needs only the events that may match.
    let passedOver = this.#countsVisitors && this.#lastVisitor !== actor ? UNSELECTED : UNMATCHED;
    let bucket = this.#bucket;
    let bucketTime = this.#finder.fromMsOf(bucket) - fromMs;
    let bucketEndTime = this.#finder.toMsOf(bucket) - fromMs;
    for (let at = start; at < end; at++) {
      const name = names[at]!;
      const group = groupOf[name]!;
      if (group <= passedOver) continue;
      const path = paths[at]!;
      const somePaths = pathsOf[group]!;
      const canMatch = somePaths === null || somePaths[path] === 1;
      if (!canMatch && passedOver === UNMATCHED) continue;
      const time = times[at]!;
      if (time < fromTime) continue;
      if (time >= toTime) break;
      const context = contexts[at]!;
      if (context < contextMin || context > contextMax) continue;
      if (isScopeNarrowed && !scope.passesBeyondName(path, context, actor, filterBits[at]!)) {
        continue;
      }
      if (passedOver === UNSELECTED && (counted === null || counted[name] === 1)) {
        passedOver = UNMATCHED;
        this.#lastVisitor = actor;
        this.visitors++;
      }
      if (!canMatch) continue;
      if (time < bucketTime || time >= bucketEndTime) {
        bucket = this.#finder.at(fromMs + time);
        bucketTime = this.#finder.fromMsOf(bucket) - fromMs;
        bucketEndTime = this.#finder.toMsOf(bucket) - fromMs;
      }
      const line = breakdown === null
        ? 0
        : breakdown.lineOf[(ids === null ? actor : ids[at]!) - breakdown.idsFrom]!;
      const place = line * this.#bucketCount + bucket;
      const some = matches[group]!;
      for (let i = 0; i < some.length; i++) {
        const match = some[i]!;
        if (
          narrowed[match] === 1 &&
          !tests[match]!.passesBeyondName(path, context, actor, filterBits[at]!)
        ) {
          continue;
        }
        const counted = match * placesOfMatch + place;
        totalsOf[counted]!++;
        if (lastActorsOf[counted] === actor) continue;
        lastActorsOf[counted] = actor;
        actorsOf[counted]!++;
        if (this.#lastActors[match] === actor) continue;
        this.#lastActors[match] = actor;
        this.actors[match]!++;
      }
    }
    this.#bucket = bucket;
  }
}

export const MATCH_COUNTS: VisitorKind<MatchInputs, MatchCounts> = {
  name: "matches",
  create: (inputs, words) => new MatchVisitor(inputs, words),
  merge: (counts, more) => ({
    visitors: counts.visitors + more.visitors,
    actors: addTo(counts.actors, more.actors),
    totalsOf: addTo(counts.totalsOf, more.totalsOf),
    actorsOf: addTo(counts.actorsOf, more.actorsOf),
    figures: counts.figures.map((one, i) => mergeFigures(one, more.figures[i]!)),
  }),
};
