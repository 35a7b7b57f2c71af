/// <reference lib="dom" />
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { CELL_PX, type Density, densityOf, TILE_ROWS, tilePixels } from "./heatmaps_density.ts";
import type { Point } from "./heatmaps_replies.ts";

/** The page as it is drawn. */
export interface Sheet {
  /** The document's size in CSS pixels. */
  readonly widthPx: number;
  readonly heightPx: number;
  /** Screen pixels per document pixel. */
  readonly scale: number;
}

interface TileProps {
  readonly density: Density;
  readonly firstRow: number;
  readonly scale: number;
}

/** A part of the density, at its own resolution: the browser smooths it to the size that is shown. */
function DensityTile({ density, firstRow, scale }: TileProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { columns } = density;
  const rows = Math.min(TILE_ROWS, density.rows - firstRow);
  useEffect(() => {
    const pixels = tilePixels(density, firstRow);
    const context = canvas.current?.getContext("2d");
    context?.putImageData(new ImageData(pixels, columns, rows), 0, 0);
  }, [density, firstRow]);
  return (
    <canvas
      ref={canvas}
      class="heatmaps-tile"
      width={columns}
      height={rows}
      style={{
        top: `${firstRow * CELL_PX * scale}px`,
        width: `${columns * CELL_PX * scale}px`,
        height: `${rows * CELL_PX * scale}px`,
      }}
    />
  );
}

/** Where a page was clicked, as smooth colours. However tall the page, each canvas stays small. */
export function DensityLayer({ points, sheet }: { points: readonly Point[]; sheet: Sheet }) {
  const { widthPx, heightPx, scale } = sheet;
  const density = useMemo(() => densityOf(points, { widthPx, heightPx }), [
    points,
    widthPx,
    heightPx,
  ]);
  const tiles = Math.ceil(density.rows / TILE_ROWS);
  return (
    <>
      {Array.from(
        { length: tiles },
        (_, i) => <DensityTile key={i} density={density} firstRow={i * TILE_ROWS} scale={scale} />,
      )}
    </>
  );
}

const DOT_TILE_PX = 800;
const DOT_RADIUS_PX_MIN = 2.5;
const DOT_RADIUS_PX_MAX = 13;
/** More is not seen, and takes memory. */
const PIXEL_RATIO_MAX = 2;

interface DotTileProps {
  readonly points: readonly Point[];
  readonly sheet: Sheet;
  /** On the screen. */
  readonly topPx: number;
  readonly heightPx: number;
  /** The page is no taller than this tile, which is then always drawn. */
  readonly isOnly: boolean;
}

function drawDots(canvas: HTMLCanvasElement, { points, sheet, topPx, heightPx }: DotTileProps) {
  const ratio = Math.min(PIXEL_RATIO_MAX, devicePixelRatio);
  canvas.width = Math.round(sheet.widthPx * sheet.scale * ratio);
  canvas.height = Math.round(heightPx * ratio);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(ratio, ratio);
  context.fillStyle = "rgb(255 176 84 / 55%)";
  context.strokeStyle = "rgb(255 214 160 / 90%)";
  const most = points.reduce((max, { count }) => Math.max(max, count), 1);
  for (const { x, y, count } of points) {
    const centrePx = y * sheet.scale - topPx;
    const radiusPx = DOT_RADIUS_PX_MIN +
      (DOT_RADIUS_PX_MAX - DOT_RADIUS_PX_MIN) * Math.sqrt((count - 1) / most);
    if (centrePx < -radiusPx || centrePx > heightPx + radiusPx) continue;
    context.beginPath();
    context.arc(x * sheet.widthPx * sheet.scale, centrePx, radiusPx, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

/** A tile of dots, drawn while it is near the window: sharp dots take many pixels. */
function DotTile(props: DotTileProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { points, sheet, topPx, heightPx, isOnly } = props;
  const [isNear, setNear] = useState(isOnly);
  useEffect(() => {
    if (isOnly) return setNear(true);
    const seen = new IntersectionObserver(
      (entries) => setNear(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: `${DOT_TILE_PX}px` },
    );
    seen.observe(canvas.current!);
    return () => seen.disconnect();
  }, [isOnly]);
  useEffect(() => {
    if (isNear) drawDots(canvas.current!, props);
    else canvas.current!.width = canvas.current!.height = 0;
  }, [isNear, points, sheet.widthPx, sheet.scale, topPx, heightPx]);
  return (
    <canvas
      ref={canvas}
      class="heatmaps-tile"
      style={{
        top: `${topPx}px`,
        width: `${sheet.widthPx * sheet.scale}px`,
        height: `${heightPx}px`,
      }}
    />
  );
}

/** Where a page was clicked, as dots that grow with the clicks. */
export function DotLayer({ points, sheet }: { points: readonly Point[]; sheet: Sheet }) {
  const shownPx = sheet.heightPx * sheet.scale;
  const tiles = Math.ceil(shownPx / DOT_TILE_PX);
  return (
    <>
      {Array.from({ length: tiles }, (_, i) => (
        <DotTile
          key={i}
          points={points}
          sheet={sheet}
          isOnly={tiles === 1}
          topPx={i * DOT_TILE_PX}
          heightPx={Math.min(DOT_TILE_PX, shownPx - i * DOT_TILE_PX)}
        />
      ))}
    </>
  );
}
