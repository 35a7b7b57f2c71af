import type { IntegerColumn } from "../../store/integer_codec.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { lastMsOf, type RunBits, runBitsOf, type Timeline } from "../../timelines/timeline.ts";
import type { SessionFieldId } from "../../query/filter_conditions.ts";
import type { Span } from "../../query/selection.ts";
import { EventMasks } from "../../scans/event_masks.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { SessionOfEvent } from "../../scans/session_of_event.ts";
import { idsFrom, type IdSource } from "../../scans/value_ids.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { BehindTally } from "../behind/behind_tally.ts";
import { Attempts, type CountedAttempts, joinAttempts } from "./counted_attempts.ts";
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

/** Where the id of an entry's value is: in a column, or with its session. */
export type EntrySource = { readonly column: IdSource } | { readonly session: SessionFieldId };

/** Returns the id of the value at an entry. */
type EntryIdOf = (actor: number, timeline: Timeline, slice: number, at: number) => number;

function entryIdFrom(source: EntrySource): EntryIdOf {
  if ("session" in source) {
    const sessions = new SessionOfEvent(source.session);
    return (_actor, timeline, slice, at) => sessions.idOf(timeline, slice, at);
  }
  const idsOf = idsFrom(source.column);
  return (actor, { segments, segmentOf }, slice, at) =>
    idsOf(segments[segmentOf[slice]!]!)?.[at] ?? actor;
}

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
  readonly by: EntrySource | null;
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
  readonly #attempts: Attempts;
  readonly #entries = new BehindTally();
  readonly #inputs: FunnelInputs;
  readonly #masks: EventMasks;
  /** Null: without `by`. */
  readonly #entryIdOf: EntryIdOf | null;
  readonly bits: RunBits;
  /** By the id of a name: 1 if its events may have a bit of a mask. */
  readonly #matters: Uint8Array;
  #places = new Int32Array(1_024);
  readonly #first: FirstAttempt;
  /** Null: the first attempt of each actor counts. */
  readonly #best: AttemptSearch | null;
  /** By how many steps the first attempt has reached: name bits of the events that matter to it then. */
  readonly #wantedNames: readonly number[];
  /** By step, and of the excluded events: the name bits of the events that have its bit. */
  readonly #stepNames: readonly number[];
  readonly #excludedNames: number;

  constructor(inputs: FunnelInputs, words: readonly Int32Array[]) {
    const { rules, by } = inputs;
    this.#inputs = inputs;
    this.#attempts = new Attempts(rules.stepCount);
    const masks = masksOf(inputs, words);
    this.#masks = masks;
    this.#matters = Uint8Array.from(masks.possible, (bits) => Number(bits !== 0));
    this.#entryIdOf = by === null ? null : entryIdFrom(by);
    this.#first = new FirstAttempt(rules);
    const isFirst = rules.entry === "first" && rules.order !== "unordered";
    this.#best = isFirst ? null : bestAttempt(rules);
    this.bits = { names: masks.nameBits(enteringBits(rules)), paths: -1 };
    this.#wantedNames = Array.from(
      { length: rules.stepCount + 1 },
      (_, depth) => depth === 0 ? this.bits.names : masks.nameBits(wantedAfter(depth)),
    );
    this.#stepNames = Array.from({ length: rules.stepCount }, (_, i) => masks.nameBits(1 << i));
    this.#excludedNames = masks.nameBits(EXCLUDED);
  }

  result(): CountedAttempts {
    return { ...this.#attempts.all(), ...this.#entries.all() };
  }

  visit(actor: number, timeline: Timeline): void {
    const names = runBitsOf(timeline);
    if ((names & this.bits.names) === 0) return;
    const [first, best] = [this.#first, this.#best];
    const { order, stepCount } = this.#inputs.rules;
    const stepsMax = this.#stepsMax(timeline, names);
    const isInOrder = order !== "unordered" || stepsMax === 1;
    // No later attempt is deeper than as deep as can be; but where it ends before the last step, a later entry matters
    // whose window is not over.
    const mayDecide = isInOrder && (stepsMax === stepCount || !this.#mayBeLate(timeline));
    if (best === null || mayDecide) {
      first.clear(stepsMax);
      this.#searchForward(actor, timeline);
      const isBest = first.depth === 0 || first.depth === stepsMax;
      if (best === null || isBest) return this.#take(actor, timeline, first);
    }
    best!.clear();
    this.#searchBack(actor, timeline, best!);
    this.#take(actor, timeline, best!);
  }

  #take(actor: number, timeline: Timeline, search: AttemptSearch): void {
    if (search.depth === 0) return;
    if (this.#inputs.withEntries) this.#entries.add(actor, search.ms[0]!);
    const value = this.#entryIdOf?.(actor, timeline, search.slice, search.at) ?? null;
    this.#attempts.add(search, value, search.lastEntryMs > this.#inputs.lateFromMs);
  }

  /** Tells whether an entry after the first may have a window that is not over. */
  #mayBeLate(timeline: Timeline): boolean {
    const { lateFromMs, rules } = this.#inputs;
    return lateFromMs < rules.toMs && lastMsOf(timeline) > lateFromMs;
  }

  /**
   * Tells by the names of the actor's events how many steps an attempt may reach; all of them if it may be excluded.
   */
  #stepsMax(timeline: Timeline, names: number): number {
    const { order, stepCount } = this.#inputs.rules;
    if (stepCount === 1) return 1;
    if (order === "unordered") return this.#mayGoOn(timeline) ? stepCount : 1;
    if ((names & this.#excludedNames) !== 0) return stepCount;
    let steps = 1;
    while (steps < stepCount && (names & this.#stepNames[steps]!) !== 0) steps++;
    return steps;
  }

  /** Tells by the names of the actor's events whether an unordered attempt may get beyond its entry, or end. */
  #mayGoOn(timeline: Timeline): boolean {
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
    const { first, end, runBits } = timeline;
    for (let slice = first; slice < end && !search.isOver; slice++) {
      if ((runBits[slice]! & this.#wantedNames[search.depth]!) === 0) continue;
      this.#searchSliceForward(actor, timeline, slice);
    }
  }

  #searchSliceForward(actor: number, timeline: Timeline, slice: number): void {
    const segment = timeline.segments[timeline.segmentOf[slice]!]!;
    const { fromMs, times, names } = segment;
    const { possible, isNarrowed, scope } = this.#masks;
    const { reach } = this.#inputs;
    const search = this.#first;
    const hasBots = scope.mayFailByBots(timeline.runBits[slice]!);
    const mayFail = hasBots || isNarrowed;
    const end = timeline.ends[slice]!;
    for (let at = timeline.starts[slice]!; at < end && !search.isOver; at++) {
      let mask = possible[names[at]!]! & search.wanted;
      if (mask === 0) continue;
      const ms = fromMs + times[at]!;
      if (ms < reach.fromMs) continue;
      if (ms >= reach.toMs) return;
      if (mayFail) {
        mask = this.#narrowed(mask, actor, segment, at, hasBots);
        if (mask === 0) continue;
      }
      search.add(mask, ms, slice, at);
    }
  }

  /** Searches from the actor's last event back. A loop for both directions would be slower. */
  #searchBack(actor: number, timeline: Timeline, search: AttemptSearch): void {
    for (let slice = timeline.end - 1; slice >= timeline.first; slice--) {
      this.#searchSliceBack(actor, timeline, slice, search);
    }
  }

  #searchSliceBack(actor: number, timeline: Timeline, slice: number, search: AttemptSearch): void {
    const segment = timeline.segments[timeline.segmentOf[slice]!]!;
    const { fromMs, times, names } = segment;
    const { possible, isNarrowed, scope } = this.#masks;
    const { reach } = this.#inputs;
    const hasBots = scope.mayFailByBots(timeline.runBits[slice]!);
    const mayFail = hasBots || isNarrowed;
    const found = this.#findBack(names, timeline.starts[slice]!, timeline.ends[slice]!);
    const places = this.#places;
    for (let i = 0; i < found; i++) {
      const at = places[i]!;
      let mask = possible[names[at]!]! & search.wanted;
      if (mask === 0) continue;
      const ms = fromMs + times[at]!;
      if (ms >= reach.toMs) continue;
      if (ms < reach.fromMs) return;
      if (mayFail) {
        mask = this.#narrowed(mask, actor, segment, at, hasBots);
        if (mask === 0) continue;
      }
      search.add(mask, ms, slice, at);
    }
  }

  /**
   * Puts the places of the events whose names matter into `#places`, the last one first. No branch depends on
   * an event: as any second name matters, wrong guesses of the processor would take longer than all the rest.
   * @returns how many there are
   */
  #findBack(names: IntegerColumn, start: number, end: number): number {
    if (end - start > this.#places.length) this.#places = new Int32Array(2 * (end - start));
    const [places, matters] = [this.#places, this.#matters];
    let found = 0;
    for (let at = end - 1; at >= start; at--) {
      places[found] = at;
      found += matters[names[at]!]!;
    }
    return found;
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
  merge: joinAttempts,
};
