import assert from "node:assert/strict";
import type { Calendar } from "../../../src/reports/insights/insight_calendar.ts";
import type {
  Candidate,
  Counts,
  Dimension,
} from "../../../src/reports/insights/insight_candidates.ts";
import {
  findChanges,
  type MeasuredMetric,
} from "../../../src/reports/insights/insight_findings.ts";
import { studentTwoSided } from "../../../src/reports/insights/insight_statistics.ts";
import { type Dice, diceOf, poisson } from "./insight_world.ts";

/** Daily counts that vary more than chance makes them: a day's own level, and visits in clusters. */
function simulated(dice: Dice, days: readonly number[], candidates: number): MeasuredMetric {
  const empty = { pageviews: 0, events: 0, sessions: 0, bounces: 0 };
  const candidate = (dimension: Dimension | null, mean: number): Candidate => {
    const day = () => {
      const level = 0.5 + dice();
      return { ...empty, visitors: poisson(dice, mean * level) };
    };
    const daysOf = (n: number) => Array.from({ length: n }, day);
    const together = (counts: Counts[]): Counts => ({
      ...empty,
      visitors: counts.reduce((sum, { visitors }) => sum + visitors, 0),
    });
    const n = days.reduce((sum, more) => sum + more);
    const daysBefore = daysOf(28);
    const current = together(daysOf(n));
    // The period just before is the last of the days before.
    const previous = together(daysBefore.slice(7 - n, 7));
    return { dimension, value: "v", current, previous, ofDays: current, days: [], daysBefore };
  };
  const values = Array.from({ length: candidates }, () => candidate("source", 1 + dice() * 60));
  return { metric: "visitors", goal: null, candidates: [candidate(null, 500), ...values] };
}

Deno.test("findings: in 400 simulated histories of overdispersed noise", () => {
  const weekdays = Array.from({ length: 28 }, (_, i) => i % 7);
  let found = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const days = seed % 2 === 0 ? [1, 1, 1, 1, 1, 1, 1] : [0, 0, 1, 1, 1, 0, 0];
    const calendar = { weekdays, days, weeks: 4, rangeWeekdays: [] } as unknown as Calendar;
    const { findings } = findChanges([simulated(diceOf(seed), days, 200)], calendar);
    found += findings.length > 0 ? 1 : 0;
  }
  assert.ok(found <= 20, `${found} of 400`);
});

const WEEKDAYS = Array.from({ length: 28 }, (_, i) => i % 7);
const A_WEEK = {
  weekdays: WEEKDAYS,
  days: [1, 1, 1, 1, 1, 1, 1],
  weeks: 4,
  rangeWeekdays: [],
} as unknown as Calendar;

/** As many of each day before, and of each day of the last week. */
function steps(dimension: Dimension | null, before: Partial<Counts>, now: Partial<Counts>) {
  const of = (counts: Partial<Counts>, days: number): Counts => ({
    visitors: (counts.visitors ?? 0) * days,
    pageviews: 0,
    events: 0,
    sessions: (counts.sessions ?? 0) * days,
    bounces: (counts.bounces ?? 0) * days,
  });
  const candidate: Candidate = {
    dimension,
    value: dimension,
    current: of(now, 7),
    previous: of(before, 7),
    ofDays: of(now, 7),
    days: [],
    daysBefore: WEEKDAYS.map(() => of(before, 1)),
  };
  return candidate;
}

Deno.test("findings: scores and contributions, by hand", () => {
  const candidates = [
    steps(null, { visitors: 100 }, { visitors: 140 }),
    steps("country", { visitors: 40 }, { visitors: 56 }),
    steps("source", { visitors: 10 }, { visitors: 50 }),
    steps("channel", { visitors: 90 }, { visitors: 90 }),
    steps("device", { visitors: 0.5 }, { visitors: 0 }),
  ];
  const measured: MeasuredMetric = { metric: "visitors", goal: null, candidates };
  const { findings, tested } = findChanges([measured], A_WEEK);
  // 3.5 visitors of a device a week are too few to have changed by 10.
  assert.equal(tested, 4);
  const close = (actual: number | null, expected: number) =>
    assert.ok(Math.abs(actual! - expected) < 1e-12, `${actual}, not ${expected}`);
  assert.deepEqual(findings.map(({ dimension }) => dimension), ["source", null, "country"]);
  const [source, total, country] = findings;
  // 280 of 980; the source alone moved, and the country with all others.
  close(source!.score, 2 * 280 / 980);
  close(total!.score, 280 / 980);
  close(country!.score, 112 / 980);
  assert.deepEqual(findings.map(({ contribution }) => contribution), [1, 1, 112 / 280]);
  assert.deepEqual(findings.map(({ explains }) => explains), [true, false, false]);
  assert.deepEqual([country!.current, country!.previous, country!.change], [392, 280, 0.4]);
  assert.deepEqual(country!.weekdays, { current: 392, expected: 280, change: 0.4 });
});

Deno.test("findings: the less certain of the two comparisons counts", () => {
  const pValueOf = (before: number, previous: number) => {
    const total = steps(null, { visitors: before }, { visitors: 140 });
    const candidate = { ...total, previous: { ...total.previous, visitors: previous } };
    const measured: MeasuredMetric = { metric: "visitors", goal: null, candidates: [candidate] };
    return findChanges([measured], A_WEEK).findings[0]?.pValue;
  };
  const degreesOfFreedom = 21;
  // 980 against 700 before, and against 770 by weekdays; against 770 before, and 490 by weekdays.
  const byWeekdays = studentTwoSided({ t: 210 / Math.sqrt(770 + 980 / 4), degreesOfFreedom });
  const byPeriod = studentTwoSided({ t: 210 / Math.sqrt(770 + 980), degreesOfFreedom });
  assert.equal(pValueOf(110, 700), byWeekdays);
  assert.equal(pValueOf(70, 770), byPeriod);
  // Large against one of them only, or the other way.
  assert.equal(pValueOf(120, 700), undefined);
  assert.equal(pValueOf(100, 840), undefined);
  assert.equal(pValueOf(200, 700), undefined);
});

Deno.test("findings: a bounce rate contributes by its sessions", () => {
  const candidates = [
    steps(null, { sessions: 100, bounces: 40 }, { sessions: 100, bounces: 60 }),
    steps("device", { sessions: 50, bounces: 20 }, { sessions: 50, bounces: 40 }),
    // Four points are no large change of a rate, however sure.
    steps("browser", { sessions: 4000, bounces: 400 }, { sessions: 4000, bounces: 560 }),
  ];
  const measured: MeasuredMetric = { metric: "bounceRate", goal: null, candidates };
  const { findings, tested } = findChanges([measured], A_WEEK);
  assert.equal(tested, 3);
  assert.deepEqual(findings.map(({ dimension }) => dimension), ["device", null]);
  const [device, total] = findings;
  assert.deepEqual([device!.current, device!.previous], [0.8, 0.4]);
  assert.equal(device!.kind, "value_change");
  const share = device!.contribution!;
  assert.ok(Math.abs(share - 1) < 1e-12, `${share}`);
  assert.deepEqual([total!.current, total!.previous], [0.6, 0.4]);
});
