import type { EventRow } from "../../src/store/event_row.ts";
import { type ReadParams, selectedInRange } from "./filters.ts";
import { actorsOf, byCodeUnits, type Fact, groupBy, type World } from "./world.ts";

export type HeatmapDevice = "desktop" | "tablet" | "mobile";

export interface HeatmapParams extends ReadParams {
  /** Either a path, or a pattern whose `*` stands for any text, slashes included. */
  readonly path?: string;
  readonly pattern?: string;
  readonly device: HeatmapDevice;
  readonly kind: "click" | "rage" | "dead" | "scroll";
}

export interface HeatmapPoint {
  readonly x: number;
  readonly y: number;
  readonly fixed: boolean;
  readonly count: number;
  readonly visitors: number;
}

/** The page, the device and the kind, without the parameters that all reads share. */
export type OwnOfHeatmap = Omit<HeatmapParams, keyof ReadParams>;

export type HeatmapPlace =
  | { readonly point: Pick<HeatmapPoint, "x" | "y" | "fixed"> }
  | { readonly element: string }
  | { readonly depthPx: number }
  | { readonly sample: "visitors" };

export interface HeatmapResult {
  readonly points: readonly HeatmapPoint[];
  readonly scroll: readonly { readonly depthPx: number; readonly reached: number }[];
  readonly sample: { readonly visitors: number; readonly clicks: number };
}

export interface HeatmapPathRow {
  readonly path: string;
  readonly visitors: number;
  readonly clicks: number;
}

const COLUMNS = 200;
const CELL_PX = 10;
const LINES_MAX = 131_071;
const DEPTH_STEP_PX = 100;

/** `GET /v1/heatmaps` without the capture. */
export function readHeatmap(world: World, params: HeatmapParams): HeatmapResult {
  const clicks = onPage(world, params).filter(({ row }) => row.name === "click");
  const ofKind = clicks.filter((fact) => isOfKind(fact, params.kind));
  return {
    points: pointsOf(ofKind),
    scroll: params.kind === "scroll" ? scrollOf(world, params) : [],
    sample: { visitors: actorsOf(clicks).size, clicks: clicks.length },
  };
}

function isOfKind({ row }: Fact, kind: HeatmapParams["kind"]): boolean {
  return kind === "click" || (kind === "rage" && row.rage === true) ||
    (kind === "dead" && row.dead === true);
}

/** The clicks or scrolls that a number of a heat map counts the actors of. */
export function factsAt(world: World, params: HeatmapParams, place: HeatmapPlace): Fact[] {
  const ofName = (name: string) => onPage(world, params).filter(({ row }) => row.name === name);
  if ("depthPx" in place) {
    return ofName("scroll")
      .filter(({ row: { depth_px: depthPx } }) => depthPx !== null && depthPx >= place.depthPx);
  }
  const clicks = ofName("click");
  if ("sample" in place) return clicks;
  const ofKind = clicks.filter((fact) => isOfKind(fact, params.kind));
  if ("element" in place) {
    return ofKind.filter(({ row }) => row.selector === place.element);
  }
  const { x, y, fixed } = place.point;
  return ofKind.filter((fact) => {
    const [point] = pointsOf([fact]);
    return point?.x === x && point.y === y && point.fixed === fixed;
  });
}

/** Every selected event of the page on the device. */
function onPage(world: World, { path, pattern, device, ...params }: HeatmapParams): Fact[] {
  return selectedInRange(world, params).filter(({ row }) =>
    row.path !== null && viewportDevice(row) === device &&
    (path === undefined ? isLike(row.path, pattern!) : row.path === path)
  );
}

function isLike(path: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join(".*")}$`, "su").test(path);
}

function viewportDevice({ viewport_width: width }: EventRow): HeatmapDevice {
  if (width === null || width >= 1024) return "desktop";
  return width < 768 ? "mobile" : "tablet";
}

/** Clicks by the cell that they fall into, each told by its centre. */
function pointsOf(clicks: readonly Fact[]): HeatmapPoint[] {
  const cells = groupBy(
    clicks.filter(({ row }) => row.pointer_x !== null && row.pointer_y !== null),
    ({ row }) => {
      const column = Math.min(COLUMNS - 1, Math.max(0, Math.floor(row.pointer_x! * COLUMNS)));
      const line = Math.floor(Math.min(LINES_MAX * CELL_PX, Math.max(0, row.pointer_y!)) / CELL_PX);
      return JSON.stringify([column, line, row.fixed === true]);
    },
  );
  return [...cells].map(([key, own]): HeatmapPoint => {
    const [column, line, fixed] = JSON.parse(key) as [number, number, boolean];
    return {
      x: (column + 0.5) / COLUMNS,
      y: (line + 0.5) * CELL_PX,
      fixed,
      count: own.length,
      visitors: actorsOf(own).size,
    };
  }).sort((a, b) =>
    b.count - a.count || b.visitors - a.visitors || a.y - b.y || a.x - b.x ||
    Number(a.fixed) - Number(b.fixed)
  );
}

/** How many page views reached each step of depth, from the top down to the deepest. */
function scrollOf(world: World, params: HeatmapParams) {
  const deepestPx = Math.max(-1, ...depthsPx(world, params));
  const count = Math.floor(deepestPx / DEPTH_STEP_PX) + 1;
  return Array.from({ length: count }, (_, step) => {
    const depthPx = step * DEPTH_STEP_PX;
    return { depthPx, reached: reachedDepth(world, params, depthPx) };
  });
}

function depthsPx(world: World, params: HeatmapParams): number[] {
  return onPage(world, params)
    .map(({ row }) => row.name === "scroll" ? row.depth_px : null)
    .filter((depthPx) => depthPx !== null);
}

/** Page views of which this document pixel was seen: true at any depth, whatever the steps. */
export function reachedDepth(world: World, params: HeatmapParams, depthPx: number): number {
  return depthsPx(world, params).filter((deepestPx) => deepestPx >= depthPx).length;
}

/** `GET /v1/heatmaps/paths` without the states of the captures. */
export function readHeatmapPaths(world: World, params: ReadParams): { rows: HeatmapPathRow[] } {
  const selected = selectedInRange(world, params)
    .filter(({ row }) => row.name === "page_view" || row.name === "click");
  const rows = [...groupBy(selected, ({ row }) => row.path)].flatMap(([path, own]) =>
    path === null ? [] : [{
      path,
      visitors: actorsOf(own).size,
      clicks: own.filter(({ row }) => row.name === "click").length,
    }]
  );
  return {
    rows: rows.sort((a, b) =>
      b.visitors - a.visitors || b.clicks - a.clicks || byCodeUnits(a.path, b.path)
    ),
  };
}
