import type { Dates } from "../location_query.ts";
import {
  comparison,
  currentDates,
  type Params,
  sharedParams,
  viewParam,
} from "../location_state.ts";
import type { NumberOf } from "../behind_words.ts";
import { type EventMatch, matchBody } from "../match_editor.tsx";
import { readMatch, textOfMatch } from "./trends_match.ts";

export type Every = "day" | "week" | "month";
export type Cohort = "first" | "recurring";
export type Criterion = "on" | "on_or_after";

/** The question to retention, as the address has it. */
export interface Question {
  readonly start: EventMatch;
  readonly back: EventMatch;
  readonly cohort: Cohort;
  readonly criterion: Criterion;
  readonly every: Every;
  /** Cells of a cohort, the first one included. */
  readonly periods: number;
}

export const PERIODS_MAX = 60;
const PERIODS_LEAST = 5;
/** The most columns by default: more have to be scrolled to. */
const PERIODS_AUTOMATIC_MAX = 12;
const DAY_MS = 86_400_000;
/** Longer ranges are cut into weeks, or months, by default. */
const DAYS_BY_DAY_MAX = 14;
const DAYS_BY_WEEK_MAX = 120;

const daysOf = ({ from, to }: Dates): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

/** The length of a period that suits the range. */
export function automaticEvery(dates: Dates): Every {
  const days = daysOf(dates);
  if (days <= DAYS_BY_DAY_MAX) return "day";
  return days <= DAYS_BY_WEEK_MAX ? "week" : "month";
}

/** Periods that the range touches: weeks begin on Monday. */
function periodsIn({ from, to }: Dates, every: Every): number {
  if (every === "day") return daysOf({ from, to });
  if (every === "week") {
    // Day 0 of the epoch was a Thursday.
    const weekOf = (date: string) => Math.floor((Date.parse(date) / DAY_MS + 3) / 7);
    return weekOf(to) - weekOf(from) + 1;
  }
  const monthOf = (date: string) => 12 * Number(date.slice(0, 4)) + Number(date.slice(5, 7));
  return monthOf(to) - monthOf(from) + 1;
}

/** As many cells as the range has periods, within what is readable. */
export function automaticPeriods(dates: Dates, every: Every): number {
  return Math.max(PERIODS_LEAST, Math.min(PERIODS_AUTOMATIC_MAX, periodsIn(dates, every)));
}

/** A whole number of periods that can be asked for, or null. */
export function readPeriods(text: string | null): number | null {
  if (text === null || !/^\d{1,2}$/.test(text)) return null;
  const periods = Number(text);
  return periods >= 1 && periods <= PERIODS_MAX ? periods : null;
}

/** What the address asks, with defaults for what it leaves out. */
export function readQuestion(): Question {
  const dates = currentDates();
  const written = viewParam("every");
  const every = written === "day" || written === "week" || written === "month"
    ? written
    : automaticEvery(dates);
  return {
    start: readMatch(viewParam("start")),
    back: readMatch(viewParam("return")),
    cohort: viewParam("cohort") === "recurring" ? "recurring" : "first",
    criterion: viewParam("criterion") === "on_or_after" ? "on_or_after" : "on",
    every,
    periods: readPeriods(viewParam("periods")) ?? automaticPeriods(dates, every),
  };
}

/** The question as parameters of `GET /v1/retention`. */
export function retentionParams(
  { start, back, cohort, criterion, every, periods }: Question,
): Params {
  return {
    ...sharedParams(),
    ...comparison(),
    start: textOfMatch(matchBody(start)),
    return: textOfMatch(matchBody(back)),
    cohort,
    criterion,
    interval: every,
    periods,
  };
}

/** The number of a cell, or without a period of a whole cohort, as the lists of people take it. */
export function numberOfCell(
  { start, back, cohort, criterion, every, periods }: Question,
  cohortStart: string,
  period?: number,
): NumberOf {
  const place = { cohort: cohortStart, ...period === undefined ? {} : { period } };
  const [from, to] = [textOfMatch(matchBody(start)), textOfMatch(matchBody(back))];
  return {
    read: "retention",
    ...from === null ? {} : { start: from },
    ...to === null ? {} : { return: to },
    cohort,
    criterion,
    periods,
    interval: every,
    place,
  };
}
