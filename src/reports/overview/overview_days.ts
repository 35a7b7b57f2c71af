import { type Bucket, bucketsOf, type Interval, readInterval } from "../../query/buckets.ts";
import { readComparison } from "../../query/comparison.ts";
import { dateAt } from "../../query/local_dates.ts";
import { invalidParameter, readAll } from "../../query/parameters.ts";
import { type Range, readRange } from "../../query/range.ts";

/** The days of a list of projects, in one time zone. */
export interface OverviewDays {
  readonly range: Range;
  readonly interval: Interval;
  readonly buckets: readonly Bucket[];
  /** The days of the range that are over, and as many before it; null: none is over. */
  readonly compared: { readonly over: Range; readonly before: Range } | null;
}

const INTERVALS = { allowHour: false };

/** Reads a range of local dates. */
function readDates(query: URLSearchParams, timezone: string, asOfMs: number): Range {
  const range = readRange(query, timezone, asOfMs);
  const refuseInstant = (name: "from" | "to", date: Temporal.PlainDate | null) => {
    if (date !== null) return;
    throw invalidParameter(
      name,
      "Use a local date such as 2026-01-31: each project is counted by its own days.",
    );
  };
  readAll({
    from: () => refuseInstant("from", range.fromDate),
    to: () => refuseInstant("to", range.toDate),
  });
  return range;
}

function comparedOf(
  range: Range,
  timezone: string,
  asOfMs: number,
): OverviewDays["compared"] {
  const { fromDate, toDate } = range;
  const yesterday = dateAt(asOfMs, timezone).subtract({ days: 1 });
  const last = Temporal.PlainDate.compare(toDate!, yesterday) <= 0 ? toDate! : yesterday;
  if (Temporal.PlainDate.compare(last, fromDate!) < 0) return null;
  const query = new URLSearchParams({
    from: fromDate!.toString(),
    to: last.toString(),
    compare: "previous",
  });
  const over = readRange(query, timezone, asOfMs);
  return { over, before: readComparison(query, over, timezone, asOfMs)! };
}

/**
 * Reads `from`, `to`, `timezone` and `interval` for a project whose own time zone is `timezone`.
 * @throws Problem `invalid_parameter`, `range_too_large`.
 */
export function readDays(query: URLSearchParams, timezone: string, asOfMs: number): OverviewDays {
  let dates: Range | null = null;
  // Read in this order: the range comes first.
  const { range, interval } = readAll({
    range: () => dates = readDates(query, timezone, asOfMs),
    interval: () => readInterval(query, dates, INTERVALS),
  });
  return {
    range,
    interval,
    buckets: bucketsOf(range, interval),
    compared: comparedOf(range, range.timezone, asOfMs),
  };
}
