import { isSmall, OTHER } from "../small_groups.ts";
import { rate } from "../report.ts";
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

/** Nobody is told by a cohort that is too small even with all others of its kind. */
function silent(cell: Cell): Cell {
  return { ...cell, actors: null, rate: rate(0, 0) };
}

/**
 * The cohorts that a share tells: those of too few people stand together in one, `$other`, at the
 * end. Empty ones stay, for they tell of nobody.
 */
export function toldCohorts(cohorts: readonly Cohort[], visitorsMin: number): Cohort[] {
  const isFolded = ({ size }: Cohort) => size > 0 && isSmall(size, visitorsMin);
  const small = cohorts.filter(isFolded);
  if (small.length === 0) return [...cohorts];
  const size = small.reduce((sum, cohort) => sum + cohort.size, 0);
  const cells = small[0]!.cells.map((_, k) =>
    unitedCell(small.map((cohort) => cohort.cells[k]!), k)
  );
  const other: Cohort = {
    start: small[0]!.start,
    label: OTHER,
    size,
    cells: isSmall(size, visitorsMin) ? cells.map(silent) : cells,
  };
  return [...cohorts.filter((cohort) => !isFolded(cohort)), other];
}
