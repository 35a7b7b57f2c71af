import { DAY_MS } from "../../limits.ts";
import { localTime } from "../../query/local_dates.ts";

/** Up to here, a time is within the range of dates in every zone. */
const SHOWN_MS_MAX = 8.64e15 - DAY_MS;

/**
 * Returns the instant of a local time of the zone that is written as if it were UTC: projects of Mixpanel
 * from before 2023 export such times. In an hour that occurs twice it is the first.
 */
export function instantOf(shownMs: number, zone: string | null): number {
  // The server refuses a time beyond all dates.
  if (zone === null || Math.abs(shownMs) > SHOWN_MS_MAX) return shownMs;
  const wholeMs = Math.floor(shownMs);
  const local = localTime(wholeMs, "UTC").toPlainDateTime().toZonedDateTime(zone);
  return local.epochMilliseconds + (shownMs - wholeMs);
}
