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
} from "./notification_limits.ts";

/** A count compared with those of the same time of the week in earlier weeks. */
interface Comparison {
  readonly isUnusual: boolean;
  /** The mean of the earlier weeks. */
  readonly expected: number;
  /** The probability of such a deviation by chance, in either direction. */
  readonly chance: number;
}

/**
 * Compares a count with those of earlier weeks. It is unusual if a t-test against their mean, with their own
 * variance (at least that of independent events), gives at most UNUSUAL_CHANCE_MAX, and it differs by at least
 * UNUSUAL_CHANGE_MIN and UNUSUAL_COUNT_MIN. Null: there are fewer than UNUSUAL_WEEKS_MIN weeks.
 */
export function compareWithWeeks(
  count: number,
  before: readonly number[],
  direction: "any" | "up" | "down",
): Comparison | null {
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
