import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { addKeys, type CountedKeys, KeyCounts } from "../../scans/key_counts.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import {
  addTo,
  followRuns,
  joinColumns,
  type Visitor,
  type VisitorKind,
} from "../../scans/visitor.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";
import { addLinks, keyOf, LinkCounts, linkOf, type LinkSpace } from "./link_counts.ts";
import { codeOf, JourneySteps, nameCode, type StepRules, type StepsBy } from "./journey_steps.ts";

export interface JourneyInputs {
  /** The ways that are followed: of sessions that start in the span, or of actors. */
  readonly of: "session" | "actor";
  readonly span: Span;
  readonly reach: Span;
  readonly rules: StepRules;
  readonly by: StepsBy;
  /** Ids of names whose events are not steps, unless they are the start or the end. */
  readonly passedOver: readonly number[];
  readonly selected: EventPasses;
  readonly start: EventPasses | null;
  readonly end: EventPasses | null;
  /** How many distinct links the first pass may count: see `LINKS_COUNTED_MAX`. */
  readonly linksMax: number;
}

/** Takes a way of `length` steps. `ms`: the start of its session, or for an actor, of `anchorMs`. */
type TakeWay = (way: JourneySteps, length: number, actor: number, ms: number) => void;

/** Follows sessions or actors, and passes each way that it finds to `take`, which counts the `result`. */
class JourneyFinder<Counts> implements Visitor<Counts> {
  /** By name id: 1 if events of the name are not steps. */
  readonly #isPassedOver: Uint8Array;
  readonly #selected: EventTest;
  readonly #start: EventTest | null;
  readonly #end: EventTest | null;
  readonly #steps: JourneySteps;
  readonly #scan: SessionScan;
  #actor = 0;
  #isSelected = false;

  constructor(
    private readonly inputs: JourneyInputs,
    words: readonly Int32Array[],
    private readonly take: TakeWay,
    readonly result: () => Counts,
  ) {
    this.#isPassedOver = new Uint8Array(inputs.selected.termMax + 1);
    for (const name of inputs.passedOver) this.#isPassedOver[name] = 1;
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
    if (this.inputs.of === "session") return this.#scan.visit(actor, timeline);
    this.#steps.begin();
    followRuns(actor, timeline, this.#followActor);
    this.#handOver(null);
  }

  /** Passes on the way if there is one. `startMs`: the start of its session; null: it is an actor's. */
  #handOver(startMs: number | null): void {
    const steps = this.#steps;
    const { stepCount } = steps;
    if (stepCount > 0) this.take(steps, stepCount, this.#actor, startMs ?? steps.anchorMs);
  }

  #visitSession(session: ScannedSession): void {
    const { fromMs, toMs } = this.inputs.span;
    if (!session.hasOwn || session.startMs < fromMs || session.startMs >= toMs) return;
    this.#steps.begin();
    this.#isSelected = false;
    session.forEachSlice(this.#followSession);
    if (this.#isSelected) this.#handOver(session.startMs);
  }

  readonly #followSession = (segment: LoadedSegment, from: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, traffics, filterBits } = segment;
    const actor = this.#actor;
    const steps = this.#steps;
    const [start, last] = [this.#start, this.#end];
    for (let at = from; at < end; at++) {
      if (traffics[at] === 0) continue;
      const name = names[at]!;
      const path = paths[at]!;
      const context = contexts[at]!;
      const bits = filterBits[at]!;
      this.#isSelected ||= this.#selected.passes(name, path, context, actor, bits);
      if (steps.isOver) {
        if (this.#isSelected) return;
        continue;
      }
      const isBegun = steps.hasBegun;
      const isStart = !isBegun && start!.passes(name, path, context, actor, bits);
      // Most sessions have no start, so that their events need no further test.
      if (!isBegun && !isStart) continue;
      const isEnd = last !== null && last.passes(name, path, context, actor, bits);
      this.#add(name, path, true, fromMs + times[at]!, isStart, isEnd);
    }
  };

  readonly #followActor = (
    actor: number,
    segment: LoadedSegment,
    start: number,
    end: number,
  ): void => {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const { span, reach, rules } = this.inputs;
    for (let at = start; at < end && !this.#steps.isOver; at++) {
      const ms = fromMs + times[at]!;
      if (ms < reach.fromMs || ms >= reach.toMs) continue;
      const [name, path] = [names[at]!, paths[at]!];
      const [context, bits] = [contexts[at]!, filterBits[at]!];
      const isSelected = this.#selected.passes(name, path, context, actor, bits);
      const isInSpan = ms >= span.fromMs && ms < span.toMs;
      const isStart = isInSpan &&
        (this.#start?.passes(name, path, context, actor, bits) ?? false);
      // If a start is given, the end may come after the span, within the window.
      const isEnd = (isInSpan || rules.hasStart) &&
        (this.#end?.passes(name, path, context, actor, bits) ?? false);
      // A way without a given start or end begins in the span.
      const isEarly = !isInSpan && !rules.hasStart && !rules.hasEnd && !this.#steps.hasStep;
      if (isStart || isEnd || isSelected && !isEarly) {
        this.#add(name, path, isSelected, ms, isStart, isEnd);
      }
    }
  };

  /** Adds an event. `isSelected` false: it is a step only as the start or the end. */
  #add(
    name: number,
    path: number,
    isSelected: boolean,
    ms: number,
    isStart: boolean,
    isEnd: boolean,
  ): void {
    const code = codeOf(this.inputs.by, name, path);
    const isStep = isSelected && this.#isPassedOver[name] === 0;
    this.#steps.add(isStep ? code : -1, code < 0 ? nameCode(name) : code, ms, isStart, isEnd);
  }
}

export interface JourneyNodes {
  readonly total: number;
  /** By step: how many ways have each value there, by the value's code. */
  readonly counts: readonly CountedKeys[];
  /** By step: how many ways ended just before it. */
  readonly ended: Int32Array;
  readonly space: LinkSpace;
  /** How many ways have each link from step to step; null: there are too many distinct links. */
  readonly links: CountedKeys | null;
}

/** The first pass: counts the values at each step, and the links between them unless there are too many. */
export const JOURNEY_NODES: VisitorKind<JourneyInputs, JourneyNodes> = {
  name: "journey nodes",
  create: (inputs, words) => {
    const { linksMax, rules: { steps } } = inputs;
    const codes = 2 * (inputs.selected.termMax + 1);
    const space: LinkSpace = { steps, codes, linksMax };
    const links = new LinkCounts(space);
    const counts = Array.from({ length: steps }, () => new KeyCounts());
    const ended = new Int32Array(steps);
    let total = 0;
    return new JourneyFinder(inputs, words, (way, length) => {
      total++;
      let from = way.codeAt(0);
      counts[0]!.add(from);
      for (let step = 1; step < length; step++) {
        const to = way.codeAt(step);
        counts[step]!.add(to);
        links.add(keyOf(space, step - 1, from, to));
        from = to;
      }
      if (length === steps) return;
      ended[length]!++;
      links.add(keyOf(space, length - 1, from, codes));
    }, () => {
      return {
        total,
        counts: counts.map((own) => own.result()),
        ended,
        space,
        links: links.result(),
      };
    });
  },
  merge: (counts, more) => ({
    total: counts.total + more.total,
    counts: counts.counts.map((own, step) => addKeys(own, more.counts[step]!)),
    ended: addTo(counts.ended, more.ended),
    space: counts.space,
    links: addLinks(counts.space, counts.links, more.links),
  }),
};

interface JourneyLinkInputs {
  readonly ways: JourneyInputs;
  /** By step: the codes of the values that have a node of their own. */
  readonly shown: readonly (readonly number[])[];
}

/** The place of `$other` among the nodes of a step; shown values follow from 1 on, `$end` is last. */
export const OTHER_PLACE = 0;

/** Returns how many places each step has. */
export function placesOf(shown: readonly (readonly number[])[]): number {
  return Math.max(...shown.map(({ length }) => length)) + 2;
}

/** Looks up the places of values, and counts links between places. */
class ShownPlaces {
  readonly #placeOf: readonly ReadonlyMap<number, number>[];
  readonly #places: number;
  /** How many ways go from each place of a step to each place of the next: step by step, row by row. */
  readonly counts: Int32Array;

  constructor(shown: JourneyLinkInputs["shown"]) {
    this.#placeOf = shown.map((codes) => new Map(codes.map((code, i) => [code, i + 1])));
    this.#places = placesOf(shown);
    this.counts = new Int32Array((shown.length - 1) * this.#places ** 2);
  }

  placeOf(step: number, code: number): number {
    return this.#placeOf[step]!.get(code) ?? OTHER_PLACE;
  }

  get end(): number {
    return this.#places - 1;
  }

  add(step: number, from: number, to: number, ways: number): void {
    this.counts[(step * this.#places + from) * this.#places + to]! += ways;
  }
}

/** Sums the links that the first pass counted to links between shown nodes. */
export function linksBetweenShown(
  { space }: Pick<JourneyNodes, "space">,
  { keys, counts }: CountedKeys,
  shown: JourneyLinkInputs["shown"],
): Int32Array {
  const places = new ShownPlaces(shown);
  for (let i = 0; i < keys.length; i++) {
    const [step, from, to] = linkOf(space, keys[i]!);
    const toPlace = to === space.codes ? places.end : places.placeOf(step + 1, to);
    places.add(step, places.placeOf(step, from), toPlace, counts[i]!);
  }
  return places.counts;
}

/** The second pass, if there are too many distinct links: counts those between shown nodes. */
export const JOURNEY_LINKS: VisitorKind<JourneyLinkInputs, Int32Array> = {
  name: "journey links",
  create: ({ ways, shown }, words) => {
    const { steps } = ways.rules;
    const places = new ShownPlaces(shown);
    return new JourneyFinder(ways, words, (way, length) => {
      let from = places.placeOf(0, way.codeAt(0));
      for (let step = 1; step <= length && step < steps; step++) {
        const to = step < length ? places.placeOf(step, way.codeAt(step)) : places.end;
        places.add(step - 1, from, to, 1);
        from = to;
      }
    }, () => places.counts);
  },
  merge: addTo,
};

/** What a way must have at a step, counted from 0. */
export type WantedStep =
  & { readonly step: number }
  & (
    | { readonly code: number }
    /** Any value except these. */
    | { readonly noneOf: readonly number[] }
    /** The way ended just before the step. */
    | { readonly isEnd: true }
  );

function hasStep(way: JourneySteps, length: number, wanted: WantedStep): boolean {
  const { step } = wanted;
  if ("isEnd" in wanted) return length === step;
  if (step >= length) return false;
  const code = way.codeAt(step);
  return "code" in wanted ? code === wanted.code : !wanted.noneOf.includes(code);
}

/** Lists the sessions or actors whose ways have all of the wanted steps. */
export const JOURNEY_BEHIND: VisitorKind<
  { readonly ways: JourneyInputs; readonly wanted: readonly WantedStep[] },
  Behind
> = {
  name: "journey behind",
  create: ({ ways, wanted }, words) => {
    const behind = new BehindTally();
    return new JourneyFinder(ways, words, (way, length, actor, ms) => {
      if (wanted.every((one) => hasStep(way, length, one))) behind.add(actor, ms);
    }, () => behind.all());
  },
  merge: joinColumns,
};
