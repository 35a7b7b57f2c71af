/** Local times and dates of instants, and the numbers of dates: days since 1970-01-01. */

const EPOCH_DATE = Temporal.PlainDate.from("1970-01-01");

/** Returns an instant on the local clock. */
export function localTime(ms: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
}

/** Returns the local date of an instant. */
export function dateAt(ms: number, timezone: string): Temporal.PlainDate {
  return localTime(ms, timezone).toPlainDate();
}

/** Returns the number of a date. Throws RangeError for a text that is not a date. */
export function dayNumber(date: Temporal.PlainDate | string): number {
  return EPOCH_DATE.until(date, { largestUnit: "days" }).days;
}

/** Returns the date of a number. */
export function dateOfDay(day: number): Temporal.PlainDate {
  return EPOCH_DATE.add({ days: day });
}

/** Returns the number of an instant's local date. */
export function dayAt(ms: number, timezone: string): number {
  return dayNumber(dateAt(ms, timezone));
}
