import { DAY_MS } from "../limits.ts";
import { KNOWN_DAYS_MAX } from "./projection_limits.ts";

const EPOCH_DATE = Temporal.PlainDate.from("1970-01-01");

/** Returns the number of a local date: days since 1970-01-01. */
function dayNumber(date: Temporal.PlainDate): number {
  return EPOCH_DATE.until(date, { largestUnit: "days" }).days;
}

type DayStart = readonly [ms: number, number: number];

/**
 * The local days of a time zone. They are computed here and never in the database, whose time zone data may
 * be from another year.
 */
export class LocalDays {
  /** By UTC day, the local days that overlap it, in order. */
  readonly #starts = new Map<number, readonly DayStart[]>();

  constructor(readonly timezone: string) {}

  /** Returns the number of the local day that contains an instant. */
  dayAt(ms: number): number {
    const utcDay = Math.floor(ms / DAY_MS);
    let starts = this.#starts.get(utcDay);
    if (starts === undefined) {
      if (this.#starts.size >= KNOWN_DAYS_MAX) this.#starts.clear();
      this.#starts.set(utcDay, starts = this.#find(utcDay));
    }
    let i = starts.length - 1;
    while (starts[i]![0] > ms) i--;
    return starts[i]![1];
  }

  #find(utcDay: number): DayStart[] {
    const days = new Map<number, number>();
    const endMs = (utcDay + 1) * DAY_MS;
    let date = Temporal.Instant.fromEpochMilliseconds(utcDay * DAY_MS)
      .toZonedDateTimeISO(this.timezone).toPlainDate();
    for (;; date = date.add({ days: 1 })) {
      const startMs = date.toZonedDateTime(this.timezone).epochMilliseconds;
      if (startMs >= endMs) break;
      // A date that the zone skipped starts at the same instant as the next one, which overwrites it.
      days.set(startMs, dayNumber(date));
    }
    return [...days].sort(([a], [b]) => a - b);
  }
}
