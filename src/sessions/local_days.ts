import { arrayLiteral } from "../db/sql.ts";
import { DAY_MS } from "../limits.ts";

/**
 * Local days as two arrays for SQL: the instants (epoch milliseconds) at which they start, in order,
 * and their numbers (days since 1970-01-01). An instant's day is that of the last start at or before
 * it. Zones are reckoned here alone: the database's own table of zones may be of another year.
 */
export interface LocalDays {
  readonly starts: string;
  readonly numbers: string;
  /** The number of the day in which an instant of the UTC days lies. */
  readonly dayAt: (ms: number) => number;
}

/** No day: where the rollups say that there was none before. */
export const NEVER = -2147483648;

const EPOCH_DATE = Temporal.PlainDate.from("1970-01-01");

/** The number of a local date: days since 1970-01-01. */
export function dayNumber(date: Temporal.PlainDate): number {
  return EPOCH_DATE.until(date, { largestUnit: "days" }).days;
}

/**
 * The local days that the given UTC days touch.
 * @param utcDays days since 1970-01-01 in UTC, in any order
 */
export function localDaysOf(utcDays: readonly number[], timezone: string): LocalDays {
  const days = new Map<number, number>();
  const dateAt = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate();
  for (const utcDay of utcDays) {
    const endMs = (utcDay + 1) * DAY_MS;
    for (let date = dateAt(utcDay * DAY_MS);; date = date.add({ days: 1 })) {
      const startMs = date.toZonedDateTime(timezone).epochMilliseconds;
      if (startMs >= endMs) break;
      // A date that the zone skipped starts where the next one does: the later one counts.
      days.set(startMs, dayNumber(date));
    }
  }
  const sorted = [...days].sort(([a], [b]) => a - b);
  const dayAt = (ms: number): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]![0] <= ms) low = middle + 1;
      else high = middle;
    }
    return sorted[low - 1]![1];
  };
  return {
    dayAt,
    starts: arrayLiteral(sorted.map(([startMs]) => startMs)),
    numbers: arrayLiteral(sorted.map(([, number]) => number)),
  };
}
