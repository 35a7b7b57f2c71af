/// <reference lib="dom" />
import { type Column, numberColumn } from "./data_table.tsx";
import { DEFINITIONS } from "./definitions.ts";
import { Change } from "./kpi_tile.tsx";

interface ChangeColumn extends Pick<Column<never>, "definition" | "isMinor"> {
  /** The values are differences of rates. */
  readonly isRate?: boolean;
}

/** Makes a column of changes, which are fractions unless they are of rates. */
export function changeColumn<Row>(
  title: string,
  value: (row: Row) => number | null | undefined,
  { isRate = false, ...rest }: ChangeColumn = {},
): Column<Row> {
  return numberColumn(title, value, {
    definition: DEFINITIONS.change,
    show: (row) => <Change value={value(row) ?? null} isRate={isRate} />,
    ...rest,
  });
}
