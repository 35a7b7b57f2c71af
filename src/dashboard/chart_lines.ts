import type { Bucket } from "./replies.ts";
import type { Interval } from "./location_query.ts";

/** One bucket of one line, as the API gives it. */
export interface ChartPoint {
  /** The bucket's local text. */
  readonly label: string;
  readonly complete: boolean;
  readonly value: number | null;
  /** Daily sums of another product are in it. */
  readonly isImported?: boolean;
}

export interface ChartLine {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  /** Drawn grey and dashed behind the others, point by point beside the first line. */
  readonly isComparison?: boolean;
}

/** A reply's buckets as points. What has not begun at `asOf` has no value: it is no zero either. */
export function pointsOf<T extends Bucket & { readonly imported?: true | undefined }>(
  buckets: readonly T[],
  value: (bucket: T) => number | null,
  asOf: string,
): ChartPoint[] {
  const nowMs = Date.parse(asOf);
  return buckets.map((bucket) => ({
    label: bucket.label,
    complete: bucket.complete,
    value: Date.parse(bucket.start) > nowMs ? null : value(bucket),
    ...bucket.imported === true ? { isImported: true } : {},
  }));
}

/** Fractions are told as percentages. */
export type ChartUnit = "count" | "fraction" | "seconds";

export interface SeriesChartProps {
  /** What the chart shows, read out. */
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly interval: Interval;
  /** How a value is told; the axis uses it too. */
  readonly format: (value: number | null) => string;
  /** What the values are, for an axis of round steps; without it the axis tells values by `format`. */
  readonly unit?: ChartUnit;
  readonly heightPx?: number;
  /** Its buckets are no times, as those of retention are: nothing was noted of them. */
  readonly isTimeless?: true;
}
