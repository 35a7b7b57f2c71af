import { z } from "zod";
import { TIMESTAMP_MS_MIN } from "../limits.ts";
import { Problem } from "../problem.ts";
import { localTime } from "./local_dates.ts";
import { invalidParameter } from "./parameters.ts";
import { type Range, readRange, startOfDay } from "./range.ts";
import { isSlug } from "./slugs.ts";

const Bounds = z.strictObject({ from: z.string().min(1), to: z.string().min(1) });
const USAGE =
  'Use none, previous, year, segment:<slug>, or JSON such as {"from":"2026-01-01","to":"2026-01-31"}.';
const SEGMENT = "segment:";

/** What is compared with: nothing, another range by its name or its dates, or another segment. */
export type ComparisonKind = "none" | "previous" | "year" | "dates" | "segment";

const given = (query: URLSearchParams): string => query.get("compare") || "none";

/** Of which kind `compare` is, be it right or wrong. */
export function comparisonKind(query: URLSearchParams): ComparisonKind {
  const value = given(query);
  if (value === "none" || value === "previous" || value === "year") return value;
  return value.startsWith(SEGMENT) ? "segment" : "dates";
}

/** The slug of the segment that `compare` names; null where it names none. */
export function comparedSegment(query: URLSearchParams): string | null {
  return comparisonKind(query) === "segment" ? given(query).slice(SEGMENT.length) : null;
}

type LocalDate = Temporal.PlainDate;

/** Whole local dates. Where the zone skipped them all, the last day before them stands in. */
function rangeOfDates(first: LocalDate, last: LocalDate, timezone: string): Range {
  const to = startOfDay(last.add({ days: 1 }), timezone);
  let fromDate = first;
  let from = startOfDay(fromDate, timezone);
  while (from >= to) {
    fromDate = fromDate.subtract({ days: 1 });
    from = startOfDay(fromDate, timezone);
  }
  return { from, to, timezone, fromDate, toDate: last };
}

function rangeOfInstants(from: Date, to: Date, timezone: string): Range {
  return { from, to, timezone, fromDate: null, toDate: null };
}

/** As many local dates just before; where a bound is an instant, the equal length before. */
function previousRange({ from, to, timezone, fromDate, toDate }: Range): Range {
  if (fromDate === null || toDate === null) {
    return rangeOfInstants(new Date(2 * from.getTime() - to.getTime()), from, timezone);
  }
  const days = fromDate.until(toDate).days + 1;
  return rangeOfDates(fromDate.subtract({ days }), fromDate.subtract({ days: 1 }), timezone);
}

/** The same date and local time one year earlier; of 29 February, the 28th. */
function yearEarlier(at: Date, timezone: string): Date {
  return new Date(localTime(at.getTime(), timezone).subtract({ years: 1 }).epochMilliseconds);
}

function yearEarlierRange({ from, to, timezone, fromDate, toDate }: Range): Range {
  const years = { years: 1 };
  if (fromDate !== null && toDate !== null) {
    return rangeOfDates(fromDate.subtract(years), toDate.subtract(years), timezone);
  }
  const first = yearEarlier(from, timezone);
  const last = yearEarlier(to, timezone);
  if (first < last) return rangeOfInstants(first, last, timezone);
  // Both bounds may fall on one instant: a leap day's, or that of a clock change.
  const lengthMs = to.getTime() - from.getTime();
  return rangeOfInstants(first, new Date(first.getTime() + lengthMs), timezone);
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

/** Bounds by themselves, read as `from` and `to` are, in the time zone of the read. */
function namedRange(
  value: string,
  query: URLSearchParams,
  projectTimezone: string,
  asOfMs: number,
): Range {
  const bounds = Bounds.safeParse(parsed(value));
  if (!bounds.success) throw invalidParameter("compare", USAGE);
  const timezone = query.get("timezone") ?? "";
  try {
    return readRange(
      new URLSearchParams({ ...bounds.data, timezone }),
      projectTimezone,
      asOfMs,
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const errors = [{ field: "compare", code: error.code, message: error.detail }];
    throw new Problem(error.code, `compare: ${error.detail}`, { errors });
  }
}

/** An unfinished range is compared with the equally long beginning of the other. */
function cutAsFar(comparison: Range, { from, to }: Range, asOfMs: number): Range {
  const elapsedMs = asOfMs - from.getTime();
  if (to.getTime() <= asOfMs || elapsedMs <= 0) return comparison;
  const cutMs = comparison.from.getTime() + elapsedMs;
  if (cutMs >= comparison.to.getTime()) return comparison;
  return { ...comparison, to: new Date(cutMs), toDate: null };
}

/**
 * `compare`: the range that the read's own is compared with, or null for `none`. `previous` is the
 * same number of local dates just before (for instants the equal length), `year` the same dates one
 * year earlier: if the range has not ended at `asOfMs` (epoch milliseconds), these end as long after
 * their start as `asOfMs` is after the range's. `{"from","to"}` is taken as named. A segment is
 * compared with in the read's own range.
 * Of no range (null), only what is given is looked at.
 * @throws Problem naming `compare`.
 */
export function readComparison(
  query: URLSearchParams,
  range: Range | null,
  projectTimezone: string,
  asOfMs: number,
): Range | null {
  const value = given(query);
  if (value === "none") return null;
  const segment = comparedSegment(query);
  if (segment !== null) {
    if (!isSlug(segment)) throw invalidParameter("compare", USAGE);
    return range;
  }
  if (range === null) {
    if (value === "previous" || value === "year") return null;
    // Not by the time zone of the read, which may be what is wrong.
    return namedRange(value, new URLSearchParams(), projectTimezone, asOfMs);
  }
  const comparison = value === "previous"
    ? cutAsFar(previousRange(range), range, asOfMs)
    : value === "year"
    ? cutAsFar(yearEarlierRange(range), range, asOfMs)
    : namedRange(value, query, projectTimezone, asOfMs);
  if (comparison.from.getTime() < TIMESTAMP_MS_MIN) {
    throw invalidParameter("compare", "There is no such time before the year 0001.");
  }
  return comparison;
}
