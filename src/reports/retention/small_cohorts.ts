import { isSmall, OTHER, silentPlaces } from "../answer/small_groups.ts";
import { rate } from "../answer/report.ts";
import type { Cohort } from "./cohort.ts";

type Cell = Cohort["cells"][number];

/** Of cohorts together the returns in a period: of those cohorts alone for which it has begun. */
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

/** Of too few people, or of nobody, a share does not tell that they returned. */
function toldCell(cell: Cell, visitorsMin: number): Cell {
  if (cell.actors === null || !isSmall(cell.actors, visitorsMin)) return cell;
  return { ...cell, actors: null, rate: rate(0, 0) };
}

/**
 * The cohorts that a share tells: those of too few people, empty ones among them, stand together in
 * one, `$other`, at the end; with all that are too small there is none.
 */
export function toldCohorts(cohorts: readonly Cohort[], visitorsMin: number): Cohort[] {
  if (visitorsMin === 1) return [...cohorts];
  const silent = silentPlaces(cohorts.map(({ size }) => size), visitorsMin);
  const kept = cohorts.filter((_, place) => !silent.has(place));
  const small = cohorts.filter((_, place) => silent.has(place));
  const size = small.reduce((sum, cohort) => sum + cohort.size, 0);
  const others: Cohort[] = isSmall(size, visitorsMin) ? [] : [{
    start: small[0]!.start,
    label: OTHER,
    size,
    cells: small[0]!.cells.map((_, k) => unitedCell(small.map(({ cells }) => cells[k]!), k)),
  }];
  return [...kept, ...others].map((cohort) => ({
    ...cohort,
    cells: cohort.cells.map((cell) => toldCell(cell, visitorsMin)),
  }));
}
