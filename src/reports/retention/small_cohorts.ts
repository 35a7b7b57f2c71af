import { hiddenPlaces, isSmall, OTHER, withLeastOther } from "../answer/small_groups.ts";
import { rate } from "../answer/report.ts";
import type { Cohort } from "./cohort.ts";
import type { UnitedCounts } from "./retention_scan.ts";

type Cell = Cohort["cells"][number];

/** Returns the cells of these cohorts in a period that has begun. */
const begunIn = (cohorts: readonly Cohort[], period: number): Cell[] =>
  cohorts.map(({ cells }) => cells[period]!).filter(({ actors }) => actors !== null);

/** Adds up cohorts that share no actor, leaving out cells that have not begun. */
export function addCohorts(cohorts: readonly Cohort[]): UnitedCounts {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
  const begun = (cohorts[0]?.cells ?? []).map((_, period) => begunIn(cohorts, period));
  return {
    size: sum(cohorts.map(({ size }) => size)),
    counted: begun.map((cells) => sum(cells.map(({ rate }) => rate.denominator))),
    actors: begun.map((cells) => sum(cells.map(({ actors }) => actors!))),
  };
}

/** Returns the cohort that stands for several. */
function unitedCohort(cohorts: readonly Cohort[], { size, counted, actors }: UnitedCounts): Cohort {
  const cells = cohorts[0]!.cells.map((_, period) => {
    const begun = begunIn(cohorts, period);
    return {
      period,
      actors: begun.length === 0 ? null : actors[period]!,
      rate: rate(actors[period]!, counted[period]!),
      complete: begun.length > 0 && begun.every(({ complete }) => complete),
    };
  });
  return { start: cohorts[0]!.start, label: OTHER, size, cells };
}

/** Returns a cell as a share shows it: without the returns if too few people, or none, came back. */
function shownCell(cell: Cell, visitorsMin: number): Cell {
  if (cell.actors === null || !isSmall(cell.actors, visitorsMin)) return cell;
  return { ...cell, actors: null, rate: rate(0, 0) };
}

/**
 * Returns the cohorts that a share shows. Those of too few people, empty ones included, are merged into
 * `$other` at the end. If these are too few people together, the smallest other cohort is merged too; `$other`
 * is left out if it still has too few.
 * @param unite counts the cohorts of these places as one
 */
export async function withoutSmallCohorts(
  cohorts: readonly Cohort[],
  visitorsMin: number,
  unite: (places: ReadonlySet<number>) => Promise<UnitedCounts>,
): Promise<Cohort[]> {
  if (visitorsMin === 1) return [...cohorts];
  const sizes = cohorts.map(({ size }) => size);
  let merged = hiddenPlaces(sizes, visitorsMin);
  // Counting them may need a scan, which is not worth it for cohorts without anybody.
  const isNobody = [...merged].every((place) => sizes[place] === 0);
  let united = isNobody ? null : await unite(merged);
  // Recurring cohorts may be fewer people together than their sizes add up to.
  const isMoreLeft = merged.size < cohorts.length;
  if (united !== null && isMoreLeft && isSmall(united.size, visitorsMin)) {
    merged = withLeastOther(merged, sizes);
    united = await unite(merged);
  }
  const kept = cohorts.filter((_, place) => !merged.has(place));
  const small = cohorts.filter((_, place) => merged.has(place));
  const others = united === null || isSmall(united.size, visitorsMin)
    ? []
    : [unitedCohort(small, united)];
  return [...kept, ...others].map((cohort) => ({
    ...cohort,
    cells: cohort.cells.map((cell) => shownCell(cell, visitorsMin)),
  }));
}
