/** When a digest is sent, and which days it then tells of. */

import type { DigestTimes } from "./digest_definition.ts";

/** A moment at which a digest is due. */
export interface Slot {
  /** The local date on which it is sent: what tells it from the others. */
  readonly date: Temporal.PlainDate;
  readonly atMs: number;
}

/** The days that a digest tells of: local dates, both inclusive. */
export interface ToldDays {
  readonly from: Temporal.PlainDate;
  readonly to: Temporal.PlainDate;
}

const DATES_OF: Readonly<
  Record<DigestTimes["every"], {
    /** The last date on or before this one on which it is sent. */
    readonly onOrBefore: (date: Temporal.PlainDate) => Temporal.PlainDate;
    readonly step: Temporal.DurationLike;
  }>
> = {
  daily: { onOrBefore: (date) => date, step: { days: 1 } },
  // Mondays: the week that has just ended.
  weekly: {
    onOrBefore: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
    step: { days: 7 },
  },
  monthly: { onOrBefore: (date) => date.with({ day: 1 }), step: { months: 1 } },
};

/**
 * The moment of a local date. A time that a clock change leaves out comes an hour later, of one that
 * comes twice the first is taken: each date has one.
 */
function slotOf(date: Temporal.PlainDate, at: string, timezone: string): Slot {
  const zoned = date.toZonedDateTime({
    timeZone: timezone,
    plainTime: Temporal.PlainTime.from(at),
  });
  return { date, atMs: zoned.epochMilliseconds };
}

/** The last moment up to and with `nowMs` at which it is due. */
export function lastSlot({ every, at }: DigestTimes, timezone: string, nowMs: number): Slot {
  const { onOrBefore, step } = DATES_OF[every];
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone);
  let slot = slotOf(onOrBefore(today.toPlainDate()), at, timezone);
  while (slot.atMs > nowMs) slot = slotOf(slot.date.subtract(step), at, timezone);
  return slot;
}

/** The first moment after `nowMs` at which it is due. */
export function nextSlot(times: DigestTimes, timezone: string, nowMs: number): Slot {
  const { step } = DATES_OF[times.every];
  let slot = lastSlot(times, timezone, nowMs);
  while (slot.atMs <= nowMs) slot = slotOf(slot.date.add(step), times.at, timezone);
  return slot;
}

/** The day, the whole week from Monday, or the whole month that ends before a date on which it is sent. */
export function toldDays(
  { every }: Pick<DigestTimes, "every">,
  { date }: Pick<Slot, "date">,
  timezone: string,
): ToldDays {
  // The last day that there was: Samoa had no 30 December 2011.
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
