/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { Behind } from "../behind.tsx";
import type { NumberOf } from "../behind_words.ts";
import { useScrollFocus } from "../data_table.tsx";
import { placeAbove } from "../definition.tsx";
import { integer, percent } from "../number_format.ts";
import { type Cell, periodName, type TriangleRow } from "./retention_cells.ts";
import { type Every, numberOfCell, type Question } from "./retention_question.ts";

const TIP_GAP_PX = 6;
/** Shares that the legend shows the colour of. */
const LEGEND = [0.02, 0.1, 0.3, 0.6, 1];

interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/** The square root spreads small shares, whose differences matter most. */
function heatOf({ rate, state }: Pick<Cell, "rate" | "state">): number {
  return state === "open" || rate.value === null ? 0 : Math.sqrt(Math.min(1, rate.value));
}

const MOVES: Readonly<Record<string, (at: CellPosition, last: CellPosition) => CellPosition>> = {
  ArrowLeft: ({ row, column }) => ({ row, column: column - 1 }),
  ArrowRight: ({ row, column }) => ({ row, column: column + 1 }),
  ArrowUp: ({ row, column }) => ({ row: row - 1, column }),
  ArrowDown: ({ row, column }) => ({ row: row + 1, column }),
  Home: ({ row }) => ({ row, column: 0 }),
  End: ({ row }, last) => ({ row, column: last.column }),
};

interface CellProps {
  readonly cell: Cell;
  /** Whom it counts; null: it belongs to no single cohort. */
  readonly number: NumberOf | null;
  readonly isReachable: boolean;
  readonly place: CellPosition;
  readonly onShow: (place: CellPosition | null) => void;
}

function CellView({ cell, number, isReachable, place, onShow }: CellProps) {
  const { state, text, words } = cell;
  const heat = heatOf(cell);
  const isZero = state !== "open" && cell.rate.value === 0;
  return (
    <td
      class={`retention-cell retention-${state} ${isZero ? "retention-zero" : ""}`}
      style={{ "--heat": String(heat) }}
      tabIndex={isReachable ? 0 : -1}
      data-row={place.row}
      data-column={place.column}
      onPointerEnter={() => onShow(place)}
      onPointerLeave={() => onShow(null)}
      onFocus={() => onShow(place)}
      onBlur={() => onShow(null)}
    >
      {number === null ? text : (
        <Behind
          view="people"
          number={number}
          of={words}
          isLinked={cell.rate.numerator > 0}
          isTheirs={false}
          isOutsideTabOrder
        >
          {text}
        </Behind>
      )}
      {state === "running" && <span class="retention-so-far" aria-hidden="true">so far</span>}
      <span class="visually-hidden">{text === "" ? words : ` (${words})`}</span>
    </td>
  );
}

/** A cell's tooltip, in the top layer, where no scrolling box cuts it off. */
function CellTip({ row, cell, name, of }: {
  row: TriangleRow;
  cell: Cell;
  name: string;
  of: Element;
}) {
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    tip.current!.showPopover();
    placeAbove(tip.current!, of, TIP_GAP_PX);
  }, [of, cell]);
  return (
    <div ref={tip} class="retention-tip tip" popover="manual" aria-hidden="true">
      <p class="muted">{row.name}, {name.toLowerCase()}</p>
      <p>{cell.words}</p>
    </div>
  );
}

function Legend() {
  return (
    <ul class="legend retention-legend">
      {LEGEND.map((share) => (
        <li key={share}>
          <span
            class="retention-swatch retention-complete"
            style={{ "--heat": String(Math.sqrt(share)) }}
          />
          {percent(share, 0)}
        </li>
      ))}
      <li>
        <span class="retention-swatch retention-running" style={{ "--heat": "0.5" }} /> Not over yet
      </li>
      <li>
        <span class="retention-swatch retention-open" /> Not begun
      </li>
    </ul>
  );
}

interface TriangleProps {
  readonly rows: readonly TriangleRow[];
  readonly question: Question;
  readonly every: Every;
}

/** One cell is reached by Tab, all others from there by the arrow keys. */
function useCells(rows: readonly TriangleRow[]) {
  const [reachable, setReachable] = useState<CellPosition>({ row: 0, column: 0 });
  const [shown, setShown] = useState<CellPosition | null>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const last = { row: rows.length - 1, column: (rows[0]?.cells.length ?? 0) - 1 };
  const inside = ({ row, column }: CellPosition): CellPosition => ({
    row: Math.max(0, Math.min(last.row, row)),
    column: Math.max(0, Math.min(last.column, column)),
  });
  const at = inside(reachable);
  const elementAt = ({ row, column }: CellPosition) =>
    body.current?.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`);
  useEffect(() => {
    if (shown === null) return;
    const close = () => setShown(null);
    const closeByKey = ({ key }: KeyboardEvent) => key === "Escape" && close();
    addEventListener("scroll", close, { capture: true, passive: true });
    addEventListener("keydown", closeByKey);
    return () => {
      removeEventListener("scroll", close, true);
      removeEventListener("keydown", closeByKey);
    };
  }, [shown]);
  const onKeyDown = (event: KeyboardEvent) => {
    // The link of a cell is no Tab stop of its own.
    const cell = event.target as HTMLElement;
    if (event.key === "Enter") cell.querySelector<HTMLElement>("a.behind")?.click();
    const move = MOVES[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const next = inside(move(at, last));
    setReachable(next);
    const element = elementAt(next);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const onShow = (place: CellPosition | null) => {
    setShown(place);
    const active = document.activeElement;
    if (place !== null && active === elementAt(place)) setReachable(place);
  };
  return { at, shown: shown === null ? null : inside(shown), body, elementAt, onKeyDown, onShow };
}

/** Cohorts by row and periods by column; each cell shows its people on hover and on focus. */
export function Triangle({ rows, every, question }: TriangleProps) {
  const { at, shown, body, elementAt, onKeyDown, onShow } = useCells(rows);
  const periods = rows[0]!.cells.map((_, period) => periodName(every, period));
  const pointed = shown === null ? null : elementAt(shown);
  const scroll = useScrollFocus(true);
  return (
    <div class="retention-block">
      <div ref={scroll} class="retention-scroll">
        <table class="retention-table">
          <caption class="visually-hidden">
            People by the {every} in which they began, and the share of them that came back
          </caption>
          <thead>
            <tr>
              <th scope="col" class="retention-cohort">Began</th>
              <th scope="col" class="number">People</th>
              {periods.map((name) => <th key={name} scope="col">{name}</th>)}
            </tr>
          </thead>
          <tbody ref={body} onKeyDown={onKeyDown}>
            {rows.map(({ name, shortName, start, size, cells }, row) => (
              <tr key={row} class={size === null ? "retention-average" : ""}>
                <th scope="row" class="retention-cohort">
                  <span class="retention-name">{name}</span>
                  <span class="retention-short-name" aria-hidden="true">{shortName}</span>
                </th>
                <td class="number retention-size muted">
                  {size !== null && (
                    <Behind
                      view="people"
                      {...start === null ? {} : { number: numberOfCell(question, start) }}
                      of={`People who began: ${name}`}
                      isLinked={start !== null && size > 0}
                    >
                      {integer(size)}
                    </Behind>
                  )}
                </td>
                {cells.map((cell, column) => (
                  <CellView
                    key={column}
                    cell={cell}
                    number={start === null ? null : numberOfCell(question, start, column)}
                    place={{ row, column }}
                    isReachable={at.row === row && at.column === column}
                    onShow={onShow}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Legend />
      {shown !== null && pointed && (
        <CellTip
          row={rows[shown.row]!}
          cell={rows[shown.row]!.cells[shown.column]!}
          name={periods[shown.column]!}
          of={pointed}
        />
      )}
    </div>
  );
}
