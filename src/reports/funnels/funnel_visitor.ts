import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { lastMsOf, type RunBits, runBitsOf, type Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { EventMasks } from "../../scans/event_masks.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { idsFrom, type IdsOf, type IdSource } from "../../scans/value_ids.ts";
import { joinColumns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { BehindTally } from "../behind/behind_tally.ts";
import { Attempts, type CountedAttempts } from "./counted_attempts.ts";
import {
  type AttemptRules,
  type AttemptSearch,
  bestAttempt,
  BETWEEN,
  enteringBits,
  EXCLUDED,
  FirstAttempt,
  wantedAfter,
} from "./funnel_attempts.ts";

/** A funnel with its names and filters as ids. */
export interface FunnelInputs {
  readonly scope: EventPasses;
  /** By name id: 1 if events of the name may come between two steps; null: all may. */
  readonly between: Uint8Array | null;
  /** Ids of names whose events never come between two steps; null: the order is not strict. */
  readonly passedOver: readonly number[] | null;
  /** The steps, then the excluded events. */
  readonly matches: readonly EventPasses[];
  readonly rules: AttemptRules;
  readonly reach: Span;
  /** The source of the ids of values at entries; null: without `by`. */
  readonly by: IdSource | null;
  /** The window of an entry after this moment is not over. */
  readonly lateFromMs: number;
  /** Whether the actor and the time of each attempt's entry are returned. */
  readonly withEntries: boolean;
}

/** Makes the masks of events: which steps an event matches, and whether it is excluded or comes between. */
function masksOf(
  { scope, between, passedOver, matches, rules: { stepCount } }: FunnelInputs,
  words: readonly Int32Array[],
): EventMasks {
  const tests = matches.map((match, i) => ({
    bit: i < stepCount ? 1 << i : EXCLUDED,
    test: new EventTest(match, words),
  }));
  const isPassed = (name: number) =>
    passedOver === null || passedOver.includes(name) || between?.[name] === 0;
  return new EventMasks(
    new EventTest(scope, words),
    tests,
    (name) => isPassed(name) ? 0 : BETWEEN,
  );
}

/** Follows one actor after the other, and keeps the attempt that counts for each. */
class FunnelVisitor implements Visitor<CountedAttempts> {
  readonly #attempts = new Attempts();
  readonly #entries = new BehindTally();
  readonly #inputs: FunnelInputs;
  readonly #masks: EventMasks;
  readonly #idsOf: IdsOf | null;
  readonly bits: RunBits;
  readonly #first: FirstAttempt;
  /** Null: the first attempt of each actor counts. */
  readonly #best: AttemptSearch | null;
  /** By how many steps the first attempt has reached: name bits of the events that matter to it then. */
  readonly #wantedNames: readonly number[];

  constructor(inputs: FunnelInputs, words: readonly Int32Array[]) {
    const { rules, by } = inputs;
    this.#inputs = inputs;
    const masks = masksOf(inputs, words);
    this.#masks = masks;
    this.#idsOf = by === null ? null : idsFrom(by);
    this.#first = new FirstAttempt(rules);
    const isFirst = rules.entry === "first" && rules.order !== "unordered";
    this.#best = isFirst ? null : bestAttempt(rules);
    this.bits = { names: masks.nameBits(enteringBits(rules)), paths: -1 };
    this.#wantedNames = Array.from(
      { length: rules.stepCount + 1 },
      (_, depth) => depth === 0 ? this.bits.names : masks.nameBits(wantedAfter(depth)),
    );
  }

  result(): CountedAttempts {
    return { ...this.#attempts.all(), ...this.#entries.all() };
  }

  visit(actor: number, timeline: Timeline): void {
    const names = runBitsOf(timeline);
    if ((names & this.bits.names) === 0) return;
    const goesOn = this.#mayGoOn(timeline, names);
    if (this.#best !== null && (goesOn || this.#mayBeLate(timeline))) {
      this.#best.clear();
      this.#searchBack(actor, timeline, this.#best);
      this.#take(actor, this.#best);
    } else {
      this.#first.clear(goesOn ? this.#inputs.rules.stepCount : 1);
      this.#searchForward(actor, timeline);
      this.#take(actor, this.#first);
    }
  }

  #take(actor: number, search: AttemptSearch): void {
    if (search.depth === 0) return;
    if (this.#inputs.withEntries) this.#entries.add(actor, search.ms[0]!);
    this.#attempts.add(search, search.lastEntryMs > this.#inputs.lateFromMs);
  }

  /** Tells whether an entry after the first may have a window that is not over. */
  #mayBeLate(timeline: Timeline): boolean {
    const { lateFromMs, rules } = this.#inputs;
    return lateFromMs < rules.toMs && lastMsOf(timeline) > lateFromMs;
  }

  /** Tells by the names of the actor's events whether an attempt may get beyond its entry, or end. */
  #mayGoOn(timeline: Timeline, names: number): boolean {
    const { order, stepCount } = this.#inputs.rules;
    if (stepCount === 1) return false;
    if (order !== "unordered") return (names & this.#wantedNames[1]!) !== 0;
    const bits = this.#possibleOf(timeline);
    const steps = bits & enteringBits(this.#inputs.rules);
    return (bits & EXCLUDED) !== 0 || (steps & steps - 1) !== 0;
  }

  /** Returns all bits that the actor's events may have by their names, at any time. */
  #possibleOf(timeline: Timeline): number {
    const { possible } = this.#masks;
    const { segments, segmentOf, starts, ends } = timeline;
    let bits = 0;
    for (let i = timeline.first; i < timeline.end; i++) {
      const { names } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) bits |= possible[names[at]!]!;
    }
    return bits;
  }

  /** Searches from the actor's first event on, until it is over. */
  #searchForward(actor: number, timeline: Timeline): void {
    const search = this.#first;
    const { first, end, segments, segmentOf, starts, ends, runBits } = timeline;
    for (let i = first; i < end && !search.isOver; i++) {
      const bits = runBits[i]!;
      if ((bits & this.#wantedNames[search.depth]!) === 0) continue;
      const hasBots = this.#masks.scope.mayFailByBots(bits);
      this.#searchRunForward(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!, hasBots);
    }
  }

  #searchRunForward(
    actor: number,
    segment: LoadedSegment,
    start: number,
    end: number,
    hasBots: boolean,
  ): void {
    const { fromMs, times, names } = segment;
    const { possible } = this.#masks;
    const { reach } = this.#inputs;
    const search = this.#first;
    const values = this.#idsOf?.(segment) ?? null;
    const mayFail = hasBots || this.#masks.isNarrowed;
    for (let at = start; at < end && !search.isOver; at++) {
      let mask = possible[names[at]!]! & search.wanted;
      if (mask === 0) continue;
      const ms = fromMs + times[at]!;
      if (ms < reach.fromMs) continue;
      if (ms >= reach.toMs) return;
      if (mayFail) {
        mask = this.#narrowed(mask, actor, segment, at, hasBots);
        if (mask === 0) continue;
      }
      search.add(mask, ms, values === null ? actor : values[at]!);
    }
  }

  /** Searches from the actor's last event back. A loop for both directions would be slower. */
  #searchBack(actor: number, timeline: Timeline, search: AttemptSearch): void {
    const { first, end, segments, segmentOf, starts, ends, runBits } = timeline;
    for (let i = end - 1; i >= first; i--) {
      const hasBots = this.#masks.scope.mayFailByBots(runBits[i]!);
      this.#searchRunBack(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!, hasBots, search);
    }
  }

  #searchRunBack(
    actor: number,
    segment: LoadedSegment,
    start: number,
    end: number,
    hasBots: boolean,
    search: AttemptSearch,
  ): void {
    const { fromMs, times, names } = segment;
    const { possible } = this.#masks;
    const { reach } = this.#inputs;
    const values = this.#idsOf?.(segment) ?? null;
    const mayFail = hasBots || this.#masks.isNarrowed;
    for (let at = end - 1; at >= start; at--) {
      let mask = possible[names[at]!]!;
      if (mask === 0) continue;
      const ms = fromMs + times[at]!;
      if (ms >= reach.toMs) continue;
      if (ms < reach.fromMs) return;
      if (mayFail) {
        mask = this.#narrowed(mask, actor, segment, at, hasBots);
        if (mask === 0) continue;
      }
      search.add(mask, ms, values === null ? actor : values[at]!);
    }
  }

  /** Returns which of the possible bits an event has, if its mask depends on more than its name. */
  #narrowed(
    possible: number,
    actor: number,
    segment: LoadedSegment,
    at: number,
    hasBots: boolean,
  ): number {
    const { names, paths, contexts, filterBits } = segment;
    const { isNarrowed, scope } = this.#masks;
    const context = contexts[at]!;
    if (hasBots && (context < scope.contextMin || context > scope.contextMax)) return 0;
    return isNarrowed
      ? this.#masks.narrow(possible, names[at]!, paths[at]!, context, actor, filterBits[at]!)
      : possible;
  }
}

export const FUNNEL: VisitorKind<FunnelInputs, CountedAttempts> = {
  name: "funnel",
  create: (inputs, words) => new FunnelVisitor(inputs, words),
  merge: joinColumns,
};
