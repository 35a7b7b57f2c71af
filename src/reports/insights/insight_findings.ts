import {
  INSIGHT_CHANGE_MIN,
  INSIGHT_COUNT_CHANGE_MIN,
  INSIGHT_EXPLAINED_MIN,
  INSIGHT_FALSE_DISCOVERIES,
  INSIGHT_RATE_CHANGE_MIN,
} from "../../limits.ts";
import type { Goal } from "../saved/goal_definitions.ts";
import type { Calendar } from "./insight_calendar.ts";
import { type Candidate, type Counts, figureOf, type Slice } from "./insight_candidates.ts";
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

/** Equal findings are shown in this order. */
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

/** A metric with its candidates. */
export interface MeasuredMetric {
  readonly metric: Metric;
  /** Null: the metric is not conversions. */
  readonly goal: Goal | null;
  /** The total, then values of dimensions. */
  readonly candidates: readonly Candidate[];
}

/** What changed, by how much, and how sure that is. Figures of a rate are fractions. */
export interface Finding extends Slice {
  readonly kind: Kind;
  readonly metric: Metric;
  readonly goal: Goal | null;
  readonly current: number;
  readonly previous: number;
  /** (current − previous) / previous; null if previous is 0. */
  readonly change: number | null;
  readonly weekdays: {
    readonly current: number;
    readonly expected: number;
    readonly change: number | null;
  };
  readonly pValue: number;
  readonly adjustedPValue: number;
  /** How much more its days vary than independent events would. */
  readonly dispersion: Dispersion;
  /** How many counts one visitor brings on average, at least 1: these do not vary independently. */
  readonly clusters: number;
  /** Share of the total's change; null: the total did not change. */
  readonly contribution: number | null;
  /** Whether the value accounts for more of the total's change than its size does. */
  readonly explains: boolean;
  readonly score: number;
  /** How far each compared day is above the mean of its weekday; for bounceRate, in bounces. */
  readonly excessOfDays: readonly number[];
}

const countOf = (metric: Metric) => (counts: Counts): number => counts[figureOf(metric)];
const bouncesOf = ({ bounces, sessions }: Counts): Share => ({ hits: bounces, trials: sessions });
const valueOf = ({ hits, trials }: Share): number => rate(hits, trials).value ?? 0;

/** Returns, by weekday, the values of the days before. */
function byWeekday<T>(
  { daysBefore }: Candidate,
  { weekdays, days }: Calendar,
  of: (counts: Counts) => T,
): T[][] {
  return days.map((_, weekday) => daysBefore.filter((_, i) => weekdays[i] === weekday).map(of));
}

/** Returns a figure now and before, and the probability that they differ so much by chance alone. */
function compared(now: number, before: number, deviation: Deviation) {
  return { now, before, pValue: studentTwoSided(deviation) };
}

type Compared = ReturnType<typeof compared>;

/** Tests counts; null: they are too few for a change to be large. */
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

/** Tests bounce rates; null: one is missing, or there are too few sessions. */
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

function testsOf(measured: MeasuredMetric, calendar: Calendar) {
  const { metric, candidates } = measured;
  return candidates.flatMap((candidate) => {
    const tests = metric === "bounceRate"
      ? testBounces(candidate, calendar)
      : testCounts(candidate, metric, calendar);
    if (tests === null) return [];
    // The larger one: both changes must be unlikely.
    const pValue = Math.max(tests.period.pValue, tests.weekdays.pValue);
    return [{ measured, candidate, ...tests, pValue }];
  });
}

type Tested = ReturnType<typeof testsOf>[number];

/** Returns the direction of a change, 1 or -1; 0: it is too small, absolutely or relatively. */
function directionOf({ now, before }: Compared, least: number): number {
  const change = now - before;
  const isLarge = Math.abs(change) >= least && Math.abs(change) >= INSIGHT_CHANGE_MIN * before;
  return isLarge ? Math.sign(change) : 0;
}

function isLarge({ measured: { metric }, period, weekdays }: Tested): boolean {
  const least = metric === "bounceRate" ? INSIGHT_RATE_CHANGE_MIN : INSIGHT_COUNT_CHANGE_MIN;
  const direction = directionOf(period, least);
  return direction !== 0 && direction === directionOf(weekdays, least);
}

function kindOf({ candidate, measured: { metric }, period, weekdays }: Tested): Kind {
  if (candidate.dimension === null) return "total_change";
  if (metric === "bounceRate") return "value_change";
  if (period.before === 0 && weekdays.before === 0) return "new_value";
  return period.now === 0 ? "vanished_value" : "value_change";
}

/**
 * Returns what a candidate contributes to its total: for a count, the count; for the bounce rate, its bounces
 * divided by the total's sessions. The parts of a session dimension's values add up to the total.
 */
function partOf(metric: Metric, counts: Counts, ofTotal: Counts): number {
  if (metric !== "bounceRate") return countOf(metric)(counts);
  return rate(counts.bounces, ofTotal.sessions).value ?? 0;
}

/**
 * Scores a candidate: its change as a fraction of the larger of the total's two figures. A value whose
 * contribution to the total's change exceeds its part of the total before explains the change by
 * (contribution − part) / (1 − part): 0 if it moved as all others did, 1 if only it moved. From
 * `INSIGHT_EXPLAINED_MIN` on, its score is (1 + that) times the total's, so that it ranks above the total.
 */
function weigh(
  metric: Metric,
  candidate: Candidate,
  total: Candidate,
  totalIsFound: boolean,
): Pick<Finding, "contribution" | "explains" | "score"> {
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

/** Returns how far each day of the range is above the mean of its weekday in the weeks before. */
function excessOfDays(candidate: Candidate, metric: Metric, calendar: Calendar): number[] {
  const weeks = byWeekday(candidate, calendar, (counts) => counts);
  return candidate.days.map((day, i) => {
    const before = weeks[calendar.rangeWeekdays[i]!]!;
    const sum = (figure: keyof Counts) => before.reduce((all, counts) => all + counts[figure], 0);
    if (metric === "bounceRate") {
      return day.bounces - day.sessions * (rate(sum("bounces"), sum("sessions")).value ?? 0);
    }
    const figure = figureOf(metric);
    return day[figure] - sum(figure) / before.length;
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
 * Finds the changes that are large in both comparisons, in the same direction, and unlikely to be
 * chance: at most a share of `INSIGHT_FALSE_DISCOVERIES` of the findings is expected to be chance. They are
 * sorted by score; ties keep the order given: by metric, the total first, then by dimension and size.
 */
export function findChanges(
  measured: readonly MeasuredMetric[],
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
