import type { World } from "./world.ts";

export type Interval = "hour" | "day" | "week" | "month";

export interface RangeParams {
  /** Local dates, both inclusive, or instants `[from, to)`. */
  readonly from?: string;
  readonly to?: string;
  readonly timezone?: string;
  readonly interval?: Interval;
  readonly compare?:
    | "none"
    | "previous"
    | "year"
    | `segment:${string}`
    | { readonly from: string; readonly to: string };
}

/** `[fromMs, toMs)`; the dates only where the range was given as local dates. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timezone: string;
  readonly dates: { readonly first: Temporal.PlainDate; readonly last: Temporal.PlainDate } | null;
}

export interface Period {
  readonly startMs: number;
  readonly endMs: number;
  readonly label: string;
}

/** A period as responses tell it. */
export interface Bucket {
  readonly start: string;
  readonly label: string;
  readonly complete: boolean;
}

const DEFAULT_DAYS = 30;
const DAILY_BUCKETS_MAX = 2000;

export function instantText(ms: number): string {
  return new Date(ms).toISOString();
}

function zoned(ms: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
}

/** The instant at which a local day begins: not always midnight. */
function dayStartMs(date: Temporal.PlainDate, timezone: string): number {
  return date.toZonedDateTime(timezone).epochMilliseconds;
}

function ofDates(first: Temporal.PlainDate, last: Temporal.PlainDate, timezone: string): Range {
  return {
    fromMs: dayStartMs(first, timezone),
    toMs: dayStartMs(last.add({ days: 1 }), timezone),
    timezone,
    dates: { first, last },
  };
}

/** The range that a read's parameters name. */
export function rangeOf(world: World, params: RangeParams): Range {
  const timezone = params.timezone ?? world.project.timezone;
  const today = zoned(world.asOfMs, timezone).toPlainDate();
  const last = params.to ?? today.toString();
  if (last.includes("T")) {
    return { fromMs: Date.parse(params.from!), toMs: Date.parse(last), timezone, dates: null };
  }
  const lastDate = Temporal.PlainDate.from(last);
  const firstDate = params.from === undefined
    ? lastDate.subtract({ days: DEFAULT_DAYS - 1 })
    : Temporal.PlainDate.from(params.from);
  return ofDates(firstDate, lastDate, timezone);
}

/** By hours up to two days, by days up to 2,000 of them, else by weeks. */
export function intervalOf(params: RangeParams, range: Range): Interval {
  if (params.interval !== undefined) return params.interval;
  const hours = (range.toMs - range.fromMs) / 3_600_000;
  const days = range.dates === null
    ? hours / 24
    : range.dates.first.until(range.dates.last).total("days") + 1;
  if (days <= 2) return "hour";
  return days <= DAILY_BUCKETS_MAX ? "day" : "week";
}

/** The period of the calendar that holds an instant. */
export function periodAt(ms: number, interval: Interval, timezone: string): Period {
  const at = zoned(ms, timezone);
  if (interval === "hour") {
    const start = at.round({ smallestUnit: "hour", roundingMode: "floor" });
    return {
      startMs: start.epochMilliseconds,
      endMs: start.add({ hours: 1 }).epochMilliseconds,
      label: start.toPlainDateTime().toString({ smallestUnit: "minute" }).replace("T", " "),
    };
  }
  const date = at.toPlainDate();
  const first = interval === "day"
    ? date
    : interval === "week"
    ? date.subtract({ days: date.dayOfWeek - 1 })
    : date.with({ day: 1 });
  return {
    startMs: dayStartMs(first, timezone),
    endMs: dayStartMs(first.add({ [`${interval}s`]: 1 }), timezone),
    label: interval === "month" ? first.toPlainYearMonth().toString() : first.toString(),
  };
}

/** Every period that has a part in `[fromMs, toMs)`, in order, each whole. */
export function periodsIn(
  { fromMs, toMs, timezone }: Pick<Range, "fromMs" | "toMs" | "timezone">,
  interval: Interval,
): Period[] {
  const periods: Period[] = [];
  for (let ms = fromMs; ms < toMs;) {
    const period = periodAt(ms, interval, timezone);
    periods.push(period);
    ms = period.endMs;
  }
  return periods;
}

/** `complete`: the whole period lies in the range and in the past. */
export function bucketOf({ startMs, endMs, label }: Period, range: Range, asOfMs: number): Bucket {
  return {
    start: instantText(startMs),
    label,
    complete: startMs >= range.fromMs && endMs <= Math.min(range.toMs, asOfMs),
  };
}

/** Buckets with what `measure` says of the part of each that lies in the range. */
export function series<T>(
  world: World,
  params: RangeParams,
  range: Range,
  measure: (part: { fromMs: number; toMs: number }) => T,
  interval: Interval = intervalOf(params, range),
): (Bucket & T)[] {
  return periodsIn(range, interval).map((period) => ({
    ...bucketOf(period, range, world.asOfMs),
    ...measure({
      fromMs: Math.max(period.startMs, range.fromMs),
      toMs: Math.min(period.endMs, range.toMs),
    }),
  }));
}

/**
 * The range to compare with; null where none is asked for. Dates that are named are taken as named;
 * of any other, while the current range is under way, only the part that is as long as what has
 * passed of it; all of it before then.
 */
export function comparedRange(world: World, params: RangeParams, range: Range): Range | null {
  const whole = wholeComparedRange(world, params, range);
  const passedMs = world.asOfMs - range.fromMs;
  if (whole === null || typeof params.compare === "object") return whole;
  if (range.toMs <= world.asOfMs || passedMs <= 0) return whole;
  return { ...whole, toMs: Math.min(whole.toMs, whole.fromMs + passedMs) };
}

function wholeComparedRange(world: World, params: RangeParams, range: Range): Range | null {
  const { compare = "none" } = params;
  const { dates, fromMs, toMs, timezone } = range;
  if (compare === "none" || typeof compare === "string" && compare.startsWith("segment:")) {
    return null;
  }
  if (typeof compare === "object") return rangeOf(world, { ...compare, timezone });
  if (compare === "previous") {
    if (dates === null) return { ...range, fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
    const days = dates.first.until(dates.last).total("days") + 1;
    return ofDates(dates.first.subtract({ days }), dates.first.subtract({ days: 1 }), timezone);
  }
  if (dates !== null) {
    return ofDates(
      dates.first.subtract({ years: 1 }),
      dates.last.subtract({ years: 1 }),
      timezone,
    );
  }
  const yearBefore = (ms: number) => zoned(ms, timezone).subtract({ years: 1 }).epochMilliseconds;
  return { ...range, fromMs: yearBefore(fromMs), toMs: yearBefore(toMs) };
}

/** `30s`, `15m`, `24h` or `7d`, in milliseconds: a day of a window is always 24 hours. */
export function windowMs(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text)!;
  return Number(count) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit!]!;
}
