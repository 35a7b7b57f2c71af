import type { Counts, Dimension } from "./insight_candidates.ts";

/** One value of a dimension, or the total. */
export interface Slice {
  /** Null: the total. */
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
 * The figures of the range and of the period before, by cell: events of exactly the same slices share a cell.
 */
export interface JointCells {
  readonly count: number;
  /** By the key of a slice: 1 at each cell of the slice. */
  readonly holds: ReadonlyMap<string, Uint8Array>;
  /** By the slug of a goal: the figures of its events; by null: those of all selected events. */
  readonly matches: ReadonlyMap<string | null, CellFigures>;
}

/** Returns a key that is equal for equal slices. */
export function sliceKey({ dimension, value }: Slice): string {
  return JSON.stringify([dimension, value]);
}
