/// <reference lib="dom" />
import type { GoalPoint } from "./goals_reading.ts";

const WIDTH_PX = 120;
const HEIGHT_PX = 28;
const EDGE_PX = 2;

/** The course of a goal, without numbers: those are in its details. */
export function Sparkline({ series }: { series: readonly GoalPoint[] }) {
  // Of so few that a share tells of none there is nothing to draw but the ground.
  const people = series.map(({ uniqueConversions }) => uniqueConversions ?? 0);
  const most = Math.max(1, ...people);
  const step = (WIDTH_PX - 2 * EDGE_PX) / Math.max(1, series.length - 1);
  const points = people.map((count, i) => {
    const y = HEIGHT_PX - EDGE_PX - (HEIGHT_PX - 2 * EDGE_PX) * count / most;
    return `${(EDGE_PX + i * step).toFixed(1)},${y.toFixed(1)}`;
  });
  // An unfinished period would look like a fall.
  const whole = series.at(-1)?.complete === false ? points.slice(0, -1) : points;
  const open = whole.length < points.length ? points.slice(-2) : [];
  return (
    <svg
      class="goals-sparkline"
      width={WIDTH_PX}
      height={HEIGHT_PX}
      viewBox={`0 0 ${WIDTH_PX} ${HEIGHT_PX}`}
      aria-hidden="true"
      focusable="false"
    >
      <polyline points={whole.join(" ")} />
      <polyline class="goals-sparkline-open" points={open.join(" ")} />
    </svg>
  );
}
