/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { chartData, chartOptions } from "./chart_options.ts";
import type { ChartLine, ChartPoint, SeriesChartProps } from "./chart_lines.ts";
import { ChartNotes } from "./chart_notes.tsx";
import type { ChartPlace } from "./note_marks.tsx";
import { csvOf } from "./data_table.tsx";
import type { Interval } from "./location_query.ts";
import { bucketLabel } from "./number_format.ts";
import { Swatch } from "./swatch.tsx";
import { shownScheme } from "./theme.ts";

interface TooltipProps extends SeriesChartProps {
  readonly index: number;
}

/** The bucket's name, from the first line that is not a comparison. */
function nameOf({ lines, interval }: SeriesChartProps, index: number): string {
  const own = lines.find(({ isComparison }) => !isComparison);
  const point = own?.points[index];
  if (point === undefined) return "";
  const text = bucketLabel(point.label, interval, "full");
  return `${text}${point.isImported ? " (imported)" : ""}${point.complete ? "" : " (so far)"}`;
}

function nameOfLine({ interval }: SeriesChartProps, line: ChartLine, index: number): string {
  const point = line.points[index];
  if (!line.isComparison || point === undefined) return line.name;
  return nameOfPoint(point, interval);
}

function Tooltip(props: TooltipProps) {
  const { lines, format, index } = props;
  return (
    <div class="chart-tooltip-text">
      <p class="chart-tooltip-head">{nameOf(props, index)}</p>
      {lines.map((line, i) =>
        line.points[index] && (
          <p key={line.name} class="chart-tooltip-line">
            <Swatch colour={line.isComparison ? "comparison" : i % 8} />
            <span>{nameOfLine(props, line, index)}</span>
            <strong>{format(line.points[index].value)}</strong>
          </p>
        )
      )}
    </div>
  );
}

/** The same in words, for screen readers, to which the chart is a slider. */
function spoken(props: SeriesChartProps, index: number): string {
  const values = props.lines.flatMap((line) => {
    const point = line.points[index];
    return point === undefined
      ? []
      : [`${nameOfLine(props, line, index)} ${props.format(point.value)}`];
  });
  return [nameOf(props, index), ...values].join(", ");
}

function nameOfPoint({ label, isImported }: ChartPoint, interval: Interval): string {
  return `${bucketLabel(label, interval, "full")}${isImported ? " (imported)" : ""}`;
}

/** The chart as a table: its text alternative, and the content of its CSV. */
export function chartColumns({ lines, interval, format }: SeriesChartProps) {
  return [
    {
      title: "Time",
      value: (i: number) => lines[0]?.points[i]?.label,
      show: (i: number) => {
        const point = lines[0]?.points[i];
        return point && nameOfPoint(point, interval);
      },
    },
    ...lines.map((line) => ({
      title: line.name,
      isNumber: true,
      value: (i: number) => line.points[i]?.value,
      show: (i: number) => format(line.points[i]?.value ?? null),
    })),
  ];
}

/** The chart's rows: the indices of its buckets. */
export function chartRows({ lines }: SeriesChartProps): readonly number[] {
  return Array.from(
    { length: Math.max(0, ...lines.map(({ points }) => points.length)) },
    (_, i) => i,
  );
}

/** The chart's content as CSV. */
export function chartCsv(props: SeriesChartProps) {
  return csvOf(chartColumns(props), chartRows(props));
}

/** Places the tooltip beside the point, on the side with more room. */
function placeTooltip(tooltip: HTMLElement, plot: uPlot, index: number): void {
  const left = plot.valToPos(index, "x") + plot.over.offsetLeft;
  const { width } = plot.root.getBoundingClientRect();
  const isRight = left > width / 2;
  const own = tooltip.offsetWidth;
  const wanted = isRight ? left - own - 12 : left + 12;
  tooltip.style.left = `${Math.max(0, Math.min(wanted, width - own))}px`;
}

const KEYS: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  ArrowDown: (index) => index - 1,
  ArrowUp: (index) => index + 1,
  PageDown: (index) => index - 7,
  PageUp: (index) => index + 7,
  Home: () => 0,
  End: (_, last) => last,
};

/** The position of the buckets in the drawn chart. */
function placeOf(plot: uPlot): ChartPlace {
  const first = plot.valToPos(0, "x");
  return {
    leftPx: Math.round(plot.over.offsetLeft + first),
    stepPx: plot.valToPos(1, "x") - first,
  };
}

/** Draws the chart, again whenever the content, the scheme or the width changes. */
function usePlot(props: SeriesChartProps, onIndex: (index: number | null) => void) {
  const [place, setPlace] = useState<ChartPlace | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const { lines, interval, heightPx = 260 } = props;
  const scheme = shownScheme.value;
  const isPhone = useRef(false);
  useEffect(() => {
    const element = frame.current!;
    const draw = () => {
      plot.current?.destroy();
      isPhone.current = element.clientWidth < 480;
      const options = chartOptions(props, element, onIndex);
      const onDrawn = (drawn: uPlot) => {
        const next = placeOf(drawn);
        setPlace((before) =>
          before?.leftPx === next.leftPx && before.stepPx === next.stepPx ? before : next
        );
      };
      options.hooks!.draw = [onDrawn];
      plot.current = new uPlot(options, chartData(lines), element);
    };
    draw();
    const watch = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width === 0 || plot.current === null || width === plot.current.width) return;
      if ((width < 480) !== isPhone.current) draw();
      else plot.current.setSize({ width, height: heightPx });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [lines, interval, scheme, heightPx]);
  return { frame, plot, place };
}

/**
 * Lines over time. Unfinished buckets are dashed, comparisons grey. The point under the mouse, or chosen with
 * the arrow keys, is described in a tooltip and to screen readers.
 */
export function SeriesChart(props: SeriesChartProps) {
  const { title, heightPx = 260 } = props;
  const [index, setIndex] = useState<number | null>(null);
  const { frame, plot, place } = usePlot(props, setIndex);
  const tooltip = useRef<HTMLDivElement>(null);
  const last = chartRows(props).length - 1;
  const shown = index === null || index > last ? null : index;
  const at = shown ?? Math.max(0, last);
  useEffect(() => {
    if (shown !== null && tooltip.current !== null && plot.current !== null) {
      placeTooltip(tooltip.current, plot.current, shown);
    }
  });
  const point = (next: number | null) => {
    setIndex(next);
    const left = next === null || plot.current === null ? -10 : plot.current.valToPos(next, "x");
    plot.current?.setCursor({ left, top: next === null ? -10 : 0 }, false);
  };
  const own = props.lines.find(({ isComparison }) => !isComparison);
  return (
    <div class="chart-with-notes">
      <div
        class="chart"
        role="slider"
        tabIndex={0}
        aria-label={`${title}: move through time with the arrow keys`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={at}
        aria-valuetext={spoken(props, at)}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && point(at)}
        onBlur={() => point(null)}
        onKeyDown={(event) => {
          if (event.key === "Escape") return point(null);
          const next = KEYS[event.key]?.(at, last);
          if (next === undefined) return;
          event.preventDefault();
          point(Math.max(0, Math.min(last, next)));
        }}
      >
        <div ref={frame} class="chart-frame" style={{ height: `${heightPx}px` }} />
        <div ref={tooltip} class="chart-tooltip tip" hidden={shown === null} aria-hidden="true">
          {shown !== null && <Tooltip {...props} index={shown} />}
        </div>
      </div>
      {!props.isTimeless && (
        <ChartNotes
          {...{ title, heightPx, place }}
          labels={own?.points.map(({ label }) => label) ?? []}
          interval={props.interval}
        />
      )}
    </div>
  );
}
