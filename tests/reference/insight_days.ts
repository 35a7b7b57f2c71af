import { comparedRange, periodsIn, type Range, rangeOf } from "./calendar.ts";
import type { ReadParams } from "./filters.ts";
import { historyOf, type World } from "./world.ts";

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a range is compared with. */
export interface ComparedDays {
  readonly range: Range;
  readonly previous: Range;
  /** The days of the range that count, as far as they have passed. */
  readonly days: readonly (Span & { readonly weekday: number })[];
  /** Whether they are a week at most, one after the other. */
  readonly isWeek: boolean;
  /** Those of the weeks before, and the weekday of each, from 0 for Monday. */
  readonly daysBefore: readonly (Span & { readonly weekday: number })[];
  /** How many of `days` each weekday has. */
  readonly counts: readonly number[];
  readonly weeks: number;
  /** The range whose people count in a span: `range`, `previous`, or one of either's days. */
  readonly peopleRangeOf: (span: Span) => Range;
}

const WEEKDAYS = 7;
const WEEKS = 4;

function dateOf(ms: number, timezone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate();
}

function startOf(date: Temporal.PlainDate, timezone: string): number {
  return date.toZonedDateTime(timezone).epochMilliseconds;
}

/** The range, as far as it has passed, so many local days earlier. */
function earlier(range: Range, days: number, asOfMs: number): Range {
  const { fromMs, toMs, timezone, dates } = range;
  const at = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).subtract({ days })
      .epochMilliseconds;
  const first = dates === null ? at(fromMs) : startOf(dates.first.subtract({ days }), timezone);
  const end = dates === null
    ? at(toMs)
    : startOf(dates.last.subtract({ days: days - 1 }), timezone);
  const passed = toMs > asOfMs ? Math.min(end, first + asOfMs - fromMs) : end;
  const moved = dates &&
    { first: dates.first.subtract({ days }), last: dates.last.subtract({ days }) };
  return { timezone, fromMs: first, toMs: passed, dates: moved };
}

/** Null where there is nothing to compare with. */
export function comparedDays(world: World, params: ReadParams): ComparedDays | null {
  const range = rangeOf(world, params);
  const { timezone } = range;
  const previous = comparedRange(world, { ...params, compare: "previous" }, range)!;
  const firstSeen = [...historyOf(world.whole ?? world).firstSeenMs.values()];
  if (firstSeen.length === 0) return null;
  const since = dateOf(Math.min(...firstSeen), timezone);
  const all = periodsIn(range, "day").map(({ startMs, endMs }) => {
    const fromMs = Math.max(startMs, range.fromMs);
    const toMs = Math.min(endMs, range.toMs, world.asOfMs);
    const weekday = dateOf(fromMs, timezone).dayOfWeek - 1;
    return { startMs, fromMs, toMs, weekday, isWhole: fromMs === startMs && toMs === endMs };
  }).filter(({ fromMs, toMs }) => fromMs < toMs);
  const days = all.length > WEEKDAYS ? all.filter(({ isWhole }) => isWhole) : all;
  const isTooEarly = Temporal.PlainDate.compare(dateOf(previous.fromMs, timezone), since) < 0;
  if (days.length === 0 || isTooEarly) return null;
  const first = dateOf(range.fromMs, timezone);
  const daysBefore = [1, 2, 3, 4].slice(0, WEEKS)
    .map((week) => first.subtract({ days: week * WEEKDAYS }))
    .filter((start) => Temporal.PlainDate.compare(start, since) >= 0)
    .flatMap((start) =>
      Array.from({ length: WEEKDAYS }, (_, i) => {
        const date = start.add({ days: i });
        const weekday = date.dayOfWeek - 1;
        const startMs = startOf(date, timezone);
        const endMs = startOf(date.add({ days: 1 }), timezone);
        const part = days.find((day) => day.weekday === weekday && !day.isWhole);
        if (part === undefined) return { fromMs: startMs, toMs: endMs, weekday };
        const fromMs = Math.min(startMs + part.fromMs - part.startMs, endMs);
        return { fromMs, toMs: Math.min(fromMs + part.toMs - part.fromMs, endMs), weekday };
      })
    );
  const weeksEarlier = Array.from(
    { length: daysBefore.length / WEEKDAYS },
    (_, week) => earlier(range, (week + 1) * WEEKDAYS, world.asOfMs),
  );
  const peopleRangeOf = (span: Span) => {
    const day = daysBefore.findIndex((one) => one === span);
    return span === previous ? previous : weeksEarlier[Math.floor(day / WEEKDAYS)] ?? range;
  };
  return {
    range,
    previous,
    peopleRangeOf,
    days,
    isWeek: days.length <= WEEKDAYS && days[0]!.fromMs === range.fromMs,
    daysBefore,
    counts: Array.from(
      { length: WEEKDAYS },
      (_, weekday) => days.filter((day) => day.weekday === weekday).length,
    ),
    weeks: daysBefore.length / WEEKDAYS,
  };
}
