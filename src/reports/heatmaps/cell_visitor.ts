import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { RunBits, Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { CELL_DEVICE, CELL_PLACED, stepOf } from "../../store/heatmap_cell.ts";
import { type MatchPasses, MatchTests } from "../../scans/match_tests.ts";
import { idsFrom, type IdsOf, type IdSource, NO_ID } from "../../scans/value_ids.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { ActorCounts, type CountRows, mergeRows } from "./actor_counts.ts";
import { type Behind, BehindTally, joinBehind } from "../behind/behind_tally.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

interface CellInputs {
  /** One match. Cells are counted by its names and paths alone. */
  readonly matches: MatchPasses;
  readonly span: Span;
  /** The device bits of a cell. */
  readonly device: number;
  /** The bits that the cell of a point must have; null: no event is a point. */
  readonly wanted: number | null;
  /** The bits that tell one point from another. */
  readonly point: number;
  /** Where the ids of elements are; null: elements are not counted. */
  readonly elements: IdSource | null;
}

/** The counts of the matching events of one device. */
export interface CellCounts {
  readonly events: number;
  readonly visitors: number;
  /** By the point bits of the cell; only events that have a position. */
  readonly points: CountRows;
  /** Visitors by their highest point: for scrolls the greatest depth that each reached. */
  readonly highest: CountRows;
  /** By the id of the element. */
  readonly elements: CountRows;
}

class CellVisitor implements Visitor<CellCounts> {
  readonly #inputs: CellInputs;
  readonly #tests: MatchTests;
  readonly bits: RunBits;
  readonly #elementsOf: IdsOf | null;
  readonly #points = new ActorCounts();
  readonly #highest = new ActorCounts();
  readonly #elements = new ActorCounts();
  #events = 0;
  #visitors = 0;
  #lastVisitor = -1;
  /** The highest point of the current visitor; -1: none yet. */
  #highestPoint = -1;

  constructor(inputs: CellInputs, words: readonly Int32Array[]) {
    this.#inputs = inputs;
    this.#tests = new MatchTests(inputs.matches, words);
    this.bits = this.#tests.bits;
    this.#elementsOf = inputs.elements === null ? null : idsFrom(inputs.elements);
  }

  visit(actor: number, timeline: Timeline): void {
    followRuns(actor, timeline, this.#follow, this.bits);
  }

  result(): CellCounts {
    this.#leaveVisitor();
    return {
      events: this.#events,
      visitors: this.#visitors,
      points: this.#points.rows(),
      highest: this.#highest.rows(),
      elements: this.#elements.rows(),
    };
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs: baseMs, times, names: ids, paths, contexts, filterBits } = segment;
    const { span: { fromMs, toMs }, device } = this.#inputs;
    const { scope, tests: [match] } = this.#tests;
    const { names, paths: pages } = match!;
    for (let at = start; at < end; at++) {
      const name = ids[at]!;
      const path = paths[at]!;
      if (names![name] === 0 || pages![path] === 0) continue;
      const ms = baseMs + times[at]!;
      if (ms < fromMs || ms >= toMs) continue;
      const cell = segment.cells[at]!;
      if ((cell & CELL_DEVICE) !== device) continue;
      if (!scope.passes(name, path, contexts[at]!, actor, filterBits[at]!)) continue;
      this.#count(cell, actor, segment, at);
    }
  };

  #leaveVisitor(): void {
    if (this.#highestPoint >= 0) this.#highest.add(this.#highestPoint, this.#lastVisitor);
    this.#highestPoint = -1;
  }

  #count(cell: number, actor: number, segment: LoadedSegment, at: number): void {
    this.#events++;
    if (this.#lastVisitor !== actor) {
      this.#leaveVisitor();
      this.#visitors++;
      this.#lastVisitor = actor;
    }
    const { wanted, point } = this.#inputs;
    if (wanted === null || (cell & wanted) !== wanted) return;
    if ((cell & CELL_PLACED) !== 0) {
      this.#points.add(cell & point, actor);
      this.#highestPoint = Math.max(this.#highestPoint, cell & point);
    }
    const element = this.#elementsOf?.(segment)?.[at] ?? NO_ID;
    if (element !== NO_ID) this.#elements.add(element, actor);
  }
}

export const CELL_COUNTS: VisitorKind<CellInputs, CellCounts> = {
  name: "cells",
  create: (inputs, words) => new CellVisitor(inputs, words),
  merge: (counts, more) => ({
    events: counts.events + more.events,
    visitors: counts.visitors + more.visitors,
    points: mergeRows(counts.points, more.points),
    highest: mergeRows(counts.highest, more.highest),
    elements: mergeRows(counts.elements, more.elements),
  }),
};

interface CellPeopleInputs extends Pick<CellInputs, "matches" | "span"> {
  /** The bits of a cell that are compared, and the values that they must have. */
  readonly mask: number;
  readonly bits: number;
  /** How deep a scroll must go, in steps. */
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
  merge: joinBehind,
};
