/// <reference lib="dom" />
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiProblem } from "./api_problem.ts";
import { CsvButton, type CsvContent } from "./csv_button.tsx";
import type { CsvCell } from "../event_file/csv.ts";
import { Definition } from "./definition.tsx";
import { Icon } from "./icons.tsx";
import { integer } from "./number_format.ts";
import { useKeptFocus } from "./request_state.tsx";

export interface Column<Row> {
  readonly title: string;
  /** The plain value, as it is exported; for numbers unrounded. */
  readonly value: (row: Row) => CsvCell;
  /** How it is shown; default: the plain value. */
  readonly show?: (row: Row) => ComponentChildren;
  readonly definition?: string;
  /** A column of numbers, which are aligned at the right. */
  readonly isNumber?: boolean;
  /** Left out where the screen is narrow. */
  readonly isMinor?: boolean;
  /** Only in the CSV: another column of the table shows it. */
  readonly isExportOnly?: boolean;
}

interface NumberColumn<Row> extends Pick<Column<Row>, "show" | "definition" | "isMinor"> {
  /** Default: as a whole number. */
  readonly format?: (value: number | null | undefined) => string;
}

/** A column of numbers, shown as `format` has them unless `show` says otherwise. */
export function numberColumn<Row>(
  title: string,
  value: (row: Row) => number | null | undefined,
  { format = integer, ...rest }: NumberColumn<Row> = {},
): Column<Row> {
  return { title, value, show: (row) => format(value(row)), isNumber: true, ...rest };
}

export interface DataTableProps<Row> {
  /** What the table lists; read out, and shown only with `isCaptionShown`. */
  readonly caption: string;
  readonly isCaptionShown?: boolean;
  /** The first one is the row's header. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey?: (row: Row, index: number) => string;
  /** The file's name; without it there is no CSV button. */
  readonly csvName?: string | undefined;
  /** The CSV button shows the table's name, as on pages with several. */
  readonly isCsvNamed?: boolean;
  /** Loads every row for the export, if there are more than `rows`. */
  readonly allRows?: ((progress: (rows: number) => void) => Promise<readonly Row[]>) | undefined;
  /** What a click on a row does, such as to filter by it. */
  readonly onRow?: ((row: Row) => void) | undefined;
  /** What such a click does, in words: "Show only Germany". */
  readonly rowAction?: ((row: Row) => string) | undefined;
  /**
   * Draws a bar behind each row, as long as its number relative to the largest: of the column that rows are
   * sorted by, else of the one with this title, or (true) of the first column of numbers that is not minor.
   */
  readonly bars?: true | string;
  readonly onMore?: (() => void) | undefined;
  readonly isLoadingMore?: boolean;
  /** Why further rows did not come. */
  readonly moreProblem?: ApiProblem | null;
  readonly isSortable?: boolean;
  /** Shown instead of the rows if there are none. */
  readonly empty?: ComponentChildren;
}

export interface Sorting {
  /** The column's title, as columns come and go, such as those of a comparison. */
  readonly column: string;
  readonly isDown: boolean;
}

/** Compares numbers by size, all else as text. */
function compared(a: CsvCell, b: CsvCell): number {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b));
}

/** The column that rows are sorted by; undefined: none, or it is gone. */
function sortedBy<Row>(columns: readonly Column<Row>[], sorting: Sorting | null) {
  return columns.find(({ title }) => title === sorting?.column);
}

/** The rows sorted by a column, missing values last; unchanged if that column is gone. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const by = sortedBy(columns, sorting);
  if (by === undefined) return rows;
  const { value } = by;
  const sign = sorting?.isDown ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one) ?? null, value(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * compared(a, b);
  });
}

/** Every row and column as CSV, numbers unrounded. */
export function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): CsvContent {
  return {
    header: columns.map(({ title }) => title),
    rows: rows.map((row) => columns.map(({ value }) => value(row))),
  };
}

const classOf = <Row,>({ isNumber, isMinor }: Column<Row>) =>
  [isNumber && "number", isMinor && "minor"].filter(Boolean).join(" ");

interface HeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sorting: Sorting | null;
  readonly onSort: ((column: Column<Row>) => void) | null;
}

interface ColumnHeadProps<Row> {
  readonly column: Column<Row>;
  /** Null: the rows are not sorted by this column. */
  readonly isDown: boolean | null;
  readonly onSort: (() => void) | null;
}

function ColumnHead<Row>({ column, isDown, onSort }: ColumnHeadProps<Row>) {
  const { title, definition } = column;
  if (onSort === null) {
    return definition ? <Definition of={title} text={definition} isWord /> : <>{title}</>;
  }
  return (
    <span class="column-head">
      <button type="button" class="sort" onClick={onSort}>
        {title}
        {isDown !== null && <Icon name={isDown ? "fall" : "up"} size={12} />}
      </button>
      {definition && <Definition of={title} text={definition} />}
    </span>
  );
}

function Head<Row>({ columns, sorting, onSort }: HeadProps<Row>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th
            key={column.title}
            scope="col"
            class={classOf(column)}
            aria-sort={sorting?.column !== column.title
              ? undefined
              : sorting.isDown
              ? "descending"
              : "ascending"}
          >
            <ColumnHead
              column={column}
              isDown={sorting?.column === column.title ? sorting.isDown : null}
              onSort={onSort && (() => onSort(column))}
            />
          </th>
        ))}
      </tr>
    </thead>
  );
}

type RowProps<Row> = Pick<DataTableProps<Row>, "columns" | "onRow" | "rowAction"> & {
  readonly row: Row;
  /** The length of the bar behind it, from 0 to 1; null: there is none. */
  readonly bar: number | null;
};

function BodyRow<Row>({ row, columns, onRow, rowAction, bar }: RowProps<Row>) {
  const shown = (column: Column<Row>) => column.show?.(row) ?? column.value(row);
  const [first, ...others] = columns;
  return (
    <tr>
      <th scope="row" class={first?.isNumber ? "number" : ""}>
        {bar !== null && (
          <span class="share" style={{ width: `${bar * 100}%` }} aria-hidden="true" />
        )}
        {onRow === undefined ? <span class="cell-text">{shown(first!)}</span> : (
          <button
            type="button"
            class="row-button cell-text"
            title={rowAction?.(row)}
            onClick={() => onRow(row)}
          >
            {shown(first!)}
          </button>
        )}
      </th>
      {others.map((column) => <td key={column.title} class={classOf(column)}>{shown(column)}</td>)}
    </tr>
  );
}

/** Returns the length of each row's bar: its number relative to the largest. Numbers up to 0 have none. */
export function barOf<Row>(
  bars: true | string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  sorting: Sorting | null,
): (row: Row) => number {
  const numbers = columns.filter(({ isNumber }) => isNumber);
  const column = sortedBy(numbers, sorting) ??
    numbers.find(({ title }) => title === bars) ?? numbers.find(({ isMinor }) => !isMinor);
  const numberOf = (row: Row) => {
    const value = column?.value(row);
    return typeof value === "number" && value > 0 ? value : 0;
  };
  const most = rows.reduce((largest, row) => Math.max(largest, numberOf(row)), 0);
  return (row) => most === 0 ? 0 : numberOf(row) / most;
}

/**
 * Makes a table that is wider than its place focusable, and so scrollable by keyboard; and marks it while columns
 * lie beyond its right edge, where a number that is cut off would pass for a smaller one.
 * @param isReached whether Tab reaches what is in it, from where the arrow keys scroll it
 */
export function useScrollFocus(isReached = false) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const block = element.current;
    if (block === null) return;
    const mark = () => {
      const beyondPx = block.scrollWidth - block.clientWidth;
      if (beyondPx > 0 && !isReached) block.tabIndex = 0;
      else block.removeAttribute("tabindex");
      // Where scrolled to its end, some browsers stay a part of a pixel away.
      block.toggleAttribute("data-more", block.scrollLeft < beyondPx - 1);
    };
    mark();
    block.addEventListener("scroll", mark, { passive: true });
    // Turning a phone changes the width without a new rendering.
    const resized = new ResizeObserver(mark);
    resized.observe(block);
    return () => {
      resized.disconnect();
      block.removeEventListener("scroll", mark);
    };
  });
  return element;
}

/** Scrolls what Tab reached into full view: browsers are content if half of it is visible. */
function showWhole(focused: Element): void {
  // What a pointer presses must stay below it.
  if (!focused.matches(":focus-visible")) return;
  focused.scrollIntoView({ block: "nearest", inline: "nearest" });
}

interface MoreButtonProps {
  readonly isBusy: boolean;
  readonly onMore: () => void;
  /** Takes the focus if the button disappears while it has it. */
  readonly place: RefObject<HTMLElement | null>;
}

function MoreButton({ isBusy, onMore, place }: MoreButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  // If the rows are here already, it disappears at once, without having been busy.
  useLayoutEffect(() => () => {
    if (document.activeElement === button.current) place.current?.focus();
  }, []);
  return (
    <button ref={button} type="button" class="button" disabled={isBusy} onClick={onMore}>
      {isBusy ? "Loading…" : "Show more"}
    </button>
  );
}

/** A table with bars, sorting, rows to click, further pages, and its content as CSV. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, csvName, allRows, onMore, isLoadingMore } = props;
  const { moreProblem, isSortable = false, isCaptionShown = false, isCsvNamed = false, empty } =
    props;
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const scroll = useScrollFocus();
  const foot = useRef<HTMLDivElement>(null);
  useKeptFocus(isLoadingMore ?? false, foot);
  const sort = ({ title: column, isNumber = false }: Column<Row>) =>
    setSorting((before) => ({
      column,
      isDown: before?.column === column ? !before.isDown : isNumber,
    }));
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  const { onRow, rowAction, bars } = props;
  const bar = bars === undefined ? () => null : barOf(bars, columns, rows, sorting);
  const content = async (progress: (rows: number) => void) =>
    csvOf(columns, sorted(await (allRows?.(progress) ?? rows), columns, sorting));
  const shown = columns.filter(({ isExportOnly }) => !isExportOnly);
  return (
    <div class="table-block">
      <div
        ref={scroll}
        class="table-scroll"
        onFocusIn={({ target }) => showWhole(target as Element)}
      >
        <table class="table">
          <caption class={isCaptionShown ? "" : "visually-hidden"}>{caption}</caption>
          <Head columns={shown} sorting={sorting} onSort={isSortable ? sort : null} />
          <tbody>
            {sorted(rows, columns, sorting).map((row, i) => (
              <BodyRow
                key={rowKey?.(row, i) ?? i}
                {...{ row, onRow, rowAction }}
                columns={shown}
                bar={bar(row)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <div ref={foot} class={onMore || csvName ? "table-foot" : ""} tabIndex={-1}>
        {onMore && <MoreButton isBusy={isLoadingMore ?? false} onMore={onMore} place={foot} />}
        {onMore && sortedBy(shown, sorting) && (
          <span class="muted small" role="status">
            Sorted among the {integer(rows.length)} rows loaded so far
          </span>
        )}
        {moreProblem && <span class="field-error" role="alert">{moreProblem.detail}</span>}
        {csvName && (
          <CsvButton
            name={csvName}
            table={caption}
            isTableShown={isCsvNamed}
            content={content}
          />
        )}
      </div>
    </div>
  );
}
