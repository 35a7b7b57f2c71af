import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { GrowingList } from "../../store/growing_list.ts";
import type { Span } from "../../query/selection.ts";
import { CELL_DEVICE, stepOf } from "../../store/heatmap_cell.ts";
import { type MatchPasses, MatchTests } from "../../scans/match_tests.ts";
import { idsFrom, type IdSource, NO_ID } from "../../scans/value_ids.ts";
import { joinColumns, runVisitor, type VisitorKind } from "../../scans/visitor.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";

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
 * Lists the events of one device that a match takes. Counting distinct visitors meanwhile would need each visitor's
 * events of all segments one after the other. As few events of a run are of the page, most of the time would be
 * spent on reaching runs in another order than that of memory.
 */
export const CELL_EVENTS: VisitorKind<CellInputs, CellEvents> = {
  name: "cell events",
  create: (inputs, words) => {
    const { span: { fromMs, toMs }, device } = inputs;
    const { scope, tests, bits } = new MatchTests(inputs.matches, words);
    const { names: wantedNames, paths: pages } = tests[0]!;
    const elementsOf = inputs.elements === null ? null : idsFrom(inputs.elements);
    const list = () => new GrowingList(new Int32Array(1_024));
    const [actors, cells, elements] = [list(), list(), list()];
    /** Takes an event of the page, if it passes. */
    const take = (actor: number, segment: LoadedSegment, at: number): void => {
      const ms = segment.fromMs + segment.times[at]!;
      if (ms < fromMs || ms >= toMs) return;
      const cell = segment.cells[at]!;
      if ((cell & CELL_DEVICE) !== device) return;
      const { names, paths, contexts, filterBits } = segment;
      if (!scope.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) return;
      actors.add(actor);
      cells.add(cell);
      if (elementsOf !== null) elements.add(elementsOf(segment)?.[at] ?? NO_ID);
    };
    const follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
      const { names, paths } = segment;
      for (let at = start; at < end; at++) {
        if (pages![paths[at]!] === 1 && wantedNames![names[at]!] === 1) take(actor, segment, at);
      }
    };
    const result = () => ({
      actors: actors.taken(),
      cells: cells.taken(),
      elements: elements.taken(),
    });
    return runVisitor(follow, result, bits);
  },
  merge: joinColumns,
};

export interface CellPeopleInputs extends Pick<CellInputs, "matches" | "span"> {
  /** The bits of a cell that are compared, and the values that they must have. */
  readonly mask: number;
  readonly bits: number;
  /** The least depth of a scroll, in steps. */
  readonly stepMin: number;
}

/** Lists each actor with an event in such a cell, at the moment of the first one. */
export const CELL_PEOPLE: VisitorKind<CellPeopleInputs, Behind> = {
  name: "cell people",
  create: (inputs, words) => {
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
  },
  merge: joinColumns,
};
