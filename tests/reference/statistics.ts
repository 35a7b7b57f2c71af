export interface Rate {
  readonly value: number | null;
  readonly numerator: number;
  readonly denominator: number;
}

export function rate(numerator: number, denominator: number): Rate {
  return { value: ratio(numerator, denominator), numerator, denominator };
}

/** Null where there is nothing to divide by. */
export function ratio(numerator: number, denominator: number): number | null {
  return denominator === 0 ? null : numerator / denominator;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export function mean(values: readonly number[]): number | null {
  return ratio(sum(values), values.length);
}

/** Linear between the two nearest ranks, as SQL's `percentile_cont`; null of nothing. */
export function percentile(values: readonly number[], fraction: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const rank = fraction * (sorted.length - 1);
  const low = sorted[Math.floor(rank)]!;
  const high = sorted[Math.ceil(rank)]!;
  return low + (high - low) * (rank - Math.floor(rank));
}

export function median(values: readonly number[]): number | null {
  return percentile(values, 0.5);
}

/** As a fraction of the previous value; null on a zero base and where either is missing. */
export function relativeChange(current: number | null, previous: number | null): number | null {
  return current === null || previous === null ? null : ratio(current - previous, previous);
}
