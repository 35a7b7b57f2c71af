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

/** Minutes by which the zone is ahead of UTC at an instant, as milliseconds. */
function zoneOffsetMs(clock: Intl.DateTimeFormat, atMs: number): number {
  const parts = Object.fromEntries(
    clock.formatToParts(atMs).map((part) => [part.type, Number(part.value)]),
  );
  const local = Date.UTC(
    parts.year ?? 0,
    (parts.month ?? 1) - 1,
    parts.day,
    parts.hour,
    parts.minute,
    parts.second,
  );
  return local - Math.floor(atMs / 1000) * 1000;
}

/**
 * The last `count` local days up to and with the one that holds `untilMs`, oldest first.
 * Days are those of the calendar, so the same date is the same day whenever it is asked for.
 */
export function shopDays(untilMs: number, count: number, timezone: string): ShopDay[] {
  const clock = new Intl.DateTimeFormat("en-u-hc-h23-ca-gregory", {
    timeZone: timezone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const localUntilMs = untilMs + zoneOffsetMs(clock, untilMs);
  const lastMs = Math.floor(localUntilMs / DAY_MS) * DAY_MS;
  return Array.from({ length: count }, (_, index) => {
    const midnightMs = lastMs - (count - 1 - index) * DAY_MS;
    const guessMs = midnightMs - zoneOffsetMs(clock, midnightMs);
    return {
      date: new Date(midnightMs).toISOString().slice(0, 10),
      startMs: midnightMs - zoneOffsetMs(clock, guessMs),
      weekday: new Date(midnightMs).getUTCDay(),
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

/** A time of that day, in milliseconds, at which people shop. */
export function momentOf(day: ShopDay, random: Random): number {
  const { hour } = random.weighted(HOUR_WEIGHTS);
  return day.startMs + hour * HOUR_MS + random.integer(0, HOUR_MS - 1);
}
