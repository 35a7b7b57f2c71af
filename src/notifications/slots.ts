/** When a digest is due, and which days it covers. */

import type { DigestTimes } from "./digest_definition.ts";

/** A moment at which a digest is due. */
export interface Slot {
  /** The local date on which it is due, which identifies it. */
  readonly date: Temporal.PlainDate;
  readonly atMs: number;
}

/** The days that a digest covers: local dates, both inclusive. */
export interface DigestDays {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
}

const DATES_OF: Readonly<
  Record<DigestTimes["every"], {
    /** Returns the last date on or before this one on which it is due. */
    readonly onOrBefore: (date: Temporal.PlainDate) => Temporal.PlainDate;
    readonly step: Temporal.DurationLike;
  }>
> = {
  daily: { onOrBefore: (date) => date, step: { days: 1 } },
  // On Mondays.
  weekly: {
    onOrBefore: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
    step: { days: 7 },
  },
  monthly: { onOrBefore: (date) => date.with({ day: 1 }), step: { months: 1 } },
};

/**
 * Returns the slot of a local date. A time that a clock change skips becomes an hour later; of one that occurs
 * twice, the first is taken.
 */
function slotOf(date: Temporal.PlainDate, at: string, timezone: string): Slot {
  const zoned = date.toZonedDateTime({
    timeZone: timezone,
    plainTime: Temporal.PlainTime.from(at),
  });
  return { date, atMs: zoned.epochMilliseconds };
}

/** Returns the last slot that is not after `nowMs`. */
export function lastSlot({ every, at }: DigestTimes, timezone: string, nowMs: number): Slot {
  const { onOrBefore, step } = DATES_OF[every];
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone);
  let slot = slotOf(onOrBefore(today.toPlainDate()), at, timezone);
  while (slot.atMs > nowMs) slot = slotOf(slot.date.subtract(step), at, timezone);
  return slot;
}

/** Returns the first slot after `nowMs`. */
export function nextSlot(times: DigestTimes, timezone: string, nowMs: number): Slot {
  const { step } = DATES_OF[times.every];
  let slot = lastSlot(times, timezone, nowMs);
  while (slot.atMs <= nowMs) slot = slotOf(slot.date.add(step), times.at, timezone);
  return slot;
}

/** Returns the day, the week from Monday, or the month that ends before the date of a slot. */
export function digestDays(
  { every }: Pick<DigestTimes, "every">,
  { date }: Pick<Slot, "date">,
  timezone: string,
): DigestDays {
  // The last day that existed in the zone: Samoa had no 30 December 2011.
  const to = date.toZonedDateTime(timezone).subtract({ nanoseconds: 1 }).toPlainDate();
  switch (every) {
    case "daily":
      return { from: to, to };
    case "weekly":
      return { from: date.subtract({ days: 7 }), to };
    case "monthly":
      return { from: date.subtract({ months: 1 }), to };
  }
}
