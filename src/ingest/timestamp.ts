import {
  CLOCK_SKEW_TOLERATED_MS,
  DAY_MS,
  FUTURE_TOLERATED_MS,
  TIMESTAMP_MS_MIN,
} from "../limits.ts";
import type { Clock } from "../store/event_row.ts";

/** The last millisecond that a JavaScript Date can hold (ECMA-262, "Time Values and Time Range"). */
const TIMESTAMP_MS_MAX = 8.64e15;
const TEXT_LENGTH_MAX = 64;

/** The Gregorian calendar repeats after 400 years: 146,097 days. */
const CALENDAR_CYCLE_YEARS = 400;
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;

const OFFSET = "(?:([zZ])|([+-])(\\d\\d)(?::?(\\d\\d))?)?";
/** `Date.prototype.toISOString` writes years after 9999 with six digits and a sign. */
const EXTENDED = new RegExp(
  `^(\\d{4}|\\+\\d{6})-(\\d\\d)-(\\d\\d)(?:[tT ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?${OFFSET})?$`,
);
const BASIC = new RegExp(
  `^(\\d{4})(\\d\\d)(\\d\\d)(?:[tT](\\d\\d)(\\d\\d)(?:(\\d\\d)(?:[.,](\\d+))?)?${OFFSET})$`,
);

/**
 * Returns the epoch milliseconds of a client's timestamp, or null if it is not a time.
 *
 * A finite number is epoch milliseconds. A string is ISO 8601, extended or basic, down to any
 * fraction of a second (cut to the millisecond), with or without an offset: without one it is UTC.
 * `24:00` is the next midnight; a leap second is the last millisecond of its minute, since neither
 * JavaScript nor PostgreSQL has one. Returns null before the year 1 and beyond the range of a Date.
 */
export function parseTimestamp(value: unknown): number | null {
  if (typeof value === "number") return withinRange(Math.floor(value) + 0);
  if (typeof value !== "string" || value.length > TEXT_LENGTH_MAX) return null;
  const recent = readWithinDay(value);
  if (recent !== null) return withinRange(recent);
  const parts = EXTENDED.exec(value) ?? BASIC.exec(value);
  return parts === null ? null : withinRange(instantOf(parts));
}

/** The UTC day of the last formatted time, and the text that its times begin with; most times are of one day. */
let recentDay = { text: "1970-01-01T", startMs: 0 };
/** The last parsed time of that day, as `isoText` formats it; mostly it is formatted next. */
let recentTime = { text: "", ms: NaN };
const DIGITS = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, "0"));

/** Does what `Date.prototype.toISOString` does, in a sixth of the time if the last time was of the same day. */
export function isoText(ms: number): string {
  if (ms === recentTime.ms) return recentTime.text;
  const rest = ms - recentDay.startMs;
  if (!(rest >= 0 && rest < DAY_MS)) {
    const text = new Date(ms).toISOString();
    recentDay = { text: text.slice(0, -TIME_LENGTH), startMs: Math.floor(ms / DAY_MS) * DAY_MS };
    return text;
  }
  const two = (value: number) => DIGITS[Math.floor(value)]!.slice(1);
  const seconds = rest / 1000;
  return `${recentDay.text}${two(seconds / 3600)}:${two(seconds / 60 % 60)}:${two(seconds % 60)}.${
    DIGITS[rest % 1000]
  }Z`;
}

/** `12:34:56.789Z` */
const TIME_LENGTH = 13;
const ZERO = 0x30;

/** Parses a time of the last formatted day, as `isoText` formats it; null for any other text. */
function readWithinDay(text: string): number | null {
  const at = recentDay.text.length;
  if (text === recentTime.text) return recentTime.ms;
  if (text.length !== at + TIME_LENGTH || !text.startsWith(recentDay.text)) return null;
  const digit = (place: number) => {
    const value = text.charCodeAt(at + place) - ZERO;
    return value >= 0 && value <= 9 ? value : NaN;
  };
  const hours = 10 * digit(0) + digit(1);
  const minutes = 10 * digit(3) + digit(4);
  const seconds = 10 * digit(6) + digit(7);
  const ms = 100 * digit(9) + 10 * digit(10) + digit(11);
  const isTime = hours < 24 && minutes < 60 && seconds < 60 && ms >= 0 && text[at + 2] === ":" &&
    text[at + 5] === ":" && text[at + 8] === "." && text[at + 12] === "Z";
  if (!isTime) return null;
  recentTime = {
    text,
    ms: recentDay.startMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms,
  };
  return recentTime.ms;
}

function withinRange(ms: number): number | null {
  return ms >= TIMESTAMP_MS_MIN && ms <= TIMESTAMP_MS_MAX ? ms : null;
}

/** Returns epoch milliseconds; NaN for a date or time that does not exist. */
function instantOf(parts: RegExpExecArray): number {
  const year = Number(parts[1]);
  const month = Number(parts[2]);
  const day = Number(parts[3]);
  const hour = Number(parts[4] ?? 0);
  const minute = Number(parts[5] ?? 0);
  const second = Number(parts[6] ?? 0);
  const fractionMs = Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0"));

  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return NaN;
  if (hour > 24 || minute > 59 || second > 60) return NaN;
  if (hour === 24 && (minute > 0 || second > 0 || /[1-9]/.test(parts[7] ?? ""))) return NaN;

  const [wholeSecond, ms] = second === 60 ? [59, 999] : [second, fractionMs];
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999, so all years are moved to the cycle of 2000.
  const cycles = Math.floor(year / CALENDAR_CYCLE_YEARS);
  const yearNearby = 2000 + year - cycles * CALENDAR_CYCLE_YEARS;
  const nearby = Date.UTC(yearNearby, month - 1, day, hour, minute, wholeSecond, ms);
  return nearby + (cycles - 5) * CALENDAR_CYCLE_MS - offsetMs(parts);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns how many milliseconds the written time is ahead of UTC. */
function offsetMs(parts: RegExpExecArray): number {
  if (parts[9] === undefined) return 0;
  const hours = Number(parts[10]);
  const minutes = Number(parts[11] ?? 0);
  if (hours > 23 || minutes > 59) return NaN;
  const ms = (hours * 60 + minutes) * 60_000;
  return parts[9] === "-" ? -ms : ms;
}

/**
 * Returns how many milliseconds to add to a client's times: the receive time minus `sentAt` if the client's
 * clock is more than five minutes off, else 0; also 0 if `sentAt` is absent or unreadable.
 */
export function clockOffset(sentAt: unknown, receivedAtMs: number): number {
  const sentAtMs = parseTimestamp(sentAt);
  if (sentAtMs === null) return 0;
  const offset = receivedAtMs - sentAtMs;
  return Math.abs(offset) <= CLOCK_SKEW_TOLERATED_MS ? 0 : offset;
}

/**
 * Returns when an event happened, and where that time comes from. Times are epoch milliseconds; `offsetMs` comes
 * from `clockOffset`. An event without a time, or with one more than 24 hours ahead even after the
 * correction, gets the time of its receipt. Old times are kept.
 */
export function correctClock(
  event: { timestampMs: number | null; offsetMs: number; receivedAtMs: number },
): { occurredAtMs: number; clock: Clock } {
  const { timestampMs, offsetMs, receivedAtMs } = event;
  if (timestampMs === null) return { occurredAtMs: receivedAtMs, clock: "received" };
  const occurredAtMs = Math.max(timestampMs + offsetMs, TIMESTAMP_MS_MIN);
  if (occurredAtMs > receivedAtMs + FUTURE_TOLERATED_MS) {
    return { occurredAtMs: receivedAtMs, clock: "clamped" };
  }
  return { occurredAtMs, clock: offsetMs === 0 ? "client" : "corrected" };
}
