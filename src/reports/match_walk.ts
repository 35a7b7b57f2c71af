import type { ActorWay } from "../histories/actor_walk.ts";
import type { LoadedSegment } from "../histories/segment_cache.ts";
import { type MatchTests, UNMATCHED, UNSELECTED } from "./match_tests.ts";
import type { Span } from "./selection.ts";
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
  /** When each bucket begins, and when the last one ends. */
  readonly #starts: Float64Array;
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
    this.#starts = Float64Array.of(...buckets.map(({ fromMs }) => fromMs), buckets.at(-1)!.toMs);
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

  visit(actor: number, way: ActorWay): void {
    for (let i = 0; i < way.count; i++) {
      this.follow(actor, way.segments[i]!, way.starts[i]!, way.ends[i]!);
    }
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { fromMs, times, names, paths, contexts, marks } = segment;
    const fromTime = this.#starts[0]! - fromMs;
    const toTime = this.#starts[this.#bucketCount]! - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return;
    const { scope, tests, groupOf, matches, pathsOf, narrowed, isScopeNarrowed } = this.#tests;
    const { contextMin, contextMax } = scope;
    const { totalsOf, actorsOf } = this;
    const lastActorsOf = this.#lastActorsOf;
    const lines = this.#lines;
    const ids = lines === null ? null : lines.idsOf(segment);
    const placesOfMatch = this.#lineCount * this.#bucketCount;
    // Whoever has been seen is looked for in what may match alone.
    let passedOver = this.#countsVisitors && this.#lastVisitor !== actor ? UNSELECTED : UNMATCHED;
    let bucket = this.#bucket;
    let bucketTime = this.#starts[bucket]! - fromMs;
    let bucketEndTime = this.#starts[bucket + 1]! - fromMs;
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
      if (passedOver === UNSELECTED) {
        passedOver = UNMATCHED;
        this.#lastVisitor = actor;
        this.visitors++;
      }
      if (!canMatch) continue;
      if (time < bucketTime || time >= bucketEndTime) {
        bucket = this.#bucketAt(fromMs + time);
        bucketTime = this.#starts[bucket]! - fromMs;
        bucketEndTime = this.#starts[bucket + 1]! - fromMs;
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

  /** The bucket of a moment in the span. */
  #bucketAt(ms: number): number {
    const starts = this.#starts;
    let low = 0;
    let high = this.#bucketCount;
    while (high - low > 1) {
      const bucket = (low + high) >> 1;
      if (starts[bucket]! <= ms) low = bucket;
      else high = bucket;
    }
    return low;
  }
}
