import { type Counts, type Dimension, FIGURES } from "./insight_candidates.ts";

/** One value of a dimension, or everything: what a change is of. */
export interface Slice {
  /** Null: everything. */
  readonly dimension: Dimension | null;
  readonly value: string | null;
}

/** A figure at each cell, in the range and in the period before. */
export interface CellFigure {
  readonly now: Int32Array;
  readonly before: Int32Array;
}

export type CellFigures = Readonly<Record<keyof Counts, CellFigure>>;

/**
 * What happened in the range and in the period before, by the slices that it is of: everything that
 * is of the same slices lies in one cell.
 */
export interface JointCells {
  readonly count: number;
  /** Of each slice by its key: 1 at each cell that it holds. */
  readonly holds: ReadonlyMap<string, Uint8Array>;
  /** By match: of all selected events, or of those of a goal. */
  readonly matches: ReadonlyMap<string | null, CellFigures>;
}

/** The same for slices that are the same. */
export function sliceKey({ dimension, value }: Slice): string {
  return JSON.stringify([dimension, value]);
}

export function figuresOfNothing(count: number): CellFigures {
  const figure = (): CellFigure => ({ now: new Int32Array(count), before: new Int32Array(count) });
  return Object.fromEntries(FIGURES.map((one) => [one, figure()])) as CellFigures;
}
