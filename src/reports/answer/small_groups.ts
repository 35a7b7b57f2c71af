import { Problem } from "../../problem.ts";

/** The name of the row that sums up all rows that are not shown one by one. */
export const OTHER = "$other";

/**
 * Whether a group is too small to be shown by itself.
 * @param visitorsMin how many visitors a row must have: 1 for callers who may read everything, more for
 * shares
 */
export function isSmall(visitors: number, visitorsMin: number): boolean {
  return visitorsMin > 1 && visitors < visitorsMin;
}

/** Makes a 403: the reply would show too few people. It is the same if there are no people at all. */
export function tooFewVisitors(visitorsMin: number): Problem {
  return new Problem(
    "too_few_visitors",
    `This shared dashboard shows no group of fewer than ${visitorsMin} visitors. Ask for more: ` +
      "fewer filters, or a longer range.",
  );
}

/** Returns a count of people; null: too few for a share, or unknown. */
export function shownCount(count: number | null, visitorsMin: number): number | null {
  return isSmall(count ?? 0, visitorsMin) ? null : count;
}

/**
 * Returns the places of the groups to hide if groups add up to a shown sum: groups of too few visitors or
 * none, and also the smallest of the others if the hidden ones have too few together, because the rest of the
 * sum would reveal them. If all small groups are empty, no other is hidden.
 * @param visitors of each group
 */
export function hiddenPlaces(
  visitors: readonly number[],
  visitorsMin: number,
): ReadonlySet<number> {
  const small = smallPlaces(visitors.entries(), visitorsMin);
  const left = small.reduce((sum, place) => sum + visitors[place]!, 0);
  const hidden = new Set(small);
  return left === 0 || !isSmall(left, visitorsMin) ? hidden : withLeastOther(hidden, visitors);
}

/** Returns the hidden places and the one of the smallest other group, if there is one. */
export function withLeastOther(
  hidden: ReadonlySet<number>,
  visitors: readonly number[],
): ReadonlySet<number> {
  const others = [...visitors.entries()].filter(([place]) => !hidden.has(place));
  const least = others.reduce((min, [, n]) => Math.min(min, n), Infinity);
  const first = others.filter(([, n]) => n === least).slice(0, 1);
  return new Set([...hidden, ...first.map(([place]) => place)]);
}

type Places = Iterable<readonly [place: number, visitors: number]>;

/** Returns the places of groups of too few visitors: as rows they become one, `$other`; as points, null. */
export function smallPlaces(groups: Places, visitorsMin: number): number[] {
  return [...groups].flatMap(([place, n]) => isSmall(n, visitorsMin) ? [place] : []);
}
