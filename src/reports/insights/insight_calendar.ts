import { INSIGHT_WEEKS } from "../../limits.ts";
import { bucketsOf } from "../../query/buckets.ts";
import { daysEarlier, previousOf } from "../../query/comparison.ts";
import { dateAt, localTime } from "../../query/local_dates.ts";
import { type Range, spanOf, startOfDay } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";

const WEEKDAYS = 7;

/** A span of time that lies wholly inside or outside each period and day, and how it is counted. */
interface Segment extends Span {
  readonly period: "current" | "previous" | null;
  /** The index of the segment's day: the days of the weeks before come first, then those of the range. */
  readonly day: number | null;
}

/** The times that are compared: the range, the period before it, and the four weeks before it. */
export type Calendar = NonNullable<ReturnType<typeof calendarOf>>;

/** A day, or the part of it that is compared. */
interface Day extends Span {
  readonly weekday: number;
}

/** A day of the range. If only a part of it is compared, the local times at which that part begins and ends. */
interface RangeDay extends Day {
  /** Null: the part begins when the day does; `toTime` likewise. */
  readonly fromTime: Temporal.PlainTime | null;
  readonly toTime: Temporal.PlainTime | null;
}

const isPart = ({ fromTime, toTime }: RangeDay): boolean => fromTime !== null || toTime !== null;

/** Returns the days of the range that have begun, the last one cut off at `asOfMs`. */
function daysOf(range: Range, asOfMs: number): RangeDay[] {
  const timeOf = (ms: number) => localTime(ms, range.timezone).toPlainTime();
  return bucketsOf(range, "day", { isAsked: false }).flatMap((bucket): RangeDay[] => {
    const { startMs, endMs, fromMs } = bucket;
    const toMs = Math.min(bucket.toMs, asOfMs);
    if (toMs <= fromMs) return [];
    const weekday = dateAt(fromMs, range.timezone).dayOfWeek - 1;
    return [{
      fromMs,
      toMs,
      weekday,
      fromTime: fromMs === startMs ? null : timeOf(fromMs),
      toTime: toMs === endMs ? null : timeOf(toMs),
    }];
  });
}

/**
 * Returns the days of the weeks before the range that begin at or after `since`, the nearest week first. If
 * only a part of a day of the range is compared, the same weekday is cut to the same local times.
 */
function daysBefore(range: Range, since: Temporal.PlainDate, days: readonly RangeDay[]): Day[] {
  const first = dateAt(range.from.getTime(), range.timezone);
  const found: Day[] = [];
  for (let week = 1; week <= INSIGHT_WEEKS; week++) {
    const weekStart = first.subtract({ days: week * WEEKDAYS });
    if (Temporal.PlainDate.compare(weekStart, since) < 0) break;
    for (let i = 0; i < WEEKDAYS; i++) {
      const date = weekStart.add({ days: i });
      const weekday = date.dayOfWeek - 1;
      const part = days.find((one) => one.weekday === weekday && isPart(one));
      const at = (plainTime: Temporal.PlainTime | null | undefined, midnight: typeof date) =>
        plainTime
          ? date.toZonedDateTime({ timeZone: range.timezone, plainTime }).epochMilliseconds
          : startOfDay(midnight, range.timezone).getTime();
      const fromMs = at(part?.fromTime, date);
      // Around an hour that a clock change repeats, the part could otherwise end before it begins.
      const toMs = Math.max(fromMs, at(part?.toTime, date.add({ days: 1 })));
      found.push({ fromMs, toMs, weekday });
    }
  }
  return found;
}

/**
 * Returns the segments by the set of `ranges` whose people an actor is among, a bit for each, 1 for the first:
 * without the periods and days of the other ranges.
 * @param isOfRanges whether each range has its own people; false: one set for everybody
 */
export function segmentsByPeople(
  { segments, weekdays, ranges }: Calendar,
  isOfRanges: boolean,
): readonly Calendar["segments"][] {
  if (!isOfRanges) return [segments];
  const rangeOf = (day: number) => day < weekdays.length ? 2 + Math.floor(day / WEEKDAYS) : 0;
  return Array.from({ length: 1 << ranges.length }, (_, amid) => {
    const isAmid = (range: number) => (amid >> range & 1) === 1;
    return segments.map(({ period, day, ...span }) => ({
      ...span,
      period: period !== null && isAmid(period === "current" ? 0 : 1) ? period : null,
      day: day !== null && isAmid(rangeOf(day)) ? day : null,
    }));
  });
}

function segmentsOf(current: Span, previous: Span, days: readonly Span[]): Segment[] {
  const starts = [current, previous, ...days].flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
  const bounds = [...new Set(starts)].sort((a, b) => a - b);
  const holds = ({ fromMs, toMs }: Span, ms: number) => fromMs <= ms && ms < toMs;
  // Days do not overlap, so one pass over the sorted days finds the day of each segment.
  const sorted = days.map((day, i) => ({ ...day, i })).filter(({ fromMs, toMs }) => fromMs < toMs)
    .sort((a, b) => a.fromMs - b.fromMs);
  let next = 0;
  return bounds.slice(0, -1).map((fromMs, i) => {
    while (next < sorted.length && sorted[next]!.toMs <= fromMs) next++;
    const day = sorted[next];
    return {
      fromMs,
      toMs: bounds[i + 1]!,
      period: holds(current, fromMs) ? "current" : holds(previous, fromMs) ? "previous" : null,
      day: day !== undefined && holds(day, fromMs) ? day.i : null,
    };
  });
}

/**
 * Returns what a range is compared with. Null: the project has no data for the whole period before, or the range
 * has not begun.
 * @param firstEventMs the time of the project's first event
 * @throws Problem `range_too_large` if the range has more days than a series may have
 */
export function calendarOf(range: Range, asOfMs: number, firstEventMs: number) {
  const { timezone } = range;
  const previous = previousOf(range, asOfMs);
  const since = dateAt(firstEventMs, timezone);
  const passed = daysOf(range, asOfMs);
  // Up to a week has each weekday once, so that a part of a day has one counterpart in each week.
  const isWeek = passed.length <= WEEKDAYS;
  const days = isWeek ? passed : passed.filter((day) => !isPart(day));
  const before = dateAt(previous.from.getTime(), timezone);
  if (days.length === 0 || Temporal.PlainDate.compare(before, since) < 0) return null;
  const past = daysBefore(range, since, days);
  const weeks = past.length / WEEKDAYS;
  const earlier = Array.from(
    { length: weeks },
    (_, week) => daysEarlier(range, (week + 1) * WEEKDAYS, asOfMs),
  );
  return {
    previous,
    /**
     * With a segment, each of these ranges has its own people: the range, the period before, and the range moved
     * back by one week, two weeks and so on. The last ones give the people of each week's days.
     */
    ranges: [range, previous, ...earlier],
    /** In order, without gaps; the last one ends when the range does, or earlier. */
    segments: segmentsOf(spanOf(range), spanOf(previous), [...past, ...days]),
    /** Weeks before the range for which the project has data, at most `INSIGHT_WEEKS`. */
    weeks,
    /** By weekday from Monday: how many of the compared days fall on it. */
    days: Array.from(
      { length: WEEKDAYS },
      (_, w) => days.filter(({ weekday }) => weekday === w).length,
    ),
    /** The weekday of each day of the weeks before, 0 for Monday. */
    weekdays: past.map(({ weekday }) => weekday),
    /** The weekday of each compared day; empty if more than a week is compared. */
    rangeWeekdays: isWeek ? days.map(({ weekday }) => weekday) : [],
  };
}
