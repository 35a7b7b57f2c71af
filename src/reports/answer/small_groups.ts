import { Problem } from "../../problem.ts";

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
  const small = smallPlaces(visitors.entries(), visitorsMin);
  const left = small.reduce((sum, place) => sum + visitors[place]!, 0);
  if (left === 0 || !isSmall(left, visitorsMin)) return new Set(small);
  return new Set([...small, ...leastOther(visitors.entries(), visitorsMin)]);
}

type Places = Iterable<readonly [place: number, visitors: number]>;

/** Groups of too few visitors: rows of them are told as one, `$other`, and points of them are null. */
export function smallPlaces(groups: Places, visitorsMin: number): number[] {
  return [...groups].flatMap(([place, n]) => isSmall(n, visitorsMin) ? [place] : []);
}

/** The smallest of the groups that are not too small, if there is any. */
function leastOther(groups: Places, visitorsMin: number): number[] {
  const others = [...groups].filter(([, n]) => !isSmall(n, visitorsMin));
  const least = others.reduce((min, [, n]) => Math.min(min, n), Infinity);
  return others.filter(([, n]) => n === least).slice(0, 1).map(([place]) => place);
}
