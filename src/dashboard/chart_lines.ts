import type { Bucket } from "./replies.ts";
import type { Interval } from "./location_query.ts";

/** One bucket of one line, as the API gives it. */
export interface ChartPoint {
  /** The bucket's local text. */
  readonly label: string;
  readonly complete: boolean;
  readonly value: number | null;
  /** It includes daily sums imported from another product. */
  readonly isImported?: boolean;
}

export interface ChartLine {
  readonly name: string;
  readonly points: readonly ChartPoint[];
  /** Drawn grey and dashed behind the others, point by point beside the first line. */
  readonly isComparison?: boolean;
}

/** A reply's buckets as points. Buckets that begin after `asOf` have no value, rather than 0. */
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

/** Fractions are shown as percentages. */
export type ChartUnit = "count" | "fraction" | "seconds";

export interface SeriesChartProps {
  /** What the chart shows, for screen readers. */
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly interval: Interval;
  /** Formats a value; also used by the axis unless `unit` is given. */
  readonly format: (value: number | null) => string;
  /** What the values are, so that the axis has round steps. */
  readonly unit?: ChartUnit;
  readonly heightPx?: number;
  /** Its buckets are not times, as in retention: it has no notes. */
  readonly isTimeless?: true;
}
