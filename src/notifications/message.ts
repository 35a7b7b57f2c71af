/** The content of a message, which is stored until it is sent, and then written as a mail or for a webhook. */

import { MESSAGE_TEXT_LENGTH_MAX } from "./notification_limits.ts";

export type Unit = "count" | "rate" | "seconds" | "milliseconds" | "amount";

/** One number. */
export interface Figure {
  readonly name: string;
  readonly value: number | null;
  readonly unit: Unit;
  /** ISO 4217, of an amount of money. */
  readonly currency?: string | null;
  /** (current − previous) / previous; null: there is nothing to compare with. */
  readonly change: number | null;
  /** current − previous: how rates change; null: there is nothing to compare with. */
  readonly points: number | null;
}

/** The top values by a count. */
export interface Ranking {
  readonly title: string;
  /** What is counted. */
  readonly counted: string;
  /** Names are text from events. */
  readonly rows: readonly { readonly name: string; readonly value: number }[];
}

/** A figure over time. */
export interface Chart {
  readonly title: string;
  readonly values: readonly number[];
  /** The labels of the first and the last value. */
  readonly first: string;
  readonly last: string;
}

/** The part of a message on one project. */
export interface Section {
  /** Public id. */
  readonly project: string;
  readonly name: string;
  /** Instants, the last one exclusive, and the zone of the days. */
  readonly range: { readonly from: string; readonly to: string; readonly timezone: string };
  /** The range in words. */
  readonly when: string;
  /** The most important fact, in a sentence with its number. */
  readonly lead: string;
  readonly figures: readonly Figure[];
  readonly chart: Chart | null;
  readonly rankings: readonly Ranking[];
  /** More sentences. */
  readonly findings: readonly string[];
  /** What the numbers mean. */
  readonly definition: string;
  /** Where the dashboard shows them. */
  readonly url: string;
}

export interface Message {
  /** recovery: an alert's condition has ended. */
  readonly kind: "digest" | "alert" | "recovery" | "test";
  readonly slug: string;
  readonly title: string;
  /** Contains the number. */
  readonly subject: string;
  /** Whether somebody requested it to test the delivery. */
  readonly isTest: boolean;
  readonly sections: readonly Section[];
}

/**
 * Returns text from events or users on one line, cut to a length, without control characters, which could
 * reverse or hide the text next to it.
 */
export function plainLine(text: string, lengthMax = MESSAGE_TEXT_LENGTH_MAX): string {
  const plain = text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const characters = [...plain];
  return characters.length > lengthMax ? `${characters.slice(0, lengthMax - 1).join("")}…` : plain;
}

const number = (value: number, digits = 0) =>
  value.toLocaleString("en-US", { maximumFractionDigits: digits });

/** Formats a number. `digits`: the most decimals; absent: as many as is usual for the unit. */
export function shownValue(
  value: number | null,
  unit: Unit,
  currency?: string | null,
  digits?: number,
): string {
  // A count of nothing is 0; it is null if it is not known of imported days.
  if (value === null) return unit === "count" ? "not known" : "none";
  if (currency != null) {
    const most = digits === undefined ? {} : { maximumFractionDigits: digits };
    return value.toLocaleString("en-US", { style: "currency", currency, ...most });
  }
  switch (unit) {
    case "rate":
      return `${number(100 * value, digits ?? 1)}%`;
    case "seconds": {
      // By the rounded value: 59.96 is a minute.
      if (Number(value.toFixed(digits ?? 1)) < 60) return `${number(value, digits ?? 1)} s`;
      const seconds = Number(value.toFixed(digits));
      return `${Math.floor(seconds / 60)} min ${number(seconds % 60, digits)} s`;
    }
    case "milliseconds":
      return value < 1000
        ? `${number(value, digits)} ms`
        : `${number(value / 1000, digits ?? 2)} s`;
    case "amount":
      return number(value, digits ?? 2);
    default:
      return number(value, digits);
  }
}

/** Formats a figure with its change, if it has one: `€12.50 (+12%)`. */
export function shownFigure(figure: Figure): string {
  const { value, unit, currency } = figure;
  const change = shownChange(figure);
  return `${shownValue(value, unit, currency)}${change === null ? "" : ` (${change})`}`;
}

/** Formats a change: `+12%`, for rates `+4.4 pts`; null: there is nothing to compare with. */
export function shownChange({ change, points, unit }: Figure): string | null {
  const isRate = unit === "rate";
  const amount = isRate ? points : change;
  if (amount === null) return null;
  const rounded = isRate ? Number((100 * amount).toFixed(1)) : Math.round(100 * amount);
  const sign = rounded > 0 ? "+" : rounded < 0 ? "−" : "±";
  return `${sign}${number(Math.abs(rounded), 1)}${isRate ? " pts" : "%"}`;
}

/** Describes a chart, for readers who do not see it. */
export function chartWords({ title, values, first, last }: Chart): string {
  if (values.length === 0) return `${title}: nothing to draw.`;
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  return `${title} from ${first} to ${last}: between ${number(lowest)} and ${number(highest)}, ` +
    `${number(values.at(-1)!)} at the end.`;
}

/** Returns a range in words: as dates if it consists of whole days, else with times of the zone. */
export function rangeWords(fromMs: number, toMs: number, timezone: string): string {
  const at = (ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
  const [from, to] = [at(fromMs), at(toMs)];
  const isMidnight = (zoned: Temporal.ZonedDateTime) => zoned.equals(zoned.startOfDay());
  if (isMidnight(from) && isMidnight(to)) {
    const last = to.toPlainDate().subtract({ days: 1 });
    const first = from.toPlainDate();
    const days = first.equals(last)
      ? dateWords(first)
      : `${dateWords(first)} to ${dateWords(last)}`;
    return `${days} (${timezone})`;
  }
  const moment = (zoned: Temporal.ZonedDateTime) =>
    `${dateWords(zoned.toPlainDate())}, ${
      zoned.toPlainTime().toString({ smallestUnit: "minute" })
    }`;
  return `${moment(from)} to ${moment(to)} (${timezone})`;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `9 March 2026` */
function dateWords({ day, month, year }: Temporal.PlainDate): string {
  return `${day} ${MONTHS[month - 1]} ${year}`;
}
