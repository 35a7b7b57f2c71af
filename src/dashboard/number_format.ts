/** Formats figures in the browser's language; a missing one is a dash. */

import { nounOf } from "../number_words.ts";
import type { Interval } from "./location_query.ts";

/** Shown if there is no number. */
export const NOTHING = "–";

let locale = globalThis.navigator?.language || "en";
/** Formats, each made once: that takes far longer than formatting. */
let formats = new Map<string, unknown>();

/** Sets another language than the browser's, for tests. */
export function setLocale(wanted: string): void {
  locale = wanted;
  formats = new Map();
}

/** The language of numbers and dates. */
export function currentLocale(): string {
  return locale;
}

function made<Options, Format>(
  Kind: new (locale: string, options: Options) => Format,
  options: Options,
): Format {
  const key = JSON.stringify(options);
  const format = formats.get(key) as Format | undefined ?? new Kind(locale, options);
  formats.set(key, format);
  return format;
}

const numbers = (options: Intl.NumberFormatOptions) => made(Intl.NumberFormat, options);
/** A format of instants. */
export const dates = (options: Intl.DateTimeFormatOptions) => made(Intl.DateTimeFormat, options);
const REGIONS: Intl.DisplayNamesOptions = { type: "region" };

/** A count, with its digits grouped. */
export function integer(value: number | null | undefined): string {
  return value == null ? NOTHING : numbers({ maximumFractionDigits: 0 }).format(value);
}

/** A number with at most `digits` decimals, or as many as two significant digits take. */
export function decimal(value: number | null | undefined, digits = 1): string {
  if (value == null) return NOTHING;
  return numbers({
    maximumFractionDigits: digits,
    maximumSignificantDigits: 2,
    roundingPriority: "morePrecision",
  }).format(value);
}

/** A large number in few characters, as on an axis: 12K, 3.4M. */
export function compact(value: number | null | undefined): string {
  return value == null
    ? NOTHING
    : numbers({ notation: "compact", maximumFractionDigits: 1 }).format(value);
}

/** A fraction as a percentage: 0.256 is 25.6%. With at most `digits` decimals, and at least `least`. */
export function percent(
  fraction: number | null | undefined,
  digits = 1,
  least = digits,
): string {
  return fraction == null ? NOTHING : numbers({
    style: "percent",
    minimumFractionDigits: least,
    maximumFractionDigits: digits,
  }).format(fraction);
}

/** A change with its sign: +12%, −3.4%; large ones without decimals. */
export function change(fraction: number | null | undefined): string {
  if (fraction == null) return NOTHING;
  const digits = Math.abs(fraction) >= 0.1 ? 0 : 1;
  return numbers({
    style: "percent",
    maximumFractionDigits: digits,
    signDisplay: "exceptZero",
  }).format(fraction);
}

/** A change of a rate, in percentage points with its sign: +4.4 pts. */
export function points(difference: number | null | undefined): string {
  if (difference == null) return NOTHING;
  const told = numbers({
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
    signDisplay: "exceptZero",
  }).format(100 * difference);
  return `${told} pts`;
}

/** A count with its noun: 1 page view, 2 page views. `many`: the plural, unless it is `one` with an s. */
export function counted(count: number, one: string, many?: string): string {
  return `${integer(count)} ${nounOf(count, one, many)}`;
}

/** An amount of money; without a currency, a number. `digits`: more decimals than the currency has. */
export function money(
  amount: number | null | undefined,
  currency: string | null,
  digits?: number,
): string {
  if (amount == null) return NOTHING;
  const plain = decimal(amount, digits ?? 2);
  if (currency === null) return plain;
  const most = digits === undefined ? {} : { maximumFractionDigits: digits };
  try {
    return numbers({ style: "currency", currency, ...most }).format(amount);
  } catch {
    return `${plain} ${currency}`;
  }
}

/** A length of time in its two largest units: 42s, 3m 05s, 2h 10m, 4d 3h. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null) return NOTHING;
  if (seconds > 0 && seconds < 10) return `${decimal(seconds, 1)}s`;
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The date and time of an instant, in a time zone (null: the browser's). */
export function dateTime(instant: string | number, timezone: string | null = null): string {
  const options: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "short" };
  return dates(timezone === null ? options : { ...options, timeZone: timezone })
    .format(new Date(instant));
}

/** A local date such as 2026-01-31, in words. */
export function date(localDate: string): string {
  return dates({ dateStyle: "medium", timeZone: "UTC" }).format(new Date(`${localDate}T00:00Z`));
}

/** Two local dates as one span. */
export function dateSpan(from: string, to: string): string {
  const at = (localDate: string) => new Date(`${localDate}T00:00Z`);
  return dates({ dateStyle: "medium", timeZone: "UTC" }).formatRange(at(from), at(to));
}

const AXIS: Readonly<Record<Interval, Intl.DateTimeFormatOptions>> = {
  hour: { hour: "numeric" },
  day: { day: "numeric", month: "short" },
  week: { day: "numeric", month: "short" },
  month: { month: "short" },
};
const FULL: Readonly<Record<Interval, Intl.DateTimeFormatOptions>> = {
  hour: { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" },
  day: { weekday: "short", day: "numeric", month: "short", year: "numeric" },
  week: { day: "numeric", month: "short", year: "numeric" },
  month: { month: "long", year: "numeric" },
};

/**
 * A bucket by the local text that the API calls it. The text is taken for UTC, so that no time zone
 * of the browser shifts it and both hours of a clock change keep their name.
 */
export function bucketLabel(label: string, interval: Interval, style: "axis" | "full"): string {
  const padded = label.length === 7 ? `${label}-01T00:00` : label.replace(" ", "T");
  const at = new Date(`${padded.length === 10 ? `${padded}T00:00` : padded}Z`);
  if (Number.isNaN(at.getTime())) return label;
  const options = style === "axis" ? AXIS[interval] : FULL[interval];
  const text = dates({ ...options, timeZone: "UTC" }).format(at);
  return interval === "week" && style === "full" ? `Week of ${text}` : text;
}

/** A country's name by its two letters; the letters if it is unknown. */
export function countryName(code: string): string {
  try {
    return made(Intl.DisplayNames, REGIONS).of(code) ?? code;
  } catch {
    return code;
  }
}
