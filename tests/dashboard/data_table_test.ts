import assert from "node:assert/strict";
import { barOf, type Column, sorted } from "../../src/dashboard/data_table.tsx";

interface Row {
  readonly name: string;
  readonly visitors: number | null;
  readonly rate: number | null;
}

const ROWS: readonly Row[] = [
  { name: "a", visitors: 200, rate: 0.05 },
  { name: "b", visitors: 50, rate: 0.2 },
  { name: "c", visitors: null, rate: -0.1 },
];
const COLUMNS: readonly Column<Row>[] = [
  { title: "Name", value: ({ name }) => name },
  { title: "Step", value: () => 7, isNumber: true, isMinor: true },
  { title: "Visitors", value: ({ visitors }) => visitors, isNumber: true },
  { title: "Rate", value: ({ rate }) => rate, isNumber: true },
];

function bars(wanted: true | string, at: number | null): number[] {
  const sorting = at === null ? null : { column: COLUMNS[at]!.title, isDown: true };
  return ROWS.map(barOf(wanted, COLUMNS, ROWS, sorting));
}

Deno.test("tables: bars show the column that rows are sorted by", () => {
  assert.deepEqual(bars(true, 2), [1, 0.25, 0]);
  assert.deepEqual(bars(true, 3), [0.25, 1, 0], "what fell has none");
  assert.deepEqual(bars("Visitors", 3), [0.25, 1, 0], "the order says more than the table");
});

Deno.test("tables: bars of an unsorted table are of its own column, else of the first that all screens show", () => {
  assert.deepEqual(bars("Rate", null), [0.25, 1, 0]);
  assert.deepEqual(bars(true, null), [1, 0.25, 0]);
  assert.deepEqual(bars(true, 0), [1, 0.25, 0], "a name has no length");
  assert.deepEqual([barOf(true, COLUMNS, [], null)(ROWS[0]!)], [0], "of nothing nothing is long");
});

Deno.test("tables: rows stay as they came where the column that they were sorted by has gone", () => {
  const names = (columns: readonly Column<Row>[], isDown: boolean) =>
    sorted(ROWS, columns, { column: "Rate", isDown }).map(({ name }) => name);
  assert.deepEqual(names(COLUMNS, true), ["b", "a", "c"]);
  assert.deepEqual(names(COLUMNS, false), ["c", "a", "b"]);
  const [, ...others] = COLUMNS;
  assert.deepEqual(names(others, true), ["b", "a", "c"], "another that goes changes nothing");
  assert.deepEqual(names(COLUMNS.slice(0, 3), true), ["a", "b", "c"]);
});
