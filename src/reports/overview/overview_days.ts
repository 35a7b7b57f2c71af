import { bucketsOf, readInterval } from "../../query/buckets.ts";
import { previousOf } from "../../query/comparison.ts";
import { invalidParameter, readAll } from "../../query/parameters.ts";
import { type Range, readRange } from "../../query/range.ts";

/** The days of a list of projects, in one time zone. */
export type OverviewDays = ReturnType<typeof readDays>;

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

/**
 * Reads `from`, `to`, `timezone` and `interval` for a project whose own time zone is `timezone`. `before`: as
 * many days before the range; for an unfinished range, cut to the length that has passed.
 * @throws Problem `invalid_parameter`, `range_too_large`.
 */
export function readDays(query: URLSearchParams, timezone: string, asOfMs: number) {
  let dates: Range | null = null;
  // Read in this order: the range comes first.
  const { range, interval } = readAll({
    range: () => dates = readDates(query, timezone, asOfMs),
    interval: () => readInterval(query, dates, { allowHour: false }),
  });
  return {
    range,
    interval,
    buckets: bucketsOf(range, interval),
    before: previousOf(range, asOfMs),
  };
}
