import { hiddenPlaces, isSmall, OTHER } from "../answer/small_groups.ts";
import { rate } from "../answer/report.ts";
import type { Cohort } from "./cohort.ts";

type Cell = Cohort["cells"][number];

/** Adds up the cells of a period, leaving out cohorts for which it has not begun. */
function unitedCell(cells: readonly Cell[], period: number): Cell {
  const begun = cells.filter(({ actors }) => actors !== null);
  const sum = (count: (cell: Cell) => number) => begun.reduce((all, cell) => all + count(cell), 0);
  const returned = sum(({ actors }) => actors!);
  return {
    period,
    actors: begun.length === 0 ? null : returned,
    rate: rate(returned, sum(({ rate }) => rate.denominator)),
    complete: begun.length > 0 && begun.every(({ complete }) => complete),
  };
}

/** Returns a cell as a share shows it: without the returns if too few people, or none, came back. */
function shownCell(cell: Cell, visitorsMin: number): Cell {
  if (cell.actors === null || !isSmall(cell.actors, visitorsMin)) return cell;
  return { ...cell, actors: null, rate: rate(0, 0) };
}

/**
 * Returns the cohorts that a share shows. Those of too few people, empty ones included, are merged
 * into `$other` at the end, which is left out where it has too few people itself.
 */
export function withoutSmallCohorts(cohorts: readonly Cohort[], visitorsMin: number): Cohort[] {
  if (visitorsMin === 1) return [...cohorts];
  const merged = hiddenPlaces(cohorts.map(({ size }) => size), visitorsMin);
  const kept = cohorts.filter((_, place) => !merged.has(place));
  const small = cohorts.filter((_, place) => merged.has(place));
  const size = small.reduce((sum, cohort) => sum + cohort.size, 0);
  const others: Cohort[] = isSmall(size, visitorsMin) ? [] : [{
    start: small[0]!.start,
    label: OTHER,
    size,
    cells: small[0]!.cells.map((_, k) => unitedCell(small.map(({ cells }) => cells[k]!), k)),
  }];
  return [...kept, ...others].map((cohort) => ({
    ...cohort,
    cells: cohort.cells.map((cell) => shownCell(cell, visitorsMin)),
  }));
}
