import {
  countDeviation,
  countDispersion,
  expectedCount,
  studentTwoSided,
} from "../reports/insights/insight_statistics.ts";
import {
  UNUSUAL_CHANCE_MAX,
  UNUSUAL_CHANGE_MIN,
  UNUSUAL_COUNT_MIN,
  UNUSUAL_WEEKS_MIN,
} from "./told_limits.ts";

/** A count against those of the same time of the same weekday in the weeks before. */
export interface Unusual {
  readonly isUnusual: boolean;
  /** The mean of the weeks before. */
  readonly expected: number;
  /** How often chance would bring about as much, to either side. */
  readonly chance: number;
}

/**
 * Whether a count is beyond what the weeks before explain: the t-test of a count against the mean of
 * theirs, with their own variance (at least that of independent events), at UNUSUAL_CHANCE_MAX, and
 * UNUSUAL_CHANGE_MIN and UNUSUAL_COUNT_MIN off. Null with less than UNUSUAL_WEEKS_MIN weeks.
 */
export function judge(
  count: number,
  before: readonly number[],
  direction: "any" | "up" | "down",
): Unusual | null {
  if (before.length < UNUSUAL_WEEKS_MIN) return null;
  const expectation = expectedCount([before], [1]);
  const deviation = countDeviation(count, expectation, countDispersion([before], 1));
  const chance = studentTwoSided(deviation);
  const { value: expected } = expectation;
  const off = Math.abs(count - expected);
  const isThatWay = direction === "any" || (direction === "up") === count > expected;
  const isFar = off >= UNUSUAL_COUNT_MIN && off >= UNUSUAL_CHANGE_MIN * expected;
  return { isUnusual: isThatWay && isFar && chance <= UNUSUAL_CHANCE_MAX, expected, chance };
}
