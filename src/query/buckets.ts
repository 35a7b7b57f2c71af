import { z } from "zod";
import { BUCKETS_MAX } from "../limits.ts";
import { dateAt, localTime } from "./local_dates.ts";
import { ofCompare, oneOf, rangeTooLarge } from "./parameters.ts";
import { type Range, refuseOddYear, startOfDay } from "./range.ts";

export type Interval = "hour" | "day" | "week" | "month";

/** A calendar period, and the part of it that is in the range; `[start, end)`, epoch milliseconds. */
export interface Bucket {
  /** The period's own start, also where the range begins later. */
  readonly startMs: number;
  /** The part within the range: `[fromMs, toMs)`, never empty. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly endMs: number;
  /** Local: `2026-10-25 02:00`, `2026-10-25` (of a week: its Monday), `2026-10`. */
  readonly label: string;
}

type Period = Pick<Bucket, "startMs" | "endMs" | "label">;
type CalendarInterval = Exclude<Interval, "hour">;

const HOUR_MS = 3_600_000;
/** Finest first. */
const CALENDAR_INTERVALS = ["day", "week", "month"] as const;
const STEPS = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } } as const;

/** Returns the last clock change up to `atMs`: the local hour of `atMs` may have begun with it. */
function lastChangeMs(atMs: number, timezone: string): number {
  const change = localTime(atMs + 1, timezone).getTimeZoneTransition("previous");
  return change?.epochMilliseconds ?? -Infinity;
}

/**
 * Yields the hours of the local clock endlessly, beginning with the one that contains `atMs`. A change of
 * the zone's offset ends an hour: an hour that the clock repeats is two periods, and where the clock
 * moves by half an hour a period may be half an hour long.
 */
function* hourPeriods(atMs: number, timezone: string): Generator<Period, never> {
  let withinMs = atMs;
  let changedMs = lastChangeMs(atMs, timezone);
  while (true) {
    const local = localTime(withinMs, timezone);
    const offsetMs = local.offsetNanoseconds / 1e6;
    const changeMs = local.getTimeZoneTransition("next")?.epochMilliseconds ?? Infinity;
    while (withinMs < changeMs) {
      const hourMs = Math.floor((withinMs + offsetMs) / HOUR_MS) * HOUR_MS;
      const startMs = Math.max(hourMs - offsetMs, changedMs);
      const endMs = Math.min(hourMs - offsetMs + HOUR_MS, changeMs);
      const label = new Date(hourMs).toISOString().replace("T", " ").replace(/:00\.000Z$/, "");
      yield { startMs, endMs, label };
      withinMs = endMs;
    }
    changedMs = changeMs;
  }
}

function firstDate(date: Temporal.PlainDate, interval: CalendarInterval): Temporal.PlainDate {
  if (interval === "week") return date.subtract({ days: date.dayOfWeek - 1 });
  return interval === "month" ? date.with({ day: 1 }) : date;
}

/** Yields days, weeks or months of the local calendar endlessly, beginning with the one that contains `atMs`. */
function* calendarPeriods(
  atMs: number,
  interval: CalendarInterval,
  timezone: string,
): Generator<Period, never> {
  let date = firstDate(dateAt(atMs, timezone), interval);
  let startMs = startOfDay(date, timezone).getTime();
  while (true) {
    const next = date.add(STEPS[interval]);
    const endMs = startOfDay(next, timezone).getTime();
    // A date that the zone skipped is not a period. A clock set back from just after midnight repeats
    // the evening before: that instant belongs to the day that had already begun.
    if (endMs > startMs && endMs > atMs) {
      const label = interval === "month" ? date.toPlainYearMonth().toString() : date.toString();
      yield { startMs, endMs, label };
    }
    date = next;
    startMs = endMs;
  }
}

function periodsFrom(
  atMs: number,
  interval: Interval,
  timezone: string,
): Generator<Period, never> {
  return interval === "hour"
    ? hourPeriods(atMs, timezone)
    : calendarPeriods(atMs, interval, timezone);
}

/** Returns the periods that overlap the range; null where there are more than `BUCKETS_MAX`. */
function periodsOf(range: Range, interval: Interval): Period[] | null {
  const periods: Period[] = [];
  for (const period of periodsFrom(range.from.getTime(), interval, range.timezone)) {
    if (period.startMs >= range.to.getTime()) return periods;
    if (periods.length === BUCKETS_MAX) return null;
    periods.push(period);
  }
  return periods;
}

function boundedPeriodsOf(range: Range, interval: Interval, isAsked = true): Period[] {
  const periods = periodsOf(range, interval);
  if (periods !== null) return periods;
  const [what, coarser] = isAsked
    ? ["buckets", `a coarser interval than ${interval}, or `]
    : [`${interval}s`, ""];
  const message = `Ask for at most ${BUCKETS_MAX} ${what} at once: take ${coarser}a shorter range.`;
  const problem = rangeTooLarge(isAsked ? "interval" : "from", message);
  throw range.namedBy === "compare" ? ofCompare(problem) : problem;
}

/**
 * Returns the calendar buckets of a range in its time zone, in order and without gaps; the first and
 * the last are clipped to the range.
 * @param isAsked false: the interval does not depend on the parameter `interval`, so only a shorter range helps
 * @throws Problem `range_too_large` where there are more than `BUCKETS_MAX`.
 */
export function bucketsOf(
  range: Range,
  interval: Interval,
  { isAsked } = { isAsked: true },
): Bucket[] {
  const fromMs = range.from.getTime();
  const toMs = range.to.getTime();
  return boundedPeriodsOf(range, interval, isAsked).map((period) => ({
    ...period,
    fromMs: Math.max(period.startMs, fromMs),
    toMs: Math.min(period.endMs, toMs),
  }));
}

/**
 * Returns a bucket for each whole period that the range overlaps, and for the `following` periods after
 * it.
 * @throws Problem `range_too_large` where the range alone has more than `BUCKETS_MAX`;
 * `invalid_parameter` where the first or the last period leaves the years 0001 to 9999.
 */
export function wholePeriods(range: Range, interval: CalendarInterval, following = 0): Bucket[] {
  const periods = boundedPeriodsOf(range, interval);
  const first = periods[0]!;
  const last = periods.at(-1)!;
  refuseOddYear(range.namedBy ?? "from", new Date(first.startMs));
  refuseOddYear(range.namedBy ?? "to", new Date(last.endMs));
  const more = periodsFrom(last.endMs, interval, range.timezone);
  for (let i = 0; i < following; i++) periods.push(more.next().value);
  return periods.map((period) => ({ ...period, fromMs: period.startMs, toMs: period.endMs }));
}

/** Whether a range is at most two local dates, or 48 hours where a bound is an instant. */
function isShort({ from, to, fromDate, toDate }: Range): boolean {
  return fromDate !== null && toDate !== null
    ? fromDate.until(toDate).days < 2
    : to.getTime() - from.getTime() <= 48 * HOUR_MS;
}

/**
 * Reads `interval`. The default is `hour` for at most two days, else `day`; where that makes more than
 * `BUCKETS_MAX` buckets, the next coarser one.
 * @param range null: it was refused; then `interval` is only checked
 */
export function readInterval(
  query: URLSearchParams,
  range: Range | null,
  { allowHour } = { allowHour: true },
): Interval {
  const allowed: readonly Interval[] = [
    ...allowHour ? ["hour"] as const : [],
    ...CALENDAR_INTERVALS,
  ];
  if (query.get("interval") || range === null) return oneOf(query, "interval", allowed, "day");
  if (allowHour && isShort(range)) return "hour";
  return CALENDAR_INTERVALS.find((interval) => periodsOf(range, interval) !== null) ?? "month";
}

/** The members of a reply that describe a bucket. */
export const BUCKET_SHOWN = {
  start: z.iso.datetime(),
  label: z.string(),
  complete: z.boolean(),
};

/** Returns a bucket as replies show it; it is complete if its whole period is in the range and in the past. */
export function shownBucket(
  { startMs, endMs, label }: Bucket,
  { from, to }: Range,
  asOfMs: number,
): { start: string; label: string; complete: boolean } {
  const complete = startMs >= from.getTime() && endMs <= Math.min(to.getTime(), asOfMs);
  return { start: new Date(startMs).toISOString(), label, complete };
}
