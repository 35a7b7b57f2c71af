import { z } from "zod";
import { TIMESTAMP_MS_MIN } from "../limits.ts";
import { Problem } from "../problem.ts";
import { localTime } from "./local_dates.ts";
import { invalidParameter, ofCompare } from "./parameters.ts";
import { type Range, readRange, startOfDay } from "./range.ts";
import { isSlug } from "./slugs.ts";

const Bounds = z.strictObject({ from: z.string().min(1), to: z.string().min(1) });
const USAGE =
  'Use none, previous, year, segment:<slug>, or JSON such as {"from":"2026-01-01","to":"2026-01-31"}.';
const SEGMENT = "segment:";

/** What a read is compared with: nothing, another range (by name or dates), or another segment. */
export type ComparisonKind = "none" | "previous" | "year" | "dates" | "segment";

const given = (query: URLSearchParams): string => query.get("compare") || "none";

/** Returns the kind of `compare`, without checking its value. */
export function comparisonKind(query: URLSearchParams): ComparisonKind {
  const value = given(query);
  if (value === "none" || value === "previous" || value === "year") return value;
  return value.startsWith(SEGMENT) ? "segment" : "dates";
}

/** Returns the slug of the segment that `compare` names, unchecked; null where it names none. */
export function comparedSegment(query: URLSearchParams): string | null {
  return comparisonKind(query) === "segment" ? given(query).slice(SEGMENT.length) : null;
}

type LocalDate = Temporal.PlainDate;

const HALF_DAY_NS = 43_200e9;

/** Counts the local dates from one to another, both included, except those that the zone skipped. */
function localDays(first: LocalDate, last: LocalDate, timezone: string): number {
  const end = last.add({ days: 1 });
  const offsetNs = (date: LocalDate) => date.toZonedDateTime(timezone).offsetNanoseconds;
  let days = first.until(end).days;
  // A zone that skips a day sets its clocks forward by about a day; only then is each day checked.
  if (offsetNs(end) - offsetNs(first.subtract({ days: 1 })) < HALF_DAY_NS) return days;
  for (let date = first; !date.equals(end); date = date.add({ days: 1 })) {
    const next = date.add({ days: 1 });
    if (startOfDay(date, timezone) >= startOfDay(next, timezone)) days--;
  }
  return days;
}

/** Returns the range of whole local dates. Where the zone skipped them all, it is the last day before them. */
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

/** Returns the same number of local dates just before the range; if a bound is an instant, the same length. */
function previousRange({ from, to, timezone, fromDate, toDate }: Range): Range {
  if (fromDate === null || toDate === null) {
    return rangeOfInstants(new Date(2 * from.getTime() - to.getTime()), from, timezone);
  }
  const days = localDays(fromDate, toDate, timezone);
  const last = fromDate.subtract({ days: 1 });
  let first = fromDate.subtract({ days });
  while (localDays(first, last, timezone) < days) first = first.subtract({ days: 1 });
  return rangeOfDates(first, last, timezone);
}

/** Returns the same local dates, or local times, so much earlier; for 29 February, the 28th. */
function earlierRange(
  { from, to, timezone, fromDate, toDate }: Range,
  by: { readonly years: number } | { readonly days: number },
): Range {
  if (fromDate !== null && toDate !== null) {
    return rangeOfDates(fromDate.subtract(by), toDate.subtract(by), timezone);
  }
  const earlier = (at: Date) =>
    new Date(localTime(at.getTime(), timezone).subtract(by).epochMilliseconds);
  const [first, last] = [earlier(from), earlier(to)];
  if (first < last) return rangeOfInstants(first, last, timezone);
  // Both bounds may become one instant: on a leap day, or at a clock change.
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

/** Returns `compare` as replies show it: as it was given, or its dates as instants. */
export function shownComparison(query: URLSearchParams, comparison: Range | null): unknown {
  return comparison === null || comparisonKind(query) !== "dates"
    ? given(query)
    : { from: comparison.from.toISOString(), to: comparison.to.toISOString() };
}

/** Reads the bounds in `compare` like `from` and `to`, in the time zone of the read. */
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
    const dates = new URLSearchParams({ ...bounds.data, timezone });
    return { ...readRange(dates, projectTimezone, asOfMs), namedBy: "compare" };
  } catch (error) {
    throw error instanceof Problem ? ofCompare(error) : error;
  }
}

const PREVIOUS = new URLSearchParams({ compare: "previous" });

/** Returns the range that `compare=previous` means. Throws Problem naming `compare`. */
export function previousOf(range: Range, asOfMs: number): Range {
  return readComparison(PREVIOUS, range, range.timezone, asOfMs)!;
}

/** Returns the range `days` local days earlier; of an unfinished range, only as much as has passed. */
export function daysEarlier(range: Range, days: number, asOfMs: number): Range {
  return cutToElapsed(earlierRange(range, { days }), range, asOfMs);
}

/** Cuts the comparison of an unfinished range to as much as has passed of the range. */
function cutToElapsed(comparison: Range, { from, to }: Range, asOfMs: number): Range {
  const elapsedMs = asOfMs - from.getTime();
  if (to.getTime() <= asOfMs || elapsedMs <= 0) return comparison;
  const cutMs = comparison.from.getTime() + elapsedMs;
  if (cutMs >= comparison.to.getTime()) return comparison;
  return { ...comparison, to: new Date(cutMs), toDate: null };
}

/**
 * Reads `compare`. Returns the range to compare with; null for `none`. `previous` is the same number of
 * local dates just before (for instants, the same length), `year` the same dates one year earlier: if
 * the range has not ended at `asOfMs` (epoch milliseconds), both end as long after their start as
 * `asOfMs` is after the start of the range. `{"from","to"}` is taken as given. For a segment it is the
 * read's own range.
 * @param range null: it was refused; then `compare` is only checked
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
    // Without the time zone of the read, which may be what was refused.
    return namedRange(value, new URLSearchParams(), projectTimezone, asOfMs);
  }
  const comparison = value === "previous"
    ? cutToElapsed(previousRange(range), range, asOfMs)
    : value === "year"
    ? cutToElapsed(earlierRange(range, { years: 1 }), range, asOfMs)
    : namedRange(value, query, projectTimezone, asOfMs);
  if (comparison.from.getTime() < TIMESTAMP_MS_MIN) {
    throw invalidParameter("compare", "It would begin before the year 0001.");
  }
  return comparison;
}
