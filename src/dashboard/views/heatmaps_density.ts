import {
  type Device,
  type HeatmapReply,
  type Point,
  type Reach,
  WINDOWS,
} from "./heatmaps_replies.ts";

/** Document pixels of a cell of the density: half of the grid that points lie on. */
export const CELL_PX = 4;
/** A page is drawn down to here at most. */
export const HEIGHT_PX_MAX = 60_000;
/** Rows of cells in one canvas: far below any browser's limit. */
export const TILE_ROWS = 512;
/** Three box blurs of this radius come close to a Gaussian one of 16 document pixels. */
const BLUR_CELLS = 4;
const BLUR_PASSES = 3;
/** The space left below the deepest point. */
const MARGIN_PX = 60;
/** Raises weak values: one busy menu would otherwise leave all the rest without a colour. */
const GAMMA = 0.55;
const SHADES = 256;

/** Clicks spread over a page, with the densest cell as 1. */
export interface Density {
  readonly columns: number;
  readonly rows: number;
  readonly values: Float32Array;
}

/** Sums of a sliding window along one line, divided by its length; beyond the ends all is 0. */
function blurLine(
  from: Float32Array,
  to: Float32Array,
  { start, step, length }: { start: number; step: number; length: number },
): void {
  const span = 2 * BLUR_CELLS + 1;
  let sum = 0;
  for (let i = 0; i < Math.min(BLUR_CELLS, length); i++) sum += from[start + i * step]!;
  for (let i = 0; i < length; i++) {
    const entering = i + BLUR_CELLS;
    const leaving = i - BLUR_CELLS - 1;
    if (entering < length) sum += from[start + entering * step]!;
    if (leaving >= 0) sum -= from[start + leaving * step]!;
    // Sums of floats drift, also below 0.
    to[start + i * step] = Math.max(0, sum) / span;
  }
}

/** The clicks of a page as a smooth field, at a resolution that does not depend on the screen. */
export function densityOf(
  points: readonly Point[],
  { widthPx, heightPx }: { widthPx: number; heightPx: number },
): Density {
  const columns = Math.max(1, Math.ceil(widthPx / CELL_PX));
  const rows = Math.max(1, Math.ceil(heightPx / CELL_PX));
  let values = new Float32Array(columns * rows);
  let spare = new Float32Array(columns * rows);
  for (const { x, y, count } of points) {
    const column = Math.min(columns - 1, Math.floor(x * widthPx / CELL_PX));
    const row = Math.floor(y / CELL_PX);
    if (row < rows) values[row * columns + column]! += count;
  }
  for (let pass = 0; pass < BLUR_PASSES; pass++) {
    for (let row = 0; row < rows; row++) {
      blurLine(values, spare, { start: row * columns, step: 1, length: columns });
    }
    for (let column = 0; column < columns; column++) {
      blurLine(spare, values, { start: column, step: columns, length: rows });
    }
  }
  spare = new Float32Array(0);
  let most = 0;
  for (const value of values) if (value > most) most = value;
  if (most > 0) values = values.map((value) => value / most);
  return { columns, rows, values };
}

/** From no clicks to the most: position, red, green, blue, opacity. The legend has the same colours. */
const STOPS: readonly (readonly [number, number, number, number, number])[] = [
  [0, 52, 74, 190, 0],
  [0.1, 52, 84, 214, 0.28],
  [0.22, 46, 100, 214, 0.56],
  [0.4, 12, 158, 168, 0.74],
  [0.62, 240, 200, 50, 0.84],
  [0.82, 242, 122, 36, 0.9],
  [1, 204, 26, 44, 0.95],
];

/** The colour of a share of the most, from 0 to 1: red, green, blue from 0 to 255, opacity to 1. */
export function heatColour(share: number): readonly [number, number, number, number] {
  const at = Math.min(1, Math.max(0, share)) ** GAMMA;
  const next = Math.max(1, STOPS.findIndex(([position]) => position >= at));
  const [low, high] = [STOPS[next - 1]!, STOPS[next]!];
  const part = (at - low[0]) / (high[0] - low[0]);
  const mixed = (i: 1 | 2 | 3 | 4) => low[i] + (high[i] - low[i]) * part;
  return [mixed(1), mixed(2), mixed(3), mixed(4)];
}

const shades = Array.from({ length: SHADES }, (_, i) => heatColour(i / (SHADES - 1)));

/** The pixels of one tile: red, green, blue and opacity of each cell of its rows. */
export function tilePixels(
  { columns, rows, values }: Density,
  firstRow: number,
): Uint8ClampedArray<ArrayBuffer> {
  const shown = Math.min(TILE_ROWS, rows - firstRow);
  const pixels = new Uint8ClampedArray(columns * shown * 4);
  for (let i = 0; i < columns * shown; i++) {
    const value = values[firstRow * columns + i]!;
    if (value === 0) continue;
    const [red, green, blue, opacity] = shades[Math.round(value * (SHADES - 1))]!;
    pixels.set([red, green, blue, opacity * 255], i * 4);
  }
  return pixels;
}

/** The page that points are drawn on: as tall as the capture, or as far down as anything was clicked. */
export function pageSize(
  { capture, points, scroll }: HeatmapReply,
  device: Device,
): { readonly widthPx: number; readonly heightPx: number } {
  const { widthPx, heightPx } = WINDOWS[device];
  let deepestPx = scroll.at(-1)?.depthPx ?? 0;
  for (const { y, fixed } of points) if (!fixed && y > deepestPx) deepestPx = y;
  const leastPx = capture.height ?? heightPx;
  return {
    widthPx: capture.width ?? widthPx,
    heightPx: Math.min(HEIGHT_PX_MAX, Math.max(leastPx, deepestPx + MARGIN_PX)),
  };
}

/** A stretch of the page, and the share of page views that reached its upper edge. */
export interface Band {
  readonly topPx: number;
  readonly heightPx: number;
  readonly share: number;
}

const BAND_STEPS_PX = [100, 200, 500, 1_000, 2_000, 5_000];
const BANDS_MAX = 24;

/** The page cut into bands of a round height, with the share of page views that reached each. */
export function bandsOf(scroll: readonly Reach[], heightPx: number): readonly Band[] {
  const views = scroll[0]?.reached ?? 0;
  if (views === 0) return [];
  const stepPx = BAND_STEPS_PX.find((step) => heightPx / step <= BANDS_MAX) ?? 5_000;
  const reachedAt = new Map(scroll.map(({ depthPx, reached }) => [depthPx, reached]));
  return Array.from({ length: Math.ceil(heightPx / stepPx) }, (_, i) => ({
    topPx: i * stepPx,
    heightPx: Math.min(stepPx, heightPx - i * stepPx),
    share: (reachedAt.get(i * stepPx) ?? 0) / views,
  }));
}

/** The share of page views that reached a depth; null: nothing was recorded. */
export function reachAt(scroll: readonly Reach[], depthPx: number): number | null {
  const views = scroll[0]?.reached ?? 0;
  if (views === 0) return null;
  return (scroll.find((row) => row.depthPx >= depthPx)?.reached ?? 0) / views;
}

/** A place on a page of that width, in document pixels. */
interface PlaceOnPage {
  readonly xPx: number;
  readonly yPx: number;
  readonly widthPx: number;
}

function pointsAround(
  points: readonly Point[],
  { xPx, yPx, widthPx }: PlaceOnPage,
  radiusPx: number,
): readonly Point[] {
  return points.filter(({ x, y }) => Math.hypot(x * widthPx - xPx, y - yPx) <= radiusPx);
}

/** The point with most clicks within `radiusPx` of a place on the page; null: there is none. */
export function busiestAround(
  points: readonly Point[],
  at: PlaceOnPage,
  radiusPx: number,
): Point | null {
  return pointsAround(points, at, radiusPx)
    .reduce<Point | null>((most, each) => each.count > (most?.count ?? 0) ? each : most, null);
}

/** Clicks within `radiusPx` of a place on the page. */
export function clicksAround(
  points: readonly Point[],
  at: PlaceOnPage,
  radiusPx: number,
): number {
  return pointsAround(points, at, radiusPx).reduce((sum, { count }) => sum + count, 0);
}
