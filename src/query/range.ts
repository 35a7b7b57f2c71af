import { RANGE_DAYS_DEFAULT, RANGE_YEARS_MAX, TIMESTAMP_MS_MIN } from "../limits.ts";
import { dateAt, localTime } from "./local_dates.ts";
import { givenText, invalidParameter, rangeTooLarge, readAll } from "./parameters.ts";
import type { Span } from "./selection.ts";

/** A half-open span of time `[from, to)`, and the time zone of its days. */
export interface Range {
  readonly from: Date;
  readonly to: Date;
  readonly timezone: string;
  /** The first and the last local date, both inclusive; null where that bound is an instant. */
  readonly fromDate: Temporal.PlainDate | null;
  readonly toDate: Temporal.PlainDate | null;
  /** The parameter that gave the bounds; absent: `from` and `to`, or a range derived from these. */
  readonly namedBy?: "compare";
}

/** Returns a range in epoch milliseconds. */
export function spanOf({ from, to }: Pick<Range, "from" | "to">): Span {
  return { fromMs: from.getTime(), toMs: to.getTime() };
}

const LOCAL_DATE = /^\d{4}-\d{2}-\d{2}$/;
/** ISO 8601 with an offset; fractions to the nanosecond, as Temporal reads them. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/i;

function zone(query: URLSearchParams, projectTimezone: string): string {
  const timezone = givenText(query, "timezone");
  // Case does not matter, but rollups and imported days are found by the project's own spelling.
  const isProjects = timezone?.toLowerCase() === projectTimezone.toLowerCase();
  if (timezone === null || isProjects) return projectTimezone;
  // Offsets such as "+02:00" are zones to Intl, but without daylight saving time.
  const named = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(timezone);
  try {
    // Checked by Temporal, which is used with it; Intl also accepts "PST" and the like.
    if (named) return new Temporal.ZonedDateTime(0n, timezone) && timezone;
  } catch { /* refused below */ }
  throw invalidParameter("timezone", "Use an IANA time zone such as Europe/Berlin.");
}

/**
 * Returns the first instant of a local date: one o'clock where a clock change skips midnight, the
 * earlier of two midnights, the next day's start where the whole date is skipped.
 */
export function startOfDay(date: Temporal.PlainDate, timezone: string): Date {
  return new Date(date.toZonedDateTime(timezone).epochMilliseconds);
}

export const BOUND_USAGE =
  "Use a local date such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z.";

/** Parses a local date or an instant; null where the text is neither. */
export function boundOf(text: string): Temporal.PlainDate | Date | null {
  try {
    if (LOCAL_DATE.test(text)) return Temporal.PlainDate.from(text);
    if (INSTANT.test(text)) return new Date(Temporal.Instant.from(text).epochMilliseconds);
  } catch { /* no such date or time */ }
  return null;
}

/** Whether the caller names a bound of the range. */
export function namesBound(query: URLSearchParams): boolean {
  return ["from", "to"].some((name) => givenText(query, name) !== null);
}

/** Reads one bound; null where it is not given. */
function bound(query: URLSearchParams, name: "from" | "to"): Temporal.PlainDate | Date | null {
  const value = givenText(query, name);
  if (value === null) return null;
  const read = boundOf(value);
  if (read === null) throw invalidParameter(name, BOUND_USAGE);
  return read;
}

/** Refuses years before 1 and after 9999, which PostgreSQL and ISO 8601 write differently. */
export function refuseOddYear(name: "from" | "to" | "compare", at: Date): void {
  if (at.getTime() >= TIMESTAMP_MS_MIN && at.getUTCFullYear() <= 9999) return;
  throw invalidParameter(name, "Use a time in the years 0001 to 9999.");
}

/**
 * Reads `from`, `to` and `timezone`: local dates, both inclusive, or instants `[from, to)`. The default
 * is the last 30 local days, today included. A day of a daylight saving change has 23 or 25 hours.
 * @param yearsMax null: of any length
 */
export function readRange(
  query: URLSearchParams,
  projectTimezone: string,
  nowMs: number,
  yearsMax: number | null = RANGE_YEARS_MAX,
): Range {
  const { timezone, ...given } = readAll({
    timezone: () => zone(query, projectTimezone),
    from: () => bound(query, "from"),
    to: () => bound(query, "to"),
  });
  const last = given.to ?? dateAt(nowMs, timezone);
  const to = last instanceof Date ? last : startOfDay(last.add({ days: 1 }), timezone);
  const lastDay = last instanceof Date ? dateAt(last.getTime() - 1, timezone) : last;
  const first = given.from ?? lastDay.subtract({ days: RANGE_DAYS_DEFAULT - 1 });
  const from = first instanceof Date ? first : startOfDay(first, timezone);
  refuseOddYear("to", to);
  refuseOddYear("from", from);
  if (from >= to) {
    const isDated = !(first instanceof Date) && !(last instanceof Date);
    // Only dates that the zone skipped span no time.
    const isSkipped = isDated && Temporal.PlainDate.compare(first, last) <= 0;
    const fault = isSkipped ? `This day was skipped in ${timezone}.` : "Must lie before `to`.";
    throw invalidParameter("from", fault);
  }
  if (yearsMax !== null) {
    const longest = localTime(from.getTime(), timezone).add({ years: yearsMax });
    if (to.getTime() > longest.epochMilliseconds) {
      throw rangeTooLarge("from", `Ask for at most ${yearsMax} years at once.`);
    }
  }
  return {
    from,
    to,
    timezone,
    fromDate: first instanceof Date ? null : first,
    toDate: last instanceof Date ? null : last,
  };
}
