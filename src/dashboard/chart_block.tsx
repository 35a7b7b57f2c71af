/// <reference lib="dom" />
import { useState } from "preact/hooks";
import type { SeriesChartProps } from "./chart_lines.ts";
import { AddNote } from "./chart_notes.tsx";
import { CsvButton } from "./csv_button.tsx";
import { DataTable } from "./data_table.tsx";
import { Button } from "./button.tsx";
import { chartColumns, chartCsv, chartRows, SeriesChart } from "./series_chart.tsx";
import { Swatch } from "./swatch.tsx";

interface ChartBlockProps extends SeriesChartProps {
  readonly csvName: string;
}

function Legend({ lines }: SeriesChartProps) {
  const own = lines.filter(({ isComparison }) => !isComparison).map(({ points }) => points);
  const isOpen = own.some((points) => points.some(({ complete }) => !complete));
  const isClipped = own.some(([first]) => first?.complete === false);
  const isImported = own.some((points) => points.some((point) => point.isImported));
  return (
    <ul class="legend">
      {lines.map((line, i) => (
        <li key={line.name}>
          <Swatch colour={line.isComparison ? "comparison" : i % 8} /> {line.name}
        </li>
      ))}
      {isImported && (
        <li>
          <span class="swatch swatch-imported" /> Hatched: imported from another product
        </li>
      )}
      {isOpen && (
        <li>
          {isClipped
            ? "Dashed: not over yet, or only in part within the range"
            : "Dashed: not over yet"}
        </li>
      )}
    </ul>
  );
}

interface TableSwitchProps {
  readonly isTable: boolean;
  readonly onSwitch: (isTable: boolean) => void;
}

/** Switches between a chart and its table. */
export function TableSwitch({ isTable, onSwitch }: TableSwitchProps) {
  return (
    <Button
      icon={isTable ? "chart" : "table"}
      kind="quiet"
      onClick={() => onSwitch(!isTable)}
    >
      {isTable ? "Chart" : "Table"}
    </Button>
  );
}

/** A chart with its legend, and its numbers as a table and as CSV. */
export function ChartBlock({ csvName, ...chart }: ChartBlockProps) {
  const [isTable, setTable] = useState(false);
  return (
    <div class="chart-block">
      {isTable
        ? (
          <div class="chart-table" role="region" aria-label={chart.title} tabIndex={0}>
            <DataTable
              caption={chart.title}
              columns={chartColumns(chart)}
              rows={chartRows(chart)}
            />
          </div>
        )
        : <SeriesChart {...chart} />}
      {/* Without a key it would be rendered anew, and the switch in it would lose the focus. */}
      <div key="foot" class="chart-foot">
        <Legend {...chart} />
        <div class="chart-buttons">
          {!chart.isTimeless && <AddNote />}
          <TableSwitch isTable={isTable} onSwitch={setTable} />
          <CsvButton name={csvName} table={chart.title} content={() => chartCsv(chart)} />
        </div>
      </div>
    </div>
  );
}
