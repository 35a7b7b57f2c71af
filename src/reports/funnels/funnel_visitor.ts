import { nameBit } from "../../timelines/run_bits.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { nameBitsOf, type Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { idsFrom, type IdsOf, type IdSource } from "../../scans/value_ids.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { BehindTally } from "../behind/behind_tally.ts";
import { Attempts, type CountedAttempts, joinAttempts } from "./counted_attempts.ts";
import {
  type ActorEvents,
  type AttemptRules,
  bestAttempt,
  BETWEEN,
  EXCLUDED,
} from "./funnel_attempts.ts";

/** A funnel with its names and filters as ids. */
export interface FunnelInputs {
  readonly scope: EventPasses;
  /** By name id: 1 where events of the name may come between two steps; null: all may. */
  readonly between: Uint8Array | null;
  /** Ids of names whose events never come between two steps; null: the order is not strict. */
  readonly passedOver: readonly number[] | null;
  /** The steps, then the excluded events. */
  readonly matches: readonly EventPasses[];
  readonly rules: AttemptRules;
  readonly reach: Span;
  /** Where the ids of the values at entries are; null without `by`. */
  readonly by: IdSource | null;
  /** The window of an entry after this moment is not over. */
  readonly lateFromMs: number;
  /** Whether the actor and the entry of each attempt are returned. */
  readonly tellsActors: boolean;
}

const ANY_BIT = 0xffff;
const SECOND_STEP = 2;
/** All times of a segment, in milliseconds, are below it. */
const TIME_END = 2 ** 31;

/** One bit of an event's mask, and the events that have it. */
interface MaskTest {
  readonly bit: number;
  readonly test: EventTest;
}

/** Makes the masks of events: which steps an event is, whether it is excluded or comes between. */
class EventMasks {
  /** By the id of a name: every bit that its events may have, and those that all of them have. */
  readonly possible: Uint16Array;
  readonly sure: Uint16Array;
  /** Whether more than the name decides, apart from bots. */
  readonly isNarrowed: boolean;
  readonly #narrowed: readonly MaskTest[];

  readonly scope: EventTest;

  constructor(
    { between, passedOver: passed, matches, rules: { stepCount }, ...inputs }: FunnelInputs,
    words: readonly Int32Array[],
  ) {
    const scope = new EventTest(inputs.scope, words);
    this.scope = scope;
    const parts = matches.map((match, i): MaskTest => ({
      bit: i < stepCount ? 1 << i : EXCLUDED,
      test: new EventTest(match, words),
    }));
    const names = scope.termMax + 1;
    this.possible = new Uint16Array(names);
    this.sure = new Uint16Array(names);
    for (let name = 0; name < names; name++) {
      if (scope.names !== null && scope.names[name] === 0) continue;
      const isPassed = passed === null || passed.includes(name) || between?.[name] === 0;
      let sure = isPassed ? 0 : BETWEEN;
      let possible = sure;
      for (const { bit, test } of parts) {
        if (test.names !== null && test.names[name] === 0) continue;
        possible |= bit;
        if (test.isOfName) sure |= bit;
      }
      this.possible[name] = possible;
      this.sure[name] = sure;
    }
    this.#narrowed = parts.filter(({ test }) => !test.isOfName);
    this.isNarrowed = !scope.isOfName || this.#narrowed.length > 0;
  }

  /** Returns the name bits of all names whose events may have one of these mask bits. */
  nameBits(bits: number): number {
    let names = 0;
    for (let name = 0; name < this.possible.length; name++) {
      if ((this.possible[name]! & bits) !== 0) names |= nameBit(name);
    }
    return names;
  }

  /** Returns the mask of an event whose name makes some bit possible. */
  narrow(name: number, path: number, context: number, actor: number, eventBits: number): number {
    if (!this.scope.passesBeyondName(path, context, actor, eventBits)) return 0;
    let mask = this.sure[name]!;
    for (const { bit, test } of this.#narrowed) {
      if ((mask & bit) === 0 && test.passes(name, path, context, actor, eventBits)) mask |= bit;
    }
    return mask;
  }
}

/** Follows one actor after the other, and keeps the attempt of each that counts. */
class FunnelVisitor implements Visitor<CountedAttempts> {
  readonly #attempts = new Attempts();
  readonly #entries: BehindTally | null;
  readonly masks: EventMasks;
  readonly rules: AttemptRules;
  readonly reach: Span;
  readonly idsOf: IdsOf | null;
  readonly lateFromMs: number;
  readonly #entering: number;
  readonly #steps: number;
  /** Name bits of the events by which an actor may enter, and of those that then continue or end it. */
  readonly #enteringNames: number;
  readonly #goingOnNames: number;
  /** The mask bits that matter after the first entry. */
  readonly #wantedLater: number;
  #ms = new Float64Array(1024);
  #masks = new Uint16Array(1024);
  #values = new Int32Array(1024);
  #length = 0;
  /** The bits of all events of the actor. */
  #seen = 0;

  constructor(inputs: FunnelInputs, words: readonly Int32Array[]) {
    const { rules, reach, by, lateFromMs, tellsActors } = inputs;
    const masks = new EventMasks(inputs, words);
    this.#entries = tellsActors ? new BehindTally() : null;
    this.masks = masks;
    this.rules = rules;
    this.reach = reach;
    this.idsOf = by === null ? null : idsFrom(by);
    this.lateFromMs = lateFromMs;
    this.#steps = (1 << rules.stepCount) - 1;
    const isInOrder = rules.order !== "unordered";
    this.#entering = isInOrder ? 1 : this.#steps;
    this.#wantedLater = isInOrder && rules.entry === "first" ? ANY_BIT & ~1 : ANY_BIT;
    this.#enteringNames = masks.nameBits(this.#entering);
    this.#goingOnNames = masks.nameBits(SECOND_STEP | EXCLUDED);
  }

  result(): CountedAttempts {
    return { ...this.#attempts.all(), entries: this.#entries?.all() ?? null };
  }

  visit(actor: number, timeline: Timeline): void {
    const names = nameBitsOf(timeline);
    if ((names & this.#enteringNames) === 0) return;
    if (!this.#mayGoOn(timeline, names)) {
      this.#takeEntry(actor, timeline);
      return;
    }
    this.#length = 0;
    this.#seen = 0;
    const { segments, segmentOf, starts, ends, nameBits } = timeline;
    for (let i = timeline.first; i < timeline.end; i++) {
      const hasBots = this.masks.scope.mayFailByBots(nameBits[i]!);
      this.#gather(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!, hasBots);
    }
    if (this.#length > 0 && this.#ms[0]! < this.rules.toMs) this.#finish(actor);
  }

  /** Tells by the names of the actor's events whether an attempt may get beyond its entry, or end. */
  #mayGoOn(timeline: Timeline, names: number): boolean {
    const { order, stepCount } = this.rules;
    if (stepCount === 1) return false;
    return order === "unordered"
      ? !this.#endsAtEntry(this.#possibleOf(timeline))
      : (names & this.#goingOnNames) !== 0;
  }

  /** Returns all bits that the actor's events may have by their names, at any time. */
  #possibleOf(timeline: Timeline): number {
    const { possible } = this.masks;
    const { segments, segmentOf, starts, ends } = timeline;
    let bits = 0;
    for (let i = timeline.first; i < timeline.end; i++) {
      const { names } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) bits |= possible[names[at]!]!;
    }
    return bits;
  }

  /** Adds the attempt of an actor who cannot get beyond an entry. */
  #takeEntry(actor: number, timeline: Timeline): void {
    const { segments, segmentOf, starts, ends } = timeline;
    for (let i = timeline.first; i < timeline.end; i++) {
      const segment = segments[segmentOf[i]!]!;
      for (let at = starts[i]!; at < ends[i]!; at++) {
        if (!this.#isEntry(actor, segment, at)) continue;
        const ms = segment.fromMs + segment.times[at]!;
        const isLate = ms > this.lateFromMs ||
          this.rules.entry === "any" && this.#hasLateEntry(actor, timeline);
        this.#entries?.add(actor, ms);
        this.#attempts.addEntry(isLate, this.idsOf?.(segment)?.[at] ?? actor);
        return;
      }
    }
  }

  #isEntry(actor: number, segment: LoadedSegment, at: number): boolean {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const { masks, rules } = this;
    const name = names[at]!;
    if ((masks.possible[name]! & this.#entering) === 0) return false;
    const ms = fromMs + times[at]!;
    if (ms < rules.fromMs || ms >= rules.toMs) return false;
    const context = contexts[at]!;
    if (context < masks.scope.contextMin || context > masks.scope.contextMax) return false;
    return !masks.isNarrowed ||
      (masks.narrow(name, paths[at]!, context, actor, filterBits[at]!) & this.#entering) !== 0;
  }

  #hasLateEntry(actor: number, timeline: Timeline): boolean {
    const { segments, segmentOf, starts, ends } = timeline;
    for (let i = timeline.end - 1; i >= timeline.first; i--) {
      const segment = segments[segmentOf[i]!]!;
      for (let at = ends[i]! - 1; at >= starts[i]!; at--) {
        if (segment.fromMs + segment.times[at]! <= this.lateFromMs) return false;
        if (this.#isEntry(actor, segment, at)) return true;
      }
    }
    return false;
  }

  /** Keeps the events of a slice that matter, from the actor's first entry on. */
  #gather(
    actor: number,
    segment: LoadedSegment,
    start: number,
    end: number,
    hasBots: boolean,
  ): void {
    this.#makeRoom(end - start);
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const fromTime = Math.max(this.reach.fromMs - fromMs, 0);
    const toTime = Math.min(this.reach.toMs - fromMs, TIME_END);
    const masks = this.masks;
    const { possible, isNarrowed } = masks;
    const { contextMin, contextMax } = masks.scope;
    const entering = this.#entering;
    const later = this.#wantedLater;
    const values = this.idsOf?.(segment) ?? null;
    const keptMs = this.#ms;
    const keptMasks = this.#masks;
    const keptValues = this.#values;
    let length = this.#length;
    let seen = this.#seen;
    let wanted = length === 0 ? ANY_BIT : later;
    for (let at = start; at < end; at++) {
      const name = names[at]!;
      let mask = possible[name]! & wanted;
      if (mask === 0) continue;
      const time = times[at]!;
      if (time < fromTime) continue;
      if (time >= toTime) break;
      if (hasBots && (contexts[at]! < contextMin || contexts[at]! > contextMax)) continue;
      if (isNarrowed) {
        mask = masks.narrow(name, paths[at]!, contexts[at]!, actor, filterBits[at]!) & wanted;
      }
      if (mask === 0 || (length === 0 && (mask & entering) === 0)) continue;
      keptMs[length] = fromMs + time;
      keptMasks[length] = mask;
      keptValues[length] = values === null ? actor : values[at]!;
      seen |= mask;
      length++;
      wanted = later;
    }
    this.#length = length;
    this.#seen = seen;
  }

  #finish(actor: number): void {
    if (this.#endsAtEntry(this.#seen)) {
      this.#entries?.add(actor, this.#ms[0]!);
      this.#attempts.addEntry(this.#isLate(this.#lastEntry()), this.#values[0]!);
      return;
    }
    const events: ActorEvents = { length: this.#length, ms: this.#ms, masks: this.#masks };
    const attempt = bestAttempt(events, this.rules);
    if (attempt === null) return;
    const { entry, died, lastEntry } = attempt;
    const ms = attempt.events.map((place) => this.#ms[place]!);
    this.#entries?.add(actor, ms[0]!);
    this.#attempts.add(ms, died, this.#isLate(lastEntry), this.#values[entry]!);
  }

  /** Tells whether events of these bits neither continue an attempt beyond its entry nor end it. */
  #endsAtEntry(bits: number): boolean {
    const { order, stepCount } = this.rules;
    if (stepCount === 1) return true;
    if ((bits & EXCLUDED) !== 0) return false;
    const steps = bits & this.#steps;
    return order === "unordered" ? (steps & steps - 1) === 0 : (steps & SECOND_STEP) === 0;
  }

  /** Returns the index of the last entry that is tried. */
  #lastEntry(): number {
    if (this.rules.entry === "first") return 0;
    let place = this.#length - 1;
    while (this.#ms[place]! >= this.rules.toMs || (this.#masks[place]! & this.#entering) === 0) {
      place--;
    }
    return place;
  }

  #isLate(entry: number): boolean {
    return this.#ms[entry]! > this.lateFromMs;
  }

  #makeRoom(events: number): void {
    const needed = this.#length + events;
    if (needed <= this.#ms.length) return;
    const [ms, masks, values] = [this.#ms, this.#masks, this.#values];
    (this.#ms = new Float64Array(2 * needed)).set(ms);
    (this.#masks = new Uint16Array(2 * needed)).set(masks);
    (this.#values = new Int32Array(2 * needed)).set(values);
  }
}

export const FUNNEL: VisitorKind<FunnelInputs, CountedAttempts> = {
  name: "funnel",
  create: (inputs, words) => new FunnelVisitor(inputs, words),
  merge: joinAttempts,
};
