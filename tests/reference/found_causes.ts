import { FIGURES } from "../../src/reports/insights/insight_candidates.ts";
import { type Cause, searchCauses } from "../../src/reports/insights/insight_causes.ts";
import type { CellFigure, CellFigures } from "../../src/reports/insights/insight_change.ts";

/** Figures that are 0 at each cell. */
export function figuresOfNothing(count: number): CellFigures {
  const figure = (): CellFigure => ({ now: new Int32Array(count), before: new Int32Array(count) });
  return Object.fromEntries(FIGURES.map((one) => [one, figure()])) as CellFigures;
}

/** What a search finds, at once. */
export function foundCauses(...asked: Parameters<typeof searchCauses>): Cause[] {
  const search = searchCauses(...asked);
  while (true) {
    const { done, value } = search.next();
    if (done) return value;
  }
}
