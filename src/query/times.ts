import { bucketsOf, type Interval, readInterval } from "./buckets.ts";
import { comparisonKind, readComparison } from "./comparison.ts";
import { givenText, readAll } from "./parameters.ts";
import { type Range, readRange } from "./range.ts";

/** The time of a read: its range, the interval of its series, and the range to compare with. */
export interface Times {
  readonly range: Range;
  readonly interval: Interval;
  /** Null: nothing is compared. */
  readonly comparison: Range | null;
}

/**
 * Reads `from`, `to`, `timezone`, `interval` and `compare`. All bad ones are reported at once: if the range
 * is refused, the others are still checked as far as possible without it. A given `interval` must fit the
 * range and the one compared with, even if the read has no series.
 * @param byDays true: the read visits the days of the range, whatever `interval` says
 * @param isSingle true: the read has neither series nor comparison, and a range of any length: `interval` and `compare`
 * are only checked
 * @throws Problem `invalid_parameter`, `range_too_large`.
 */
export function readTimes(
  query: URLSearchParams,
  projectTimezone: string,
  asOfMs: number,
  { allowHour = true, byDays = false, isSingle = false } = {},
): Times {
  let range: Range | null = null;
  // Of a single range only the value of other comparisons is checked: a long one may have no previous one.
  const compared = () => !isSingle || comparisonKind(query) === "dates" ? range : null;
  // Read in this order: the range comes first.
  const times = readAll({
    range: () => range = readRange(query, projectTimezone, asOfMs, isSingle ? null : undefined),
    interval: () => readInterval(query, range, { allowHour }),
    comparison: () => readComparison(query, compared(), projectTimezone, asOfMs),
  });
  if (isSingle || givenText(query, "interval") === null) return times;
  // If even the days are too many, the error must not advise a coarser interval.
  if (byDays && ["hour", "day"].includes(times.interval)) {
    bucketsOf(times.range, "day", { isAsked: false });
  }
  bucketsOf(times.range, times.interval);
  if (times.comparison !== null) bucketsOf(times.comparison, times.interval);
  return times;
}
