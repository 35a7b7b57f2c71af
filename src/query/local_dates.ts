/** Local times and dates of instants, and the numbers of dates: days since 1970-01-01. */

const EPOCH_DATE = Temporal.PlainDate.from("1970-01-01");

/** An instant on the local clock. */
export function localTime(ms: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
}

/** The local date of an instant. */
export function dateAt(ms: number, timezone: string): Temporal.PlainDate {
  return localTime(ms, timezone).toPlainDate();
}

/** The number of a date. Throws RangeError for a text that is none. */
export function dayNumber(date: Temporal.PlainDate | string): number {
  return EPOCH_DATE.until(date, { largestUnit: "days" }).days;
}

/** The date of a number. */
export function dateOfDay(day: number): Temporal.PlainDate {
  return EPOCH_DATE.add({ days: day });
}

/** The number of an instant's local date. */
export function dayAt(ms: number, timezone: string): number {
  return dayNumber(dateAt(ms, timezone));
}
