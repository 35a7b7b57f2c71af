import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { GrowingList } from "../../timelines/growing_list.ts";
import type { RunBits, Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { CELL_DEVICE, stepOf } from "../../store/heatmap_cell.ts";
import { type MatchPasses, MatchTests } from "../../scans/match_tests.ts";
import { idsFrom, type IdsOf, type IdSource, NO_ID } from "../../scans/value_ids.ts";
import { followRuns, joinColumns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

interface CellInputs {
  /** One match, which must depend on names and paths only. */
  readonly matches: MatchPasses;
  readonly span: Span;
  /** The device bits of a cell. */
  readonly device: number;
  /** Where the ids of elements are; null: elements are not listed. */
  readonly elements: IdSource | null;
}

/** The matching events of one device, in any order. */
export interface CellEvents {
  readonly actors: Int32Array;
  readonly cells: Int32Array;
  /** By event, the id of the element, `NO_ID`: none; empty where elements are not listed. */
  readonly elements: Int32Array;
}

/**
 * Lists events. Counting distinct visitors meanwhile would need each visitor's events of all segments one after
 * the other. As few events of a run are of the page, most of the time would be spent on reaching runs in
 * another order than that of memory.
 */
class CellVisitor implements Visitor<CellEvents> {
  readonly #inputs: CellInputs;
  readonly #tests: MatchTests;
  readonly bits: RunBits;
  readonly #elementsOf: IdsOf | null;
  readonly #actors = new GrowingList(new Int32Array(1_024));
  readonly #cells = new GrowingList(new Int32Array(1_024));
  readonly #elements = new GrowingList(new Int32Array(1_024));

  constructor(inputs: CellInputs, words: readonly Int32Array[]) {
    this.#inputs = inputs;
    this.#tests = new MatchTests(inputs.matches, words);
    this.bits = this.#tests.bits;
    this.#elementsOf = inputs.elements === null ? null : idsFrom(inputs.elements);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  visitRuns(segment: LoadedSegment, from: number, to: number, actorOf: Int32Array): void {
    const { identities, starts, ends, runBits, names: ids, paths } = segment;
    const { names, paths: pages } = this.#tests.tests[0]!;
    const bits = this.bits;
    for (let run = from; run < to; run++) {
      const ofRun = runBits[run]!;
      if ((ofRun & bits.names) === 0 || (ofRun & bits.paths) === 0) continue;
      for (let at = starts[run]!, end = ends[run]!; at < end; at++) {
        if (pages![paths[at]!] !== 1 || names![ids[at]!] !== 1) continue;
        this.#take(actorOf[identities[run]!]!, segment, at);
      }
    }
  }

  result(): CellEvents {
    return {
      actors: this.#actors.taken(),
      cells: this.#cells.taken(),
      elements: this.#elements.taken(),
    };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { names: ids, paths } = segment;
    const { names, paths: pages } = this.#tests.tests[0]!;
    for (let at = start; at < end; at++) {
      if (pages![paths[at]!] === 1 && names![ids[at]!] === 1) this.#take(actor, segment, at);
    }
  };

  /** Takes an event of the page, if it passes. */
  #take(actor: number, segment: LoadedSegment, at: number): void {
    const { fromMs: baseMs, times, names, paths, contexts, filterBits, cells } = segment;
    const { span: { fromMs, toMs }, device } = this.#inputs;
    const ms = baseMs + times[at]!;
    if (ms < fromMs || ms >= toMs) return;
    const cell = cells[at]!;
    if ((cell & CELL_DEVICE) !== device) return;
    const { scope } = this.#tests;
    if (!scope.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) return;
    this.#actors.add(actor);
    this.#cells.add(cell);
    if (this.#elementsOf !== null) this.#elements.add(this.#elementsOf(segment)?.[at] ?? NO_ID);
  }
}

/** Lists the events of one device that a match takes. */
export const CELL_EVENTS: VisitorKind<CellInputs, CellEvents> = {
  name: "cell events",
  create: (inputs, words) => new CellVisitor(inputs, words),
  merge: joinColumns,
};

export interface CellPeopleInputs extends Pick<CellInputs, "matches" | "span"> {
  /** The bits of a cell that are compared, and the values that they must have. */
  readonly mask: number;
  readonly bits: number;
  /** The least depth of a scroll, in steps. */
  readonly stepMin: number;
}

function cellPeopleVisitor(
  inputs: CellPeopleInputs,
  words: readonly Int32Array[],
): Visitor<Behind> {
  const { span: { fromMs, toMs }, mask, bits, stepMin } = inputs;
  const matches = new MatchTests(inputs.matches, words);
  const { scope, tests: [match] } = matches;
  const behind = new BehindTally();
  let lastActor = -1;
  return runVisitor(
    (actor, segment, start, end) => {
      if (lastActor === actor) return;
      const { fromMs: baseMs, times, names, paths, contexts, filterBits, cells } = segment;
      for (let at = start; at < end; at++) {
        const cell = cells[at]!;
        if ((cell & mask) !== bits || stepOf(cell) < stepMin) continue;
        const ms = baseMs + times[at]!;
        if (ms < fromMs || ms >= toMs) continue;
        const [name, path] = [names[at]!, paths[at]!];
        const [context, eventBits] = [contexts[at]!, filterBits[at]!];
        if (!match!.passes(name, path, context, actor, eventBits)) continue;
        if (!scope.passes(name, path, context, actor, eventBits)) continue;
        lastActor = actor;
        behind.add(actor, ms);
        return;
      }
    },
    () => behind.all(),
    matches.bits,
  );
}

/** Lists each actor with an event in such a cell, at the moment of the first one. */
export const CELL_PEOPLE: VisitorKind<CellPeopleInputs, Behind> = {
  name: "cell people",
  create: cellPeopleVisitor,
  merge: joinColumns,
};
