/// <reference lib="dom" />
import type { Column } from "./data_table.tsx";
import { Sparkline, type SparklineProps } from "./sparkline.tsx";

/** Makes a column that draws each row's counts over time; its plain value lists the counts. */
export function sparklineColumn<Row>(
  title: string,
  pointsOfRow: (row: Row) => SparklineProps["points"],
  size: Omit<SparklineProps, "points">,
): Column<Row> {
  return {
    title,
    value: (row) => pointsOfRow(row).map(({ value }) => value ?? "").join(" "),
    show: (row) => <Sparkline points={pointsOfRow(row)} {...size} />,
    isMinor: true,
  };
}
