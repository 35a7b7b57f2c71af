import { DAY_MS } from "../../limits.ts";
import type { Random } from "./random.ts";

const HOUR_MS = DAY_MS / 24;

/** One local day of the shop. */
export interface ShopDay {
  /** `YYYY-MM-DD` in the shop's time zone. */
  readonly date: string;
  /** The instant of its midnight. */
  readonly startMs: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

/** Returns the last `count` local days, oldest first; the last one contains `untilMs`. */
export function shopDays(untilMs: number, count: number, timezone: string): ShopDay[] {
  const last = Temporal.Instant.fromEpochMilliseconds(untilMs).toZonedDateTimeISO(timezone)
    .toPlainDate();
  return Array.from({ length: count }, (_, index) => {
    const date = last.subtract({ days: count - 1 - index });
    return {
      date: date.toString(),
      startMs: date.toZonedDateTime(timezone).epochMilliseconds,
      weekday: date.dayOfWeek % 7,
    };
  });
}

/** Sunday first: a shop that sells to people at their desks, and on Sunday evenings. */
const WEEKDAY_WEIGHTS = [1.05, 1.15, 1.1, 1.05, 1.0, 0.9, 0.75];

/** Midnight first: quiet nights, a lunch break, a long evening. */
const HOUR_WEIGHTS = [
  ...[8, 5, 3, 2, 2, 4, 10, 20, 32, 38, 42, 44],
  ...[50, 46, 40, 38, 40, 46, 56, 66, 74, 68, 44, 20],
].map((weight, hour) => ({ hour, weight }));

export function weekdayWeight(day: ShopDay): number {
  return WEEKDAY_WEIGHTS[day.weekday] ?? 1;
}

/** Returns a random time of that day, in epoch milliseconds; times at which people shop are more frequent. */
export function momentOf(day: ShopDay, random: Random): number {
  const { hour } = random.weighted(HOUR_WEIGHTS);
  return day.startMs + hour * HOUR_MS + random.integer(0, HOUR_MS - 1);
}
