import { Problem } from "../problem.ts";

/** What the row is called that stands for all rows that are not told one by one. */
export const OTHER = "$other";

/**
 * Whether a group is too small to be told by itself. `visitorsMin` is how many visitors a row must
 * have: 1 for whoever may read everything, more under a share.
 */
export function isSmall(visitors: number, visitorsMin: number): boolean {
  return visitorsMin > 1 && visitors < visitorsMin;
}

/** A 403: what was asked for would tell of too few people. Nobody and too few read alike. */
export function tooFewVisitors(visitorsMin: number): Problem {
  return new Problem(
    "too_few_visitors",
    `This shared dashboard shows no group of fewer than ${visitorsMin} visitors. Ask for more: ` +
      "fewer filters, or a longer range.",
  );
}

/** A count of people, or of what they did, as it may be told; null: too few are behind it, or nobody. */
export function toldCount(
  count: number | null,
  visitorsMin: number,
  visitors: number = count ?? 0,
): number | null {
  return isSmall(visitors, visitorsMin) ? null : count;
}

/**
 * Which groups that add up to a sum are not told: those of too few visitors, nobody included, and
 * where these are too few together, the smallest of the others too, so that nobody is told by what is
 * left of the sum. Empty ones alone leave nothing.
 * @param visitors of each group
 */
export function silentPlaces(
  visitors: readonly number[],
  visitorsMin: number,
): ReadonlySet<number> {
  const silent = new Set(visitors.flatMap((n, place) => isSmall(n, visitorsMin) ? [place] : []));
  const left = [...silent].reduce((sum, place) => sum + visitors[place]!, 0);
  if (left === 0 || !isSmall(left, visitorsMin)) return silent;
  let least: number | null = null;
  for (const [place, n] of visitors.entries()) {
    if (silent.has(place)) continue;
    if (least === null || n < visitors[least]!) least = place;
  }
  return least === null ? silent : silent.add(least);
}

/**
 * Which of the groups are told as one: those that are too small, and, where all of these together
 * still are, the smallest of the others too, so that nobody is told by what is left over.
 * @param othersOf how many people some groups are together, by their places
 */
export async function foldedPlaces(
  visitors: ReadonlyMap<number, number>,
  visitorsMin: number,
  othersOf: (places: readonly number[]) => number | Promise<number>,
): Promise<number[]> {
  const small = [...visitors].flatMap(([place, n]) => isSmall(n, visitorsMin) ? [place] : []);
  if (small.length === 0 || !isSmall(await othersOf(small), visitorsMin)) return small;
  let least: number | null = null;
  for (const [place, n] of visitors) {
    if (isSmall(n, visitorsMin)) continue;
    if (least === null || n < visitors.get(least)!) least = place;
  }
  return least === null ? small : [...small, least];
}
