/// <reference lib="dom" />
import { effectiveInterval } from "../location_state.ts";
import { useNear } from "../near_window.ts";
import type { Kpis, KpisReply } from "../replies.ts";
import { useRead } from "../resource.ts";
import { readAddress } from "./insights_destination.ts";
import { FIGURES } from "./overview_figures.ts";

const WIDTH_PX = 180;
const HEIGHT_PX = 44;
const EDGE_PX = 3;

/** Of a metric that is no key figure, such as conversions: the visitors. */
function valueOf(metric: string, kpis: Kpis): number {
  return (FIGURES.find(({ id }) => id === metric) ?? FIGURES[0]!).of(kpis) ?? 0;
}

function Drawing({ before, now }: { before: readonly number[]; now: readonly number[] }) {
  const all = [...before, ...now];
  const most = Math.max(...all, 0) || 1;
  const step = (WIDTH_PX - 2 * EDGE_PX) / Math.max(1, all.length - 1);
  const place = (value: number, i: number) => {
    const y = HEIGHT_PX - EDGE_PX - (HEIGHT_PX - 2 * EDGE_PX) * value / most;
    return `${(EDGE_PX + i * step).toFixed(1)},${y.toFixed(1)}`;
  };
  const places = all.map(place);
  // The lines meet, so that the change itself is seen.
  const ofNow = places.slice(Math.max(0, before.length - 1));
  const edge = EDGE_PX + Math.max(0, before.length - 0.5) * step;
  return (
    <>
      <line class="insights-spark-edge" x1={edge} x2={edge} y1="0" y2={HEIGHT_PX} />
      <polyline class="insights-spark-now" points={ofNow.join(" ")} />
      <polyline class="insights-spark-before" points={places.slice(0, before.length).join(" ")} />
    </>
  );
}

/** The metric over both periods, grey before and coloured in the range. The sentence says the same. */
export function Spark({ drilldown, metric }: { drilldown: string; metric: string }) {
  const { element, isNear } = useNear<SVGSVGElement>();
  const { path, params } = readAddress(drilldown);
  const isReadable = isNear && path === "/v1/kpis";
  const { data } = useRead<KpisReply>(isReadable ? path : null, {
    ...params,
    interval: params.interval ?? effectiveInterval(),
  });
  const of = (series: KpisReply["series"]) =>
    series.filter(({ complete }) => complete).map((each) => valueOf(metric, each));
  const before = data?.previous === undefined ? [] : of(data.previous.series);
  return (
    <svg
      ref={element}
      class="insights-spark"
      viewBox={`0 0 ${WIDTH_PX} ${HEIGHT_PX}`}
      width={WIDTH_PX}
      height={HEIGHT_PX}
      aria-hidden="true"
      focusable="false"
    >
      {data && <Drawing before={before} now={of(data.series)} />}
    </svg>
  );
}
