/// <reference lib="dom" />
import type { Site } from "./sites_reply.ts";

const WIDTH_PX = 140;
const HEIGHT_PX = 30;
const EDGE_PX = 2;

/** The course of a site's visitors, without numbers; the bucket that is not over is dashed. */
export function SiteCourse({ series }: Pick<Site, "series">) {
  const most = Math.max(1, ...series.map(({ visitors }) => visitors ?? 0));
  const step = (WIDTH_PX - 2 * EDGE_PX) / Math.max(1, series.length - 1);
  const points = series.map(({ visitors }, i) => {
    const y = HEIGHT_PX - EDGE_PX - (HEIGHT_PX - 2 * EDGE_PX) * (visitors ?? 0) / most;
    return `${(EDGE_PX + i * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const isOpen = series.at(-1)?.complete === false;
  const whole = isOpen ? points.slice(0, -1) : points;
  return (
    <svg
      class="sites-course"
      width={WIDTH_PX}
      height={HEIGHT_PX}
      viewBox={`0 0 ${WIDTH_PX} ${HEIGHT_PX}`}
      aria-hidden="true"
      focusable="false"
    >
      <polyline points={whole.join(" ")} />
      {isOpen && <polyline class="sites-course-open" points={points.slice(-2).join(" ")} />}
    </svg>
  );
}
