import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import { addTo, followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { type Behind, BehindTally, joinBehind } from "../behind_tally.ts";
import { codeOf, JourneySteps, nameCode, type StepRules, type StepsBy } from "./journey_steps.ts";

export interface JourneyInputs {
  /** Whose ways: sessions that start in the span, or actors, from an event in it on. */
  readonly of: "session" | "actor";
  readonly span: Span;
  readonly reach: Span;
  readonly rules: StepRules;
  readonly by: StepsBy;
  /** Ids of names whose events are no steps, unless they are the start or the end. */
  readonly passedOver: readonly number[];
  readonly selected: EventPasses;
  readonly start: EventPasses | null;
  readonly end: EventPasses | null;
}

/** Takes a way: the codes of its steps, whose it is, and when its session, or of an actor itself, began. */
type TakeWay = (codes: readonly number[], actor: number, ms: number) => void;

/** Follows sessions or actors, and hands each way that is found to `count`. */
class JourneyFinder {
  readonly #inputs: JourneyInputs;
  readonly #count: TakeWay;
  readonly #selected: EventTest;
  readonly #start: EventTest | null;
  readonly #end: EventTest | null;
  readonly #steps: JourneySteps;
  readonly #scan: SessionScan;
  #actor = 0;
  #isSelected = false;

  constructor(inputs: JourneyInputs, words: readonly Int32Array[], count: TakeWay) {
    this.#inputs = inputs;
    this.#count = count;
    const test = (passes: EventPasses | null) =>
      passes === null ? null : new EventTest(passes, words);
    this.#selected = test(inputs.selected)!;
    this.#start = test(inputs.start);
    this.#end = test(inputs.end);
    this.#steps = new JourneySteps(inputs.rules);
    this.#scan = new SessionScan(inputs.reach, (session) => this.#visitSession(session));
  }

  visit(actor: number, timeline: Timeline): void {
    this.#actor = actor;
    if (this.#inputs.of === "session") return this.#scan.visit(actor, timeline);
    this.#steps.begin();
    followRuns(actor, timeline, this.#followActor);
    this.#tell(null);
  }

  /** `ms`: when the session started; null: it is an actor's. */
  #tell(ms: number | null): void {
    const { found } = this.#steps;
    if (found !== null) this.#count(found, this.#actor, ms ?? this.#steps.anchorMs);
  }

  #visitSession(session: ScannedSession): void {
    const { fromMs, toMs } = this.#inputs.span;
    if (session.traffic === 0 || session.startMs < fromMs || session.startMs >= toMs) return;
    this.#steps.begin();
    this.#isSelected = false;
    session.forEachSlice(this.#followSession);
    if (this.#isSelected) this.#tell(session.startMs);
  }

  readonly #followSession = (segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, traffics, filterBits } = segment;
    const actor = this.#actor;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) continue;
      const [name, path] = [names[at]!, paths[at]!];
      const [context, bits] = [contexts[at]!, filterBits[at]!];
      this.#isSelected ||= this.#selected.passes(name, path, context, actor, bits);
      if (this.#steps.isOver) {
        if (this.#isSelected) return;
        continue;
      }
      const isStart = this.#start?.passes(name, path, context, actor, bits) ?? false;
      const isEnd = this.#end?.passes(name, path, context, actor, bits) ?? false;
      this.#add({ name, path, isSelected: true }, fromMs + times[at]!, isStart, isEnd);
    }
  };

  readonly #followActor = (
    actor: number,
    segment: LoadedSegment,
    start: number,
    end: number,
  ): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const { span, reach, rules } = this.#inputs;
    for (let at = start; at < end && !this.#steps.isOver; at++) {
      const ms = fromMs + times[at]!;
      if (ms < reach.fromMs || ms >= reach.toMs) continue;
      const [name, path] = [names[at]!, paths[at]!];
      const [context, bits] = [contexts[at]!, filterBits[at]!];
      const isSelected = this.#selected.passes(name, path, context, actor, bits);
      const isInSpan = ms >= span.fromMs && ms < span.toMs;
      const isStart = isInSpan &&
        (this.#start?.passes(name, path, context, actor, bits) ?? false);
      // Of a way from its start the end may come later, as far as the window goes.
      const isEnd = (isInSpan || rules.hasStart) &&
        (this.#end?.passes(name, path, context, actor, bits) ?? false);
      // A way without a given start or end begins in the span.
      const isEarly = !isInSpan && !rules.hasStart && !rules.hasEnd && !this.#steps.hasStep;
      if (isStart || isEnd || isSelected && !isEarly) {
        this.#add({ name, path, isSelected }, ms, isStart, isEnd);
      }
    }
  };

  /** `isSelected`: whether the event may be a step; else it is one as the start or the end alone. */
  #add(
    { name, path, isSelected }: { name: number; path: number; isSelected: boolean },
    ms: number,
    isStart: boolean,
    isEnd: boolean,
  ): void {
    const { by, passedOver } = this.#inputs;
    const code = codeOf(by, name, path);
    const anchor = code < 0 ? nameCode(name) : code;
    const isStep = isSelected && !passedOver.includes(name);
    this.#steps.add(isStep ? code : -1, anchor, ms, isStart, isEnd);
  }
}

/** How many ways have each value at each step, by the value's code; and how many ended before it. */
export interface JourneyNodes {
  readonly total: number;
  readonly counts: readonly Int32Array[];
  readonly ended: Int32Array;
}

class NodeCounter implements Visitor<JourneyNodes> {
  readonly #finder: JourneyFinder;
  readonly #counts: readonly Int32Array[];
  readonly #ended: Int32Array;
  #total = 0;

  constructor(inputs: JourneyInputs, words: readonly Int32Array[]) {
    const { steps } = inputs.rules;
    const codes = 2 * (inputs.selected.termMax + 1);
    this.#counts = Array.from({ length: steps }, () => new Int32Array(codes));
    this.#ended = new Int32Array(steps);
    this.#finder = new JourneyFinder(inputs, words, (found) => this.#count(found));
  }

  visit(actor: number, timeline: Timeline): void {
    this.#finder.visit(actor, timeline);
  }

  #count(found: readonly number[]): void {
    this.#total++;
    for (let step = 0; step < found.length; step++) this.#counts[step]![found[step]!]!++;
    if (found.length < this.#ended.length) this.#ended[found.length]!++;
  }

  result(): JourneyNodes {
    return { total: this.#total, counts: this.#counts, ended: this.#ended };
  }
}

/** The first pass: what stands at each step. */
export const JOURNEY_NODES: VisitorKind<JourneyInputs, JourneyNodes> = {
  name: "journey nodes",
  create: (inputs, words) => new NodeCounter(inputs, words),
  merge: (counts, more) => ({
    total: counts.total + more.total,
    counts: counts.counts.map((own, step) => addTo(own, more.counts[step]!)),
    ended: addTo(counts.ended, more.ended),
  }),
};

export interface JourneyLinkInputs {
  readonly ways: JourneyInputs;
  /** Of each step the codes of the values that are told by themselves. */
  readonly told: readonly (readonly number[])[];
}

/** Where a value stands among those of its step: the told ones from 1 on, then the end; others together. */
export const OTHER_PLACE = 0;

/** How many places a step has. */
export function placesOf(told: readonly (readonly number[])[]): number {
  return Math.max(...told.map(({ length }) => length)) + 2;
}

class LinkCounter implements Visitor<Int32Array> {
  readonly #finder: JourneyFinder;
  readonly #placeOf: readonly ReadonlyMap<number, number>[];
  readonly #places: number;
  readonly #counts: Int32Array;

  constructor({ ways, told }: JourneyLinkInputs, words: readonly Int32Array[]) {
    this.#placeOf = told.map((codes) => new Map(codes.map((code, i) => [code, i + 1])));
    this.#places = placesOf(told);
    this.#counts = new Int32Array((ways.rules.steps - 1) * this.#places ** 2);
    this.#finder = new JourneyFinder(ways, words, (found) => this.#count(found));
  }

  visit(actor: number, timeline: Timeline): void {
    this.#finder.visit(actor, timeline);
  }

  #count(found: readonly number[]): void {
    let from = this.#placeOf[0]!.get(found[0]!) ?? OTHER_PLACE;
    const last = Math.min(found.length, this.#placeOf.length - 1);
    for (let step = 1; step <= last; step++) {
      const to = step < found.length
        ? this.#placeOf[step]!.get(found[step]!) ?? OTHER_PLACE
        : this.#places - 1;
      this.#counts[((step - 1) * this.#places + from) * this.#places + to]!++;
      from = to;
    }
  }

  result(): Int32Array {
    return this.#counts;
  }
}

/** The second pass: how many went from each place of a step to each of the next, one row behind the other. */
export const JOURNEY_LINKS: VisitorKind<JourneyLinkInputs, Int32Array> = {
  name: "journey links",
  create: (inputs, words) => new LinkCounter(inputs, words),
  merge: (counts, more) => addTo(counts, more),
};

/** What a way must have at a step, counted from 0. */
export type WantedStep =
  & { readonly step: number }
  & (
    /** The value of a code, or one that is told by none of these. */
    | { readonly code: number }
    | { readonly noneOf: readonly number[] }
    /** It ended just before. */
    | { readonly isEnd: true }
  );

export interface JourneyBehindInputs {
  readonly ways: JourneyInputs;
  /** All of them. */
  readonly wanted: readonly WantedStep[];
}

function hasStep(found: readonly number[], wanted: WantedStep): boolean {
  const { step } = wanted;
  if ("isEnd" in wanted) return found.length === step;
  if (step >= found.length) return false;
  return "code" in wanted ? found[step] === wanted.code : !wanted.noneOf.includes(found[step]!);
}

class BehindFinder implements Visitor<Behind> {
  readonly #finder: JourneyFinder;
  readonly #behind = new BehindTally();

  constructor({ ways, wanted }: JourneyBehindInputs, words: readonly Int32Array[]) {
    this.#finder = new JourneyFinder(ways, words, (found, actor, ms) => {
      if (wanted.every((one) => hasStep(found, one))) this.#behind.add(actor, ms);
    });
  }

  visit(actor: number, timeline: Timeline): void {
    this.#finder.visit(actor, timeline);
  }

  result(): Behind {
    return this.#behind.all();
  }
}

/** Whose ways have certain values at certain steps. */
export const JOURNEY_BEHIND: VisitorKind<JourneyBehindInputs, Behind> = {
  name: "journey behind",
  create: (inputs, words) => new BehindFinder(inputs, words),
  merge: joinBehind,
};
