/// <reference lib="dom" />
import type { ChartPoint } from "./chart_lines.ts";

const EDGE_PX = 2;

export interface SparklineProps {
  /** Buckets that have not begun have no value. */
  readonly points: readonly Pick<ChartPoint, "value" | "complete">[];
  readonly widthPx: number;
  readonly heightPx: number;
}

/** A small chart of counts without numbers, which are beside it. */
export function Sparkline({ points, widthPx, heightPx }: SparklineProps) {
  const counts = points.flatMap(({ value }) => value === null ? [] : [value]);
  // An unfinished bucket would look like a fall, so it is dashed.
  const isOpen = points[counts.length - 1]?.complete === false;
  const most = Math.max(1, ...counts);
  const step = (widthPx - 2 * EDGE_PX) / Math.max(1, points.length - 1);
  const places = counts.map((count, i) => {
    const y = heightPx - EDGE_PX - (heightPx - 2 * EDGE_PX) * count / most;
    return `${(EDGE_PX + i * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const whole = isOpen ? places.slice(0, -1) : places;
  return (
    <svg
      class="sparkline"
      width={widthPx}
      height={heightPx}
      viewBox={`0 0 ${widthPx} ${heightPx}`}
      aria-hidden="true"
      focusable="false"
    >
      <polyline points={whole.join(" ")} />
      {isOpen && <polyline class="sparkline-open" points={places.slice(-2).join(" ")} />}
    </svg>
  );
}
