/** By weekday: the values of that weekday in each of the weeks before. */
type ByWeekday<T> = readonly (readonly T[])[];

/** How far apart two figures are, in standard errors, and how precisely the error is known. */
export interface Deviation {
  readonly t: number;
  readonly degreesOfFreedom: number;
}

/** How much more counts vary than if events were independent: variance = factor × mean. */
export interface Dispersion {
  readonly factor: number;
  readonly degreesOfFreedom: number;
}

/** A share: `hits` of `trials`. */
export interface Share {
  readonly hits: number;
  readonly trials: number;
}

const SERIES_TERMS_MAX = 1_000;

/** Sums terms, each at least a tenth smaller than the one before, to the precision of a double. */
function sumOf(term: (n: number) => number): number {
  let sum = 0;
  for (let n = 0; n < SERIES_TERMS_MAX; n++) {
    const next = term(n);
    sum += next;
    if (Math.abs(next) <= Number.EPSILON * Math.abs(sum) / 16) break;
  }
  return sum;
}

/** Returns 1 / B(df/2, 1/2), by the recursion Γ(x + 1) = x Γ(x). */
function betaFactor(degreesOfFreedom: number): number {
  const isOdd = degreesOfFreedom % 2 === 1;
  let factor = isOdd ? 1 / Math.PI : 1 / 2;
  for (let df = isOdd ? 1 : 2; df < degreesOfFreedom; df += 2) factor *= (df + 1) / df;
  return factor;
}

/**
 * Returns the probability that Student's t is at least as far from 0, on either side: the regularized
 * incomplete beta function I_x(df/2, 1/2) at x = df / (df + t²), by its power series (Abramowitz &
 * Stegun 26.5.4 and 26.7.1) from the end of x at which no digits cancel. Up to 100 degrees of freedom, the
 * relative error is below 1e-10, however small the probability. `degreesOfFreedom` is a whole number from 1.
 */
export function studentTwoSided({ t, degreesOfFreedom }: Deviation): number {
  const half = degreesOfFreedom / 2;
  const square = t * t;
  if (square === Infinity) return 0;
  const x = degreesOfFreedom / (degreesOfFreedom + square);
  const factor = betaFactor(degreesOfFreedom);
  // The n-th coefficient is (1 - b)(2 - b)…(n - b) / n!, for the exponents a and b of I_x(a, b).
  const series = (at: number, a: number, b: number) => {
    let power = 1;
    return factor * at ** a * sumOf((n) => {
      if (n > 0) power *= at * (n - b) / n;
      return power / (a + n);
    });
  };
  if (x < 0.9) return series(x, half, 0.5);
  return Math.min(1, Math.max(0, 1 - series(square / (degreesOfFreedom + square), 0.5, half)));
}

/**
 * Adjusts p-values as in Benjamini & Hochberg (1995), in the order given. Accepting those up to q keeps the
 * expected share of false discoveries at q.
 */
export function adjustedPValues(pValues: readonly number[]): number[] {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[b]! - pValues[a]!);
  const adjusted = new Array<number>(pValues.length);
  let least = 1;
  order.forEach((place, i) => {
    const rank = pValues.length - i;
    least = Math.min(least, pValues[place]! * pValues.length / rank);
    adjusted[place] = least;
  });
  return adjusted;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const mean = (values: readonly number[]): number => total(values) / values.length;

function dispersionOf(
  squares: number,
  residualDegrees: number,
  weekdays: ByWeekday<unknown>,
  floor: number,
): Dispersion {
  if (residualDegrees > 0) {
    return {
      factor: Math.max(floor, squares / residualDegrees),
      degreesOfFreedom: residualDegrees,
    };
  }
  // Without any counts, only the floor is known.
  const days = total(weekdays.map((weeks) => weeks.length - 1));
  return { factor: floor, degreesOfFreedom: Math.max(1, days) };
}

/**
 * Returns the quasi-Poisson dispersion of daily counts: Pearson's χ² about the mean of each weekday,
 * divided by its degrees of freedom (McCullagh & Nelder, Generalized Linear Models, 6.2.3).
 * @param floor the least dispersion: 1 for independent counts, else how many counts one visitor brings
 */
export function countDispersion(weekdays: ByWeekday<number>, floor: number): Dispersion {
  let squares = 0;
  let degrees = 0;
  for (const weeks of weekdays) {
    const expected = mean(weeks);
    if (weeks.length < 2 || expected === 0) continue;
    squares += total(weeks.map((count) => (count - expected) ** 2)) / expected;
    degrees += weeks.length - 1;
  }
  return dispersionOf(squares, degrees, weekdays, floor);
}

function pooled(shares: readonly Share[]): Share {
  return {
    hits: total(shares.map(({ hits }) => hits)),
    trials: total(shares.map(({ trials }) => trials)),
  };
}

/** Returns the quasi-binomial dispersion of daily shares, computed likewise; at least 1. */
export function shareDispersion(weekdays: ByWeekday<Share>): Dispersion {
  let squares = 0;
  let degrees = 0;
  for (const weeks of weekdays) {
    const days = weeks.filter(({ trials }) => trials > 0);
    const { hits, trials } = pooled(days);
    const share = hits / trials;
    if (days.length < 2 || hits === 0 || hits === trials) continue;
    const ofDay = (day: Share) =>
      (day.hits - day.trials * share) ** 2 / (day.trials * share * (1 - share));
    squares += total(days.map(ofDay));
    degrees += days.length - 1;
  }
  return dispersionOf(squares, degrees, weekdays, 1);
}

/** What some days are expected to have, by the same weekdays of the weeks before. */
interface Expectation<T> {
  readonly value: T;
  /** The variance of `value`, which is a mean, relative to that of a single period. */
  readonly uncertainty: number;
}

/**
 * Returns the sum, over the days of a period, of the mean of each day's weekday.
 * @param days by weekday: how many of these days the period has
 */
export function expectedCount(
  weekdays: ByWeekday<number>,
  days: readonly number[],
): Expectation<number> {
  let value = 0;
  let variance = 0;
  weekdays.forEach((weeks, w) => {
    value += days[w]! * mean(weeks);
    variance += days[w]! ** 2 * mean(weeks) / weeks.length;
  });
  if (value > 0) return { value, uncertainty: variance / value };
  // Without any counts, all weekdays are taken as equal.
  const spread = total(weekdays.map((weeks, w) => days[w]! ** 2 / weeks.length));
  return { value, uncertainty: spread / total(days) };
}

/** Returns the share that a period is expected to have, likewise. */
export function expectedShare(
  weekdays: ByWeekday<Share>,
  days: readonly number[],
): Expectation<Share> {
  const of = (figure: (share: Share) => number) =>
    expectedCount(weekdays.map((weeks) => weeks.map(figure)), days);
  const trials = of((share) => share.trials);
  const hits = of((share) => share.hits);
  return { value: { hits: hits.value, trials: trials.value }, uncertainty: trials.uncertainty };
}

/**
 * Compares a count with its expectation: the score test of two Poisson rates, its variance times the dispersion.
 * Its null hypothesis is one rate for both. The uncertainty is 1 for a single period before, and 1/4 for the
 * mean of four.
 */
export function countDeviation(
  count: number,
  { value, uncertainty }: Expectation<number>,
  { factor, degreesOfFreedom }: Dispersion,
): Deviation {
  const variance = factor * (value + uncertainty * count);
  return { t: variance === 0 ? 0 : (count - value) / Math.sqrt(variance), degreesOfFreedom };
}

/** Compares a share with that of the period before, which is as uncertain. */
export function shareChange(now: Share, before: Share, dispersion: Dispersion): Deviation {
  return shareDeviation(now, { value: before, uncertainty: 1 }, dispersion);
}

/** Compares a share with its expectation: the two-proportion test, its variance times the dispersion. */
export function shareDeviation(
  { hits, trials }: Share,
  { value, uncertainty }: Expectation<Share>,
  { factor, degreesOfFreedom }: Dispersion,
): Deviation {
  const nothing = { t: 0, degreesOfFreedom };
  if (trials === 0 || value.trials === 0) return nothing;
  const before = value.trials / uncertainty;
  const both = (hits + value.hits / uncertainty) / (trials + before);
  const variance = factor * both * (1 - both) * (1 / trials + 1 / before);
  if (variance <= 0) return nothing;
  return { t: (hits / trials - value.hits / value.trials) / Math.sqrt(variance), degreesOfFreedom };
}
