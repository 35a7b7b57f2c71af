/// <reference lib="dom" />

const EDGE_PX = 2;

export interface SparklineProps {
  readonly counts: readonly number[];
  /** The last one is of a period that is not over: it would look like a fall, and is dashed. */
  readonly isOpen: boolean;
  readonly widthPx: number;
  readonly heightPx: number;
}

/** The course of some counts, without numbers: those stand beside it. */
export function Sparkline({ counts, isOpen, widthPx, heightPx }: SparklineProps) {
  const most = Math.max(1, ...counts);
  const step = (widthPx - 2 * EDGE_PX) / Math.max(1, counts.length - 1);
  const points = counts.map((count, i) => {
    const y = heightPx - EDGE_PX - (heightPx - 2 * EDGE_PX) * count / most;
    return `${(EDGE_PX + i * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const whole = isOpen ? points.slice(0, -1) : points;
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
      {isOpen && <polyline class="sparkline-open" points={points.slice(-2).join(" ")} />}
    </svg>
  );
}
