import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import type { Span } from "../query/selection.ts";
import { type MatchTests, UNMATCHED, UNSELECTED } from "./match_tests.ts";
import { SpanFinder } from "./span_finder.ts";
import type { IdsOf } from "./value_ids.ts";

/** How events are told apart by the value of a field. */
export interface Lines {
  readonly idsOf: IdsOf;
  /** How many lines there are. */
  readonly count: number;
  /** The line of id i stands at `i - idsFrom`. */
  readonly lineOf: Uint8Array;
  readonly idsFrom: number;
}

const ONE_LINE = 1;

/**
 * Counts the selected events that each match takes, by line and bucket, and the distinct actors
 * behind them. Actors are right where all that one did is followed before what another did.
 */
export class MatchWalk {
  /** Distinct actors of all selected events; 0 where they are not asked for. */
  visitors = 0;
  /** Distinct actors of each match, whatever the line and the bucket. */
  readonly actors: Int32Array;
  /** By match, then line, then bucket. */
  readonly totalsOf: Int32Array;
  readonly actorsOf: Int32Array;
  readonly #lineCount: number;
  readonly #bucketCount: number;

  readonly #tests: MatchTests;
  readonly #lines: Lines | null;
  readonly #countsVisitors: boolean;
  readonly #finder: SpanFinder;
  /** The last actor who was counted: as a visitor, of each match, and at each place of `actorsOf`. */
  #lastVisitor = -1;
  readonly #lastActors: Int32Array;
  readonly #lastActorsOf: Int32Array;
  /** The bucket of the last event that was counted. */
  #bucket = 0;

  /** `buckets`: in order, without gaps. `lines` null: nothing is told apart. */
  constructor(
    tests: MatchTests,
    buckets: readonly Span[],
    lines: Lines | null,
    countsVisitors: boolean,
  ) {
    this.#tests = tests;
    this.#lines = lines;
    this.#countsVisitors = countsVisitors;
    this.#finder = new SpanFinder(buckets);
    this.#lineCount = lines?.count ?? ONE_LINE;
    this.#bucketCount = buckets.length;
    const matches = tests.tests.length;
    const places = matches * this.#lineCount * this.#bucketCount;
    this.actors = new Int32Array(matches);
    this.totalsOf = new Int32Array(places);
    this.actorsOf = new Int32Array(places);
    this.#lastActors = new Int32Array(matches).fill(-1);
    this.#lastActorsOf = new Int32Array(places).fill(-1);
  }

  /** Where the first bucket of a line stands in `totalsOf` and `actorsOf`. */
  placeOf(match: number, line: number): number {
    return (match * this.#lineCount + line) * this.#bucketCount;
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { fromMs, times, names, paths, contexts, marks } = segment;
    const fromTime = this.#finder.fromMs - fromMs;
    const toTime = this.#finder.toMs - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return;
    const { scope, tests, groupOf, matches, pathsOf, narrowed, isScopeNarrowed, counted } =
      this.#tests;
    const { contextMin, contextMax } = scope;
    const { totalsOf, actorsOf } = this;
    const lastActorsOf = this.#lastActorsOf;
    const lines = this.#lines;
    const ids = lines === null ? null : lines.idsOf(segment);
    const placesOfMatch = this.#lineCount * this.#bucketCount;
    // Whoever has been seen is looked for in what may match alone.
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
      if (isScopeNarrowed && !scope.passesBeyondName(path, context, actor, marks[at]!)) continue;
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
      const line = lines === null
        ? 0
        : lines.lineOf[(ids === null ? actor : ids[at]!) - lines.idsFrom]!;
      const place = line * this.#bucketCount + bucket;
      const some = matches[group]!;
      for (let i = 0; i < some.length; i++) {
        const match = some[i]!;
        if (
          narrowed[match] === 1 && !tests[match]!.passesBeyondName(path, context, actor, marks[at]!)
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
