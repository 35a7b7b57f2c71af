/// <reference lib="dom" />
import { useMemo, useState } from "preact/hooks";
import { changeColumn } from "../change_column.tsx";
import { TableSwitch } from "../chart_block.tsx";
import type { ChartLine, ChartPoint } from "../chart_lines.ts";
import { AddNote } from "../chart_notes.tsx";
import { comparedName, ComparedNote } from "../compared.tsx";
import { CsvButton } from "../csv_button.tsx";
import { type Column, DataTable, numberColumn } from "../data_table.tsx";
import type { Interval } from "../location_query.ts";
import { go, rangeName, viewParam } from "../location_state.ts";
import { bucketLabel, decimal, integer } from "../number_format.ts";
import { chartColumns, chartCsv, chartRows, SeriesChart } from "../series_chart.tsx";
import { Swatch } from "../swatch.tsx";
import { COUNTS, PointCount } from "./trends_behind.tsx";
import {
  coloursOf,
  firstLines,
  LINES_DRAWN_MAX,
  linesOf,
  readShown,
  type Summary,
  summaryOf,
  type TrendLine,
  type TrendsReply,
} from "./trends_lines.ts";
import { measureOf } from "./trends_question.ts";
import { useRangeTotals } from "./trends_totals.ts";

const CHART_PX = 300;
/** Measures whose buckets can sensibly be averaged. */
const AVERAGED = ["total", "visitors", "sum"];

const TEXTS = {
  whole:
    "The range as a whole. People cannot be added up over periods, and averages and percentiles neither: if it is not known exactly, it is not shown.",
  mean: "Of the complete periods alone, empty ones included.",
  extreme: "Of the complete periods alone.",
};

interface LineRow extends Summary {
  readonly line: TrendLine;
  /** Undefined: nothing is compared. */
  readonly change: number | null | undefined;
  /** Null: not drawn. */
  readonly colour: number | null;
}

/** Which lines are drawn, in which colours; a click draws one or hides it. */
function useShown(lines: readonly TrendLine[]) {
  const text = viewParam("lines");
  const keys = useMemo(() => {
    const known = new Set(lines.map(({ key }) => key));
    const chosen = readShown(text)?.filter((key) => known.has(key)).slice(0, LINES_DRAWN_MAX);
    // Values that were drawn in another range may not be there in this one.
    return new Set(chosen?.length ? chosen : firstLines(lines));
  }, [lines, text]);
  const colours = useMemo(() => coloursOf(lines, keys), [lines, keys]);
  const toggle = (key: string) => {
    if (keys.size === 1 && keys.has(key)) return;
    const next = lines.map((line) => line.key)
      .filter((each) => each === key ? !keys.has(each) : keys.has(each));
    const isFirst = JSON.stringify(next) === JSON.stringify(firstLines(lines));
    go({ params: { lines: isFirst ? null : JSON.stringify(next) } }, { replace: true });
  };
  return { colours, toggle, isFull: keys.size >= LINES_DRAWN_MAX };
}

/** The lines at the places of their colours; what is not drawn has no points. */
function drawnLines(
  lines: readonly TrendLine[],
  colours: ReadonlyMap<string, number>,
): readonly ChartLine[] {
  const places = Math.max(0, ...[...colours.values()].map((colour) => colour + 1));
  const none: ChartLine[] = Array.from(
    { length: places },
    (_, i) => ({ name: `${i}`, points: [] }),
  );
  for (const { key, name, points } of lines) {
    const colour = colours.get(key);
    if (colour !== undefined) none[colour] = { name, points };
  }
  return none;
}

/** What a single line is compared with, paired by position; several lines leave no room for it. */
function comparisonOf(reply: TrendsReply, lines: readonly TrendLine[]): readonly ChartLine[] {
  const { previous, asOf, query } = reply;
  if (previous === undefined || lines.length !== 1) return [];
  const [before] = linesOf({ series: previous.series, asOf, query });
  if (before === undefined) return [];
  const points = before.points.slice(0, lines[0]!.points.length);
  return [{ name: comparedName(previous), points, isComparison: true }];
}

interface LineNameProps {
  readonly row: LineRow;
  /** Null: there is only one. */
  readonly onToggle: (() => void) | null;
  readonly isFull: boolean;
}

function LineName({ row: { line, colour }, onToggle, isFull }: LineNameProps) {
  const swatch = colour === null
    ? <span class="swatch trends-swatch-none" />
    : <Swatch colour={colour} />;
  if (onToggle === null) return <span class="trends-line">{swatch} {line.name}</span>;
  const isBarred = colour === null && isFull;
  return (
    <button
      type="button"
      class="trends-line trends-toggle"
      aria-pressed={colour !== null}
      disabled={isBarred}
      title={isBarred ? `${LINES_DRAWN_MAX} lines are drawn at most. Hide one first.` : line.name}
      onClick={onToggle}
    >
      {swatch} <span class="trends-line-name">{line.name}</span>
    </button>
  );
}

interface FiguresProps {
  readonly rows: readonly LineRow[];
  readonly kind: string;
  readonly interval: Interval;
  readonly format: (value: number | null) => string;
  readonly onToggle: (key: string) => void;
  readonly isFull: boolean;
}

function figureColumns(props: FiguresProps): readonly Column<LineRow>[] {
  const { rows, kind, interval, format, onToggle, isFull } = props;
  const isAlone = rows.length === 1;
  const hasTotal = rows.some(({ total }) => total !== null);
  const at = (point: ChartPoint | null) =>
    point === null ? format(null) : (
      <>
        {format(point.value)}{" "}
        <span class="muted trends-when">{bucketLabel(point.label, interval, "axis")}</span>
      </>
    );
  const extreme = (title: string, of: (row: LineRow) => ChartPoint | null): Column<LineRow> =>
    numberColumn(title, (row) => of(row)?.value, {
      definition: TEXTS.extreme,
      show: (row) => at(of(row)),
      isMinor: true,
    });
  const whole = numberColumn<LineRow>("Whole range", ({ total }) => total, {
    definition: TEXTS.whole,
    show: ({ total }) => format(total),
  });
  const mean = numberColumn<LineRow>(`Average per ${interval}`, (row) => row.mean, {
    definition: TEXTS.mean,
    isMinor: hasTotal,
    show: ({ mean }) => decimal(mean, mean !== null && mean >= 100 ? 0 : 1),
  });
  const changed = changeColumn<LineRow>("Change", ({ change }) => change);
  return [
    {
      title: "Line",
      value: ({ line }) => line.name,
      show: (row) => (
        <LineName
          row={row}
          onToggle={isAlone ? null : () => onToggle(row.line.key)}
          isFull={isFull}
        />
      ),
    },
    ...hasTotal ? [whole] : [],
    ...rows.some(({ change }) => change !== undefined) ? [changed] : [],
    ...AVERAGED.includes(kind) ? [mean] : [],
    extreme("Lowest", ({ lowest }) => lowest),
    extreme("Highest", ({ highest }) => highest),
  ];
}

/** Every point of every line; counts are linked to the people behind them. */
function pointColumns(
  reply: TrendsReply,
  lines: readonly TrendLine[],
  chart: Pick<Parameters<typeof chartColumns>[0], "title" | "interval" | "format">,
): readonly Column<number>[] {
  const [time, ...counts] = chartColumns({ ...chart, lines });
  return [
    time!,
    ...counts.map((column, line): Column<number> => ({
      ...column,
      show: (i) => (
        <PointCount reply={reply} line={lines[line]!} point={lines[line]!.points[i]}>
          {chart.format(lines[line]!.points[i]?.value ?? null)}
        </PointCount>
      ),
    })),
  ];
}

interface TrendsResultProps {
  readonly reply: TrendsReply;
  /** Whether a new reply is being read, and `reply` is the one before. */
  readonly isLoading: boolean;
  readonly lines: readonly TrendLine[];
}

/** The chart or its numbers, and below it every line with its summary. */
export function TrendsResult({ reply, isLoading, lines }: TrendsResultProps) {
  const { interval, event, by } = reply.query;
  const { kind, label } = measureOf(reply.query.measure);
  const [isTable, setTable] = useState(false);
  const { colours, toggle, isFull } = useShown(lines);
  const ofRange = useRangeTotals(kind, by === null ? event : [], isLoading ? null : reply);
  // The same list until it changes: the chart is drawn anew for another, and leaves the chosen point.
  const charted = useMemo(
    () => [...drawnLines(lines, colours), ...comparisonOf(reply, lines)],
    [reply, lines, colours],
  );
  const rows = lines.map((line, i): LineRow => {
    const summary = summaryOf(kind, line);
    const total = summary.total ?? ofRange[line.event] ?? null;
    const change = reply.change?.[i]?.change;
    return { ...summary, total, line, change, colour: colours.get(line.key) ?? null };
  });
  const isCount = COUNTS.includes(kind);
  const format = isCount ? integer : (value: number | null) => decimal(value, 2);
  const unit = isCount ? { unit: "count" as const } : {};
  const chart = { title: `${label} over time`, interval, format, ...unit };
  const hasOpen = lines.some(({ points }) => points.some(({ complete }) => !complete));
  return (
    <div class="chart-block">
      {isTable
        ? (
          <div class="chart-table">
            <DataTable
              caption={chart.title}
              columns={pointColumns(reply, lines, chart)}
              rows={chartRows({ ...chart, lines })}
            />
          </div>
        )
        : <SeriesChart {...chart} lines={charted} heightPx={CHART_PX} />}
      <ComparedNote previous={reply.previous} />
      {/* With a key, as in every block of a chart. */}
      <div key="foot" class="chart-foot">
        <p class="legend">{hasOpen && "Dashed: not over yet, or only in part within the range"}</p>
        <div class="chart-buttons">
          <AddNote />
          <TableSwitch isTable={isTable} onSwitch={setTable} />
          <CsvButton
            name={rangeName("trends over time")}
            table={chart.title}
            isTableShown
            content={() => chartCsv({ ...chart, lines })}
          />
        </div>
      </div>
      <DataTable
        caption="Totals of the lines"
        columns={figureColumns({ rows, kind, interval, format, onToggle: toggle, isFull })}
        rows={rows}
        rowKey={({ line }) => line.key}
        csvName={rangeName("trends")}
        isCsvNamed
        isSortable={rows.length > 1}
      />
    </div>
  );
}
