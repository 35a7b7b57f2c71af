import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { RunBits, Timeline } from "../../timelines/timeline.ts";
import { type MatchPasses, MatchTests, UNMATCHED } from "../../scans/match_tests.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";

interface MatchedEventsInputs {
  readonly actor: number;
  /** Of each segment the places of the events that are asked about. */
  readonly places: ReadonlyMap<number, ReadonlySet<number>>;
  readonly matches: MatchPasses;
}

/** Events that matches take: where each is stored, and which match it is. */
interface MatchedEvents {
  readonly segmentIds: readonly number[];
  readonly places: readonly number[];
  readonly matches: readonly number[];
}

/** Tells of a few events of one actor which matches take them. */
class MatchedEventsVisitor implements Visitor<MatchedEvents> {
  readonly #inputs: MatchedEventsInputs;
  readonly #tests: MatchTests;
  readonly bits: RunBits;
  readonly #found = {
    segmentIds: [] as number[],
    places: [] as number[],
    matches: [] as number[],
  };

  constructor(inputs: MatchedEventsInputs, words: readonly Int32Array[]) {
    this.#inputs = inputs;
    this.#tests = new MatchTests(inputs.matches, words);
    this.bits = this.#tests.bits;
  }

  visit(actor: number, timeline: Timeline): void {
    if (actor !== this.#inputs.actor) return;
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): MatchedEvents {
    return this.#found;
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const asked = this.#inputs.places.get(segment.segmentId);
    if (asked === undefined) return;
    const { names, paths, contexts, filterBits } = segment;
    const { scope, tests, groupOf, matches, narrowed } = this.#tests;
    for (let at = start; at < end; at++) {
      const group = groupOf[names[at]!]!;
      const context = contexts[at]!;
      if (group <= UNMATCHED || context < scope.contextMin || context > scope.contextMax) continue;
      const place = segment.storedPlace(at);
      if (!asked.has(place)) continue;
      for (const match of matches[group]!) {
        const isTaken = narrowed[match] === 0 ||
          tests[match]!.passesBeyondName(paths[at]!, context, actor, filterBits[at]!);
        if (isTaken) this.#tell(segment.segmentId, place, match);
      }
    }
  };

  #tell(segmentId: number, place: number, match: number): void {
    const { segmentIds, places, matches } = this.#found;
    segmentIds.push(segmentId);
    places.push(place);
    matches.push(match);
  }
}

export const MATCHED_EVENTS: VisitorKind<MatchedEventsInputs, MatchedEvents> = {
  name: "matched events",
  create: (inputs, words) => new MatchedEventsVisitor(inputs, words),
  merge: (found, more) => ({
    segmentIds: [...found.segmentIds, ...more.segmentIds],
    places: [...found.places, ...more.places],
    matches: [...found.matches, ...more.matches],
  }),
};
