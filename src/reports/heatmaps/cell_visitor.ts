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

interface Inputs {
  /** One match, of names and paths. */
  readonly matches: MatchPasses;
  readonly span: Span;
  /** As cells have it. */
  readonly device: number;
  /** The bits of a cell that a point must have; null: no event is a point. */
  readonly wanted: number | null;
  /** The bits by which points are told apart. */
  readonly point: number;
  /** Where the ids of elements stand; null: they are not asked for. */
  readonly elements: IdSource | null;
}

/** What the events of a device come to that the match takes. */
export interface CellCounts {
  readonly events: number;
  readonly visitors: number;
  /** By the bits of the cell, those that have a place. */
  readonly points: CountRows;
  /** The visitors by the highest of their points: of scrolls, the deepest that each came. */
  readonly highest: CountRows;
  /** By the id of the element. */
  readonly elements: CountRows;
}

class CellVisitor implements Visitor<CellCounts> {
  readonly #inputs: Inputs;
  readonly #tests: MatchTests;
  readonly bits: RunBits;
  readonly #elementsOf: IdsOf | null;
  readonly #points = new ActorCounts();
  readonly #highest = new ActorCounts();
  readonly #elements = new ActorCounts();
  #events = 0;
  #visitors = 0;
  #lastVisitor = -1;
  /** The highest point of the visitor under way; -1: none yet. */
  #highestPoint = -1;

  constructor(inputs: Inputs, words: readonly Int32Array[]) {
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

export const CELL_COUNTS: VisitorKind<Inputs, CellCounts> = {
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

interface PeopleInputs extends Pick<Inputs, "matches" | "span"> {
  /** The bits of cells that count, and what these must be. */
  readonly mask: number;
  readonly bits: number;
  /** Of scrolls how deep they must go, in steps. */
  readonly stepMin: number;
}

function cellPeopleVisitor(inputs: PeopleInputs, words: readonly Int32Array[]): Visitor<Behind> {
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

/** Notes each actor with an event in such a cell, by the first. */
export const CELL_PEOPLE: VisitorKind<PeopleInputs, Behind> = {
  name: "cell people",
  create: cellPeopleVisitor,
  merge: joinBehind,
};
