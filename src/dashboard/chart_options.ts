/// <reference lib="dom" />
import type uPlot from "uplot";
import type { ChartLine, ChartPoint, ChartUnit, SeriesChartProps } from "./chart_lines.ts";
import { bucketLabel, compact, duration, percent } from "./number_format.ts";

const AXIS_FONT = "12px system-ui, sans-serif";
const X_LABEL_PX = 72;
const Y_LABEL_PX = 44;
/** Room for half of the last label. */
const RIGHT_PX = 22;
const LINE_PX = 2;
/** Up to this many points are marked, so that a single one can be seen. */
const MARKED_POINTS_MAX = 1;

const DECADES = Array.from({ length: 13 }, (_, i) => 10 ** i);
/** Steps for any numbers: two significant digits suffice to tell them apart. */
const NUMBER_STEPS = Array.from({ length: 64 }, (_, i) => i - 32)
  .flatMap((exponent) => [1, 2, 5].map((digit) => Number(`${digit}e${exponent}`)));
const HOUR_S = 3600;
/** Steps of the axis: whole counts, whole percents, round times. */
const STEPS: Readonly<Record<ChartUnit, number[]>> = {
  count: DECADES.flatMap((decade) => [decade, 2 * decade, 5 * decade]),
  fraction: DECADES.flatMap((decade) => [0.01 * decade, 0.02 * decade, 0.05 * decade]),
  seconds: [
    ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800],
    ...[1, 2, 4, 8, 12, 24, 48, 96, 240, 720].map((hours) => hours * HOUR_S),
  ],
};
const AXIS_TEXT: Readonly<Record<ChartUnit, (value: number) => string>> = {
  count: compact,
  fraction: (value) => percent(value, 0),
  // Between round times the smaller unit is zero, and says nothing.
  seconds: (value) => value === 0 ? "0" : duration(value).replace(/ 0+[smh]$/, ""),
};

/** The colour that a variable of the style sheet has, which a canvas cannot refer to. */
function colourOf(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

type Values = (number | null)[];

/** Splits a line: solid between complete buckets, dashed to and from unfinished ones. */
function splitLine(points: readonly ChartPoint[]): { solid: Values; dashed: Values } {
  const isOpen = (i: number) => points[i]?.complete === false;
  return {
    solid: points.map(({ value }, i) => isOpen(i) ? null : value),
    dashed: points.map(({ value }, i) =>
      isOpen(i) || isOpen(i - 1) || isOpen(i + 1) ? value : null
    ),
  };
}

function padded(values: Values, length: number): Values {
  return Array.from({ length }, (_, i) => values[i] ?? null);
}

/** Two columns for each line, solid and dashed; a comparison has only a dashed one. */
export function chartData(lines: readonly ChartLine[]): uPlot.AlignedData {
  const length = Math.max(0, ...lines.map(({ points }) => points.length));
  const columns = lines.flatMap(({ points, isComparison }) => {
    if (isComparison) return [padded(points.map(({ value }) => value), length)];
    const { solid, dashed } = splitLine(points);
    return [padded(solid, length), padded(dashed, length)];
  });
  return [Array.from({ length }, (_, i) => i), ...columns];
}

function seriesOf(lines: readonly ChartLine[], element: Element): uPlot.Series[] {
  const own = lines.filter(({ isComparison }) => !isComparison).length;
  return lines.flatMap((line, i): uPlot.Series[] => {
    const colour = colourOf(element, line.isComparison ? "--chart-comparison" : `--chart-${i % 8}`);
    const isMarked = line.points.length <= MARKED_POINTS_MAX;
    const base = { stroke: colour, width: LINE_PX, points: { show: isMarked, size: 7 } };
    if (line.isComparison) return [{ ...base, width: 1.5, dash: [4, 4] }];
    const fill = own === 1 ? { fill: `color-mix(in srgb, ${colour} 10%, transparent)` } : {};
    return [{ ...base, ...fill }, { ...base, ...fill, dash: [6, 5] }];
  });
}

/** The first and the last bucket, and between them as many as fit, as evenly as buckets allow. */
export function labelledBuckets(count: number, widthPx: number): number[] {
  const last = count - 1;
  if (last < 1) return count === 1 ? [0] : [];
  let gaps = Math.min(last, Math.floor(widthPx / X_LABEL_PX));
  while (gaps > 1 && Math.floor(last / gaps) * widthPx < X_LABEL_PX * last) gaps--;
  gaps = Math.max(1, gaps);
  return Array.from({ length: gaps + 1 }, (_, i) => Math.round(i * last / gaps));
}

function axesOf(
  { lines, interval, format, unit }: SeriesChartProps,
  element: Element,
): uPlot.Axis[] {
  const stroke = colourOf(element, "--muted");
  const grid = { stroke: colourOf(element, "--line"), width: 1 };
  const base = { stroke, font: AXIS_FONT };
  const points = lines[0]?.points ?? [];
  return [
    {
      ...base,
      size: 28,
      grid: { show: false },
      ticks: { show: false },
      // By the new size: the canvas still has the old one.
      splits: (plot) => labelledBuckets(points.length, plot.width - Y_LABEL_PX - RIGHT_PX),
      values: (_, splits) =>
        splits.map((i) => points[i] ? bucketLabel(points[i].label, interval, "axis") : ""),
    },
    {
      ...base,
      size: (_, values) => Math.max(Y_LABEL_PX, ...(values ?? []).map((v) => v.length * 7.5 + 14)),
      gap: 8,
      grid,
      ticks: { show: false },
      border: { show: false },
      space: 48,
      incrs: unit === undefined ? NUMBER_STEPS : STEPS[unit],
      values: (_, splits) => splits.map(unit === undefined ? format : AXIS_TEXT[unit]),
    },
  ];
}

/** From zero, with air above; negative values are shown too. */
function valueRange(_: uPlot, min: number | null, max: number | null): [number, number] {
  const high = Math.max(max ?? 0, 0);
  const low = Math.min(min ?? 0, 0);
  return high === low ? [low, low + 1] : [low < 0 ? low * 1.08 : 0, high * 1.08];
}

const HATCH_PX = 7;

/** The runs of adjacent imported buckets: the first and the last index of each. */
export function importedRuns(
  points: readonly ChartPoint[],
): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const [i, { isImported }] of points.entries()) {
    if (!isImported) continue;
    const run = runs.at(-1);
    if (run !== undefined && run[1] === i - 1) run[1] = i;
    else runs.push([i, i]);
  }
  return runs;
}

/** Hatches what is behind imported buckets, half way to their neighbours. */
function hatch(plot: uPlot, points: readonly ChartPoint[], colour: string): void {
  const { ctx, bbox } = plot;
  const clamped = (x: number) => Math.max(bbox.left, Math.min(bbox.left + bbox.width, x));
  const step = HATCH_PX * devicePixelRatio;
  ctx.save();
  for (const [first, last] of importedRuns(points)) {
    const left = clamped(plot.valToPos(first - 0.5, "x", true));
    const right = clamped(plot.valToPos(last + 0.5, "x", true));
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.save();
    ctx.clip();
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += step) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = devicePixelRatio;
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

/** uPlot's options for the lines within `element`; `onIndex` is called with the bucket under the mouse. */
export function chartOptions(
  props: SeriesChartProps,
  element: HTMLElement,
  onIndex: (index: number | null) => void,
): uPlot.Options {
  const { lines, heightPx = 260 } = props;
  const count = lines[0]?.points.length ?? 0;
  const own = lines.find(({ isComparison }) => !isComparison);
  return {
    width: Math.max(120, element.clientWidth),
    height: heightPx,
    padding: [12, RIGHT_PX, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      // On the point that the tooltip describes, not between two.
      move: (plot, left, top) =>
        left < 0 ? [left, top] : [plot.valToPos(plot.posToIdx(left), "x"), top],
      drag: { x: false, y: false },
      points: { size: 8, width: 2 },
      bind: { dblclick: () => null },
    },
    scales: {
      // By position, not by time: the hour that a clock change repeats has two places.
      x: { time: false, range: [count === 1 ? -1 : 0, Math.max(1, count - 1)] },
      y: { range: valueRange },
    },
    axes: axesOf(props, element),
    series: [{}, ...seriesOf(lines, element)],
    hooks: {
      setCursor: [(plot) => onIndex(plot.cursor.idx ?? null)],
      // Behind the lines: these are drawn after it.
      drawAxes: [(plot) => hatch(plot, own?.points ?? [], colourOf(element, "--chart-hatch"))],
    },
  };
}
