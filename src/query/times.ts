import { bucketsOf, type Interval, readInterval } from "./buckets.ts";
import { readComparison } from "./comparison.ts";
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
 * @throws Problem `invalid_parameter`, `range_too_large`.
 */
export function readTimes(
  query: URLSearchParams,
  projectTimezone: string,
  asOfMs: number,
  { allowHour, byDays } = { allowHour: true, byDays: false },
): Times {
  let range: Range | null = null;
  // Read in this order: the range comes first.
  const times = readAll({
    range: () => range = readRange(query, projectTimezone, asOfMs),
    interval: () => readInterval(query, range, { allowHour }),
    comparison: () => readComparison(query, range, projectTimezone, asOfMs),
  });
  if (givenText(query, "interval") === null) return times;
  // If even the days are too many, the error must not advise a coarser interval.
  if (byDays && ["hour", "day"].includes(times.interval)) {
    bucketsOf(times.range, "day", { isAsked: false });
  }
  bucketsOf(times.range, times.interval);
  if (times.comparison !== null) bucketsOf(times.comparison, times.interval);
  return times;
}
