import { type Interval, readInterval } from "./buckets.ts";
import { readComparison } from "./comparison.ts";
import { readAll } from "./parameters.ts";
import { type Range, readRange } from "./range.ts";

/** When a read looks, in which steps, and what it compares with. */
interface Times {
  readonly range: Range;
  readonly interval: Interval;
  readonly comparison: Range | null;
}

/**
 * `from`, `to`, `timezone`, `interval` and `compare`. Every bad one is told at once: where the range
 * is refused, the others are read for what is wrong with them by themselves.
 * @throws Problem `invalid_parameter`, `range_too_large`.
 */
export function readTimes(
  query: URLSearchParams,
  projectTimezone: string,
  asOfMs: number,
  { allowHour } = { allowHour: true },
): Times {
  let range: Range | null = null;
  // Read in this order: the range comes first.
  return readAll({
    range: () => range = readRange(query, projectTimezone, asOfMs),
    interval: () => readInterval(query, range, { allowHour }),
    comparison: () => readComparison(query, range, projectTimezone, asOfMs),
  });
}
