import { DAY_MS } from "../limits.ts";
import { KNOWN_DAYS_MAX } from "./projection_limits.ts";

/** No day: where the rollups say that there was none before. */
export const NEVER = -2147483648;

const EPOCH_DATE = Temporal.PlainDate.from("1970-01-01");

/** The number of a local date: days since 1970-01-01. */
export function dayNumber(date: Temporal.PlainDate): number {
  return EPOCH_DATE.until(date, { largestUnit: "days" }).days;
}

/** A local day: when it starts, and its number. */
type Start = readonly [ms: number, number: number];

/**
 * The local days of a time zone. Zones are reckoned here alone: the database's own table of zones
 * may be of another year.
 */
export class LocalDays {
  /** Of each UTC day, the local days that it touches, in order. */
  readonly #starts = new Map<number, readonly Start[]>();

  constructor(readonly timezone: string) {}

  /** The number of the local day in which an instant lies. */
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

  #find(utcDay: number): Start[] {
    const days = new Map<number, number>();
    const endMs = (utcDay + 1) * DAY_MS;
    let date = Temporal.Instant.fromEpochMilliseconds(utcDay * DAY_MS)
      .toZonedDateTimeISO(this.timezone).toPlainDate();
    for (;; date = date.add({ days: 1 })) {
      const startMs = date.toZonedDateTime(this.timezone).epochMilliseconds;
      if (startMs >= endMs) break;
      // A date that the zone skipped starts where the next one does: the later one counts.
      days.set(startMs, dayNumber(date));
    }
    return [...days].sort(([a], [b]) => a - b);
  }
}
