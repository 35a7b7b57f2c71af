import type { EventRow } from "./event_row.ts";

/**
 * A heatmap cell: the place of a click or a scroll on its page, as one number of 31 bits, so that
 * heatmaps read no whole events. From the lowest bit: 2 bits of device (by the window's width), then
 * 1 bit each for placed, fixed, rage and dead; then for a click 8 bits of column and 17 of line, for a
 * scroll the step. Other events have cell 0.
 */
export const CELL_DEVICES = ["desktop", "tablet", "mobile"] as const;
export const CELL_DEVICE = 3;
/** A click has a position; the depth of a scroll is known. */
export const CELL_PLACED = 4;
export const CELL_FIXED = 8;
export const CELL_RAGE = 16;
export const CELL_DEAD = 32;
const PLACE_SHIFT = 6;
const LINE_SHIFT = 14;
const COLUMN_MASK = 255;

/** The grid of clicks: columns across the document's width, and lines of `CELL_LINE_PX` pixels. */
export const CELL_COLUMNS = 200;
export const CELL_LINE_PX = 10;
export const CELL_LINES_MAX = 131_071;
/** Pixels between two steps of scroll depth. */
export const CELL_STEP_PX = 100;
export const CELL_STEPS_MAX = 10_000;

const DESKTOP_WIDTH_MIN = 1024;
const TABLET_WIDTH_MIN = 768;

export const columnOf = (cell: number): number => cell >> PLACE_SHIFT & COLUMN_MASK;
export const lineOf = (cell: number): number => cell >> LINE_SHIFT;
export const stepOf = (cell: number): number => cell >> PLACE_SHIFT;

/** Returns the place in `CELL_DEVICES`; a window of unknown width counts as a desktop's. */
function deviceOf(width: number | null): number {
  if (width === null || width >= DESKTOP_WIDTH_MIN) return 0;
  return width >= TABLET_WIDTH_MIN ? 1 : 2;
}

/** Returns the bits of a click's place; `x` and `y` may be any finite numbers. */
export function placeOf(x: number, y: number): number {
  const column = Math.min(CELL_COLUMNS - 1, Math.floor(Math.max(0, x) * CELL_COLUMNS));
  const line = Math.min(CELL_LINES_MAX, Math.floor(Math.max(0, y) / CELL_LINE_PX));
  return column << PLACE_SHIFT | line << LINE_SHIFT | CELL_PLACED;
}

/** The members of an event that determine its cell. */
type PlacedRow = Pick<
  EventRow,
  "name" | "pointer_x" | "pointer_y" | "depth_px" | "viewport_width" | "fixed" | "rage" | "dead"
>;

export function cellOf(row: PlacedRow): number {
  const { name, pointer_x: x, pointer_y: y, depth_px: depth } = row;
  if (name === "scroll") {
    const step = Math.min(CELL_STEPS_MAX, Math.floor((depth ?? 0) / CELL_STEP_PX));
    return deviceOf(row.viewport_width) | step << PLACE_SHIFT | (depth === null ? 0 : CELL_PLACED);
  }
  if (name !== "click") return 0;
  return deviceOf(row.viewport_width) | (row.fixed === true ? CELL_FIXED : 0) |
    (row.rage === true ? CELL_RAGE : 0) | (row.dead === true ? CELL_DEAD : 0) |
    (x === null || y === null ? 0 : placeOf(x, y));
}
