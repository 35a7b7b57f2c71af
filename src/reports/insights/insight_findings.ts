import {
  INSIGHT_CHANGE_MIN,
  INSIGHT_COUNT_CHANGE_MIN,
  INSIGHT_EXPLAINED_MIN,
  INSIGHT_FALSE_DISCOVERIES,
  INSIGHT_RATE_CHANGE_MIN,
} from "../../limits.ts";
import type { Goal } from "../saved/goal_definitions.ts";
import type { Calendar } from "./insight_calendar.ts";
import type { Candidate, Counts, Dimension } from "./insight_candidates.ts";
import {
  adjustedPValues,
  countDeviation,
  countDispersion,
  type Deviation,
  type Dispersion,
  expectedCount,
  expectedShare,
  type Share,
  shareChange,
  shareDeviation,
  shareDispersion,
  studentTwoSided,
} from "./insight_statistics.ts";
import { rate } from "../answer/report.ts";

/** In the order in which equal findings are told. */
export const METRICS = [
  "visitors",
  "sessions",
  "pageviews",
  "events",
  "bounceRate",
  "conversions",
] as const;

export type Metric = typeof METRICS[number];
type Kind = "total_change" | "value_change" | "new_value" | "vanished_value";

/** A metric with what it comes to in total, first, and for values of dimensions. */
export interface Measured {
  readonly metric: Metric;
  /** Only of conversions. */
  readonly goal: Goal | null;
  readonly candidates: readonly Candidate[];
}

/** What changed, by how much, and how sure that is. Of a rate all figures are fractions. */
export interface Finding {
  readonly kind: Kind;
  readonly metric: Metric;
  readonly goal: Goal | null;
  /** Null: the total. */
  readonly dimension: Dimension | null;
  readonly value: string | null;
  readonly current: number;
  readonly previous: number;
  /** (current − previous) / previous; null where previous is 0. */
  readonly change: number | null;
  readonly weekdays: {
    readonly current: number;
    readonly expected: number;
    readonly change: number | null;
  };
  /** Share of the total's change; null where the total did not change. */
  readonly contribution: number | null;
  /** Whether the value accounts for more of the total's change than its size would make it. */
  readonly explains: boolean;
  readonly pValue: number;
  readonly adjustedPValue: number;
  readonly score: number;
  /** How much its days vary beyond chance, and what comes together at least: what one visitor brings along. */
  readonly dispersion: Dispersion;
  readonly clusters: number;
  /** Of each day compared what it has beyond the mean of its weekdays; of bounceRate in bounces. */
  readonly excessOfDays: readonly number[];
}

/** Two figures of one thing, and the chance that they would lie as far apart by chance alone. */
interface Compared {
  readonly now: number;
  readonly before: number;
  readonly pValue: number;
}

interface Tested {
  readonly measured: Measured;
  readonly candidate: Candidate;
  readonly period: Compared;
  readonly weekdays: Compared;
  readonly dispersion: Dispersion;
  readonly clusters: number;
  /** The larger of both: both changes have to be. */
  readonly pValue: number;
}

const countOf = (metric: Metric) => (counts: Counts): number => {
  // Conversions are the actors of matching events.
  const member = metric === "conversions" || metric === "bounceRate" ? "visitors" : metric;
  return counts[member];
};
const bouncesOf = ({ bounces, sessions }: Counts): Share => ({ hits: bounces, trials: sessions });
const valueOf = ({ hits, trials }: Share): number => rate(hits, trials).value ?? 0;

/** Values of the days before, of each weekday those of all weeks. */
function byWeekday<T>(
  { daysBefore }: Candidate,
  { weekdays, days }: Calendar,
  of: (counts: Counts) => T,
): T[][] {
  return days.map((_, weekday) => daysBefore.filter((_, i) => weekdays[i] === weekday).map(of));
}

function compared(now: number, before: number, deviation: Deviation): Compared {
  return { now, before, pValue: studentTwoSided(deviation) };
}

/** Counts; null where they are too few to have changed much. */
function testCounts(candidate: Candidate, metric: Metric, calendar: Calendar) {
  const of = countOf(metric);
  const { current, previous, ofDays, daysBefore } = candidate;
  if (of(current) + of(previous) < INSIGHT_COUNT_CHANGE_MIN) return null;
  const sum = (figure: (counts: Counts) => number) =>
    [ofDays, ...daysBefore].reduce((total, counts) => total + figure(counts), 0);
  const clusters = sum((counts) => counts.visitors);
  const floor = Math.max(1, rate(sum(of), clusters).value ?? 1);
  const weeks = byWeekday(candidate, calendar, of);
  const dispersion = countDispersion(weeks, floor);
  const before = { value: of(previous), uncertainty: 1 };
  const expected = expectedCount(weeks, calendar.days);
  const ofPeriod = countDeviation(of(current), before, dispersion);
  const ofWeekdays = countDeviation(of(ofDays), expected, dispersion);
  return {
    period: compared(of(current), before.value, ofPeriod),
    weekdays: compared(of(ofDays), expected.value, ofWeekdays),
    dispersion,
    clusters: floor,
  };
}

/** Bounce rates; null where there is none to compare, or of too few sessions. */
function testBounces(candidate: Candidate, calendar: Calendar) {
  const [now, before, ofDays] = [candidate.current, candidate.previous, candidate.ofDays]
    .map(bouncesOf) as [Share, Share, Share];
  const weeks = byWeekday(candidate, calendar, bouncesOf);
  const expected = expectedShare(weeks, calendar.days);
  const trials = [now.trials, before.trials, ofDays.trials, expected.value.trials];
  if (Math.min(...trials) === 0 || now.trials + before.trials < INSIGHT_COUNT_CHANGE_MIN) {
    return null;
  }
  const dispersion = shareDispersion(weeks);
  const ofPeriod = shareChange(now, before, dispersion);
  const ofWeekdays = shareDeviation(ofDays, expected, dispersion);
  return {
    period: compared(valueOf(now), valueOf(before), ofPeriod),
    weekdays: compared(valueOf(ofDays), valueOf(expected.value), ofWeekdays),
    dispersion,
    clusters: 1,
  };
}

function testsOf(measured: Measured, calendar: Calendar): Tested[] {
  const { metric, candidates } = measured;
  return candidates.flatMap((candidate): Tested[] => {
    const tests = metric === "bounceRate"
      ? testBounces(candidate, calendar)
      : testCounts(candidate, metric, calendar);
    if (tests === null) return [];
    const pValue = Math.max(tests.period.pValue, tests.weekdays.pValue);
    return [{ measured, candidate, ...tests, pValue }];
  });
}

/** Large enough to be told, relatively and by itself; -1 down, 1 up, 0 no. */
function largeChange({ now, before }: Compared, least: number): number {
  const change = now - before;
  const isLarge = Math.abs(change) >= least && Math.abs(change) >= INSIGHT_CHANGE_MIN * before;
  return isLarge ? Math.sign(change) : 0;
}

function isLarge({ measured: { metric }, period, weekdays }: Tested): boolean {
  const least = metric === "bounceRate" ? INSIGHT_RATE_CHANGE_MIN : INSIGHT_COUNT_CHANGE_MIN;
  const direction = largeChange(period, least);
  return direction !== 0 && direction === largeChange(weekdays, least);
}

function kindOf({ candidate, measured: { metric }, period, weekdays }: Tested): Kind {
  if (candidate.dimension === null) return "total_change";
  if (metric === "bounceRate") return "value_change";
  if (period.before === 0 && weekdays.before === 0) return "new_value";
  return period.now === 0 ? "vanished_value" : "value_change";
}

/**
 * What a candidate puts into its total: for a count itself, for the bounce rate its bounces by all
 * sessions. Over the values of a dimension of sessions these add up to the total.
 */
function partOf(metric: Metric, counts: Counts, ofTotal: Counts): number {
  if (metric !== "bounceRate") return countOf(metric)(counts);
  return rate(counts.bounces, ofTotal.sessions).value ?? 0;
}

interface Weight {
  readonly contribution: number | null;
  readonly explains: boolean;
  readonly score: number;
}

/**
 * The score is the change as a fraction of the larger one of the total's two figures. A value that
 * has more of a found change of the total than its part of before would make it have, explains it
 * by (contribution − part) / (1 − part): 0 where it moved with all others, 1 where it alone moved.
 * From `INSIGHT_EXPLAINED_MIN` on it scores 1 + that times what the total scores, and so above it.
 */
function weigh(
  metric: Metric,
  candidate: Candidate,
  total: Candidate,
  totalIsFound: boolean,
): Weight {
  const now = partOf(metric, candidate.current, total.current);
  const before = partOf(metric, candidate.previous, total.previous);
  const totalNow = partOf(metric, total.current, total.current);
  const totalBefore = partOf(metric, total.previous, total.previous);
  const largest = Math.max(totalNow, totalBefore);
  const score = Math.abs(now - before) / largest;
  const contribution = rate(now - before, totalNow - totalBefore).value;
  if (candidate.dimension === null || contribution === null || !totalIsFound) {
    return { contribution, explains: false, score };
  }
  const part = rate(before, totalBefore).value ?? 0;
  const explained = part >= 1 ? 0 : Math.min(1, (contribution - part) / (1 - part));
  if (explained < INSIGHT_EXPLAINED_MIN) return { contribution, explains: false, score };
  const scoreOfTotal = Math.abs(totalNow - totalBefore) / largest;
  return { contribution, explains: true, score: (1 + explained) * scoreOfTotal };
}

const changeOf = ({ now, before }: Compared): number | null => rate(now - before, before).value;

/** What each day of the range has beyond the mean of its weekdays in the weeks before. */
function excessOfDays(candidate: Candidate, metric: Metric, calendar: Calendar): number[] {
  const { days, daysBefore } = candidate;
  const before = calendar.rangeWeekdays.map((weekday) =>
    daysBefore.filter((_, i) => calendar.weekdays[i] === weekday)
  );
  return days.map((day, i) => {
    if (metric !== "bounceRate") {
      const of = countOf(metric);
      return of(day) - before[i]!.reduce((sum, counts) => sum + of(counts), 0) / before[i]!.length;
    }
    const sessions = before[i]!.reduce((sum, counts) => sum + counts.sessions, 0);
    const bounces = before[i]!.reduce((sum, counts) => sum + counts.bounces, 0);
    return day.bounces - day.sessions * (rate(bounces, sessions).value ?? 0);
  });
}

function findingOf(
  tested: Tested,
  adjustedPValue: number,
  totalIsFound: boolean,
  calendar: Calendar,
): Finding {
  const { measured, candidate, period, weekdays, dispersion, clusters, pValue } = tested;
  const { metric, goal, candidates } = measured;
  return {
    kind: kindOf(tested),
    metric,
    goal,
    dimension: candidate.dimension,
    value: candidate.value,
    current: period.now,
    previous: period.before,
    change: changeOf(period),
    weekdays: { current: weekdays.now, expected: weekdays.before, change: changeOf(weekdays) },
    ...weigh(metric, candidate, candidates[0]!, totalIsFound),
    pValue,
    adjustedPValue,
    dispersion,
    clusters,
    excessOfDays: excessOfDays(candidate, metric, calendar),
  };
}

/**
 * The changes that are large against both comparisons, in the same direction, and unlikely to be
 * chance: `INSIGHT_FALSE_DISCOVERIES` of them are expected to be, over all that were tested. Sorted
 * by score; equal ones by metric, total before values, dimension and size, as they were given.
 */
export function findChanges(
  measured: readonly Measured[],
  calendar: Calendar,
): { findings: Finding[]; tested: number } {
  const tested = measured.flatMap((one) => testsOf(one, calendar));
  const adjusted = adjustedPValues(tested.map(({ pValue }) => pValue));
  const found = tested.map((one, i) => ({ one, adjusted: adjusted[i]! }))
    .filter(({ one, adjusted }) => adjusted <= INSIGHT_FALSE_DISCOVERIES && isLarge(one));
  const totals = new Set(
    found.filter(({ one }) => one.candidate.dimension === null)
      .map(({ one }) => one.measured),
  );
  const findings = found.map(({ one, adjusted }) =>
    findingOf(one, adjusted, totals.has(one.measured), calendar)
  );
  return { findings: findings.toSorted((a, b) => b.score - a.score), tested: tested.length };
}
