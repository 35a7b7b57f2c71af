import { z } from "zod";
import { pagePath } from "../../screenshots/queue/visited_paths.ts";
import { CAPTURE_DEVICES, type CaptureDevice } from "../../screenshots/capture_status.ts";
import {
  HEATMAP_ELEMENTS_MAX,
  HEATMAP_PATTERN_LENGTH_MAX,
  LOCATION_LENGTH_MAX,
} from "../../limits.ts";
import { type EventMatch, type Filter, readJson } from "../../query/filters.ts";
import { spanOf } from "../../query/range.ts";
import { knownValues } from "../../query/known_values.ts";
import {
  invalidParameter,
  oneOf,
  readAll,
  readCount,
  storableText,
} from "../../query/parameters.ts";
import {
  CELL_COLUMNS,
  CELL_DEAD,
  CELL_DEVICE,
  CELL_FIXED,
  CELL_LINE_PX,
  CELL_LINES_MAX,
  CELL_PLACED,
  CELL_RAGE,
  CELL_STEP_PX,
  CELL_STEPS_MAX,
  columnOf,
  lineOf,
  placeOf,
  stepOf,
} from "../../store/heatmap_cell.ts";
import type { Read } from "../../scans/read.ts";
import { compareBytes } from "../../scans/value_texts.ts";
import { type CountRows, firstRows } from "./actor_counts.ts";
import { captureOf, type CaptureReading, CaptureShown } from "./heatmap_capture.ts";
import {
  type CellPeopleQuestion,
  findCellPeople,
  type FoundCells,
  scanCells,
  SELECTOR,
} from "./heatmap_scan.ts";
import { isPageShown } from "./shared_picture.ts";
import type { Answer, Report } from "../answer/report.ts";
import { isSmall } from "../answer/small_groups.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";

const KINDS = ["click", "rage", "dead", "scroll"] as const;
type Kind = typeof KINDS[number];

/** One page by its path, or all that match a pattern with `*`; never both. */
type Pages = ReturnType<typeof readPages>;

/** How many elements are listed: none by default, since each click's selector must be looked up. */
const ELEMENTS = { min: 0, max: HEATMAP_ELEMENTS_MAX, otherwise: 0 };

/** The bits of a cell that distinguish points: its position, and whether it is fixed. */
const POINT = ~(CELL_DEVICE | CELL_RAGE | CELL_DEAD);
/** The bits of a scroll's cell that are its depth. */
const CELL_STEP = ~(CELL_DEVICE | CELL_PLACED | CELL_FIXED | CELL_RAGE | CELL_DEAD);

/** The bit that the cells of shown clicks have; 0: all clicks are shown; null: none are. */
const BIT_OF: Readonly<Record<Kind, number | null>> = {
  click: 0,
  rage: CELL_RAGE,
  dead: CELL_DEAD,
  scroll: null,
};

function text(query: URLSearchParams, name: "path" | "pattern", lengthMax: number): string | null {
  return storableText(query, name, lengthMax, `Use at most ${lengthMax} characters, and no NUL.`);
}

function readPages(query: URLSearchParams) {
  const { path, pattern } = readAll({
    path: () => text(query, "path", LOCATION_LENGTH_MAX),
    pattern: () => text(query, "pattern", HEATMAP_PATTERN_LENGTH_MAX),
  });
  if (path === null && pattern === null) throw invalidParameter("path", "Give it, or `pattern`.");
  if (path !== null && pattern !== null) {
    throw invalidParameter("pattern", "Give it instead of `path`, not beside it.");
  }
  return { path, pattern };
}

/** Returns the page, or the pages of the pattern, as a filter. */
function pageFilter({ path, pattern }: Pages): Filter {
  return path === null
    ? { field: "path", op: "glob", values: [pattern!] }
    : { field: "path", op: "is", values: [path] };
}

/** Returns the centres of clicked cells, most clicks first; only cells of at least `visitorsMin` visitors. */
function pointsOf(points: CountRows, visitorsMin: number) {
  const inOrder = (a: number, b: number) =>
    lineOf(a) - lineOf(b) || columnOf(a) - columnOf(b) || a - b;
  return firstRows(points, Infinity, inOrder, visitorsMin).map(({ key, count, visitors }) => ({
    x: (columnOf(key) + 0.5) / CELL_COLUMNS,
    y: (lineOf(key) + 0.5) * CELL_LINE_PX,
    fixed: (key & CELL_FIXED) !== 0,
    count,
    visitors,
  }));
}

/** Returns the elements with the most clicks, most first, that at least `visitorsMin` visitors clicked. */
async function firstElements({ elements, textsOf }: FoundCells, rows: number, visitorsMin: number) {
  const selectors = await textsOf([...elements.keys]);
  const compare = (a: number, b: number) => compareBytes(selectors.get(a)!, selectors.get(b)!);
  return firstRows(elements, rows, compare, visitorsMin)
    .map(({ key, count, visitors }) => ({ selector: selectors.get(key)!, count, visitors }));
}

/** Returns the deepest step that at least `visitorsMin` visitors reached; -1: none. */
function deepestOf({ keys, visitors }: CountRows, visitorsMin: number): number {
  const steps = Array.from(keys, (key, i) => ({ step: stepOf(key), visitors: visitors[i]! }));
  let reached = 0;
  for (const { step, visitors } of steps.sort((a, b) => b.step - a.step)) {
    reached += visitors;
    if (reached >= visitorsMin) return step;
  }
  return -1;
}

/** Returns how many page views were seen down to each step of depth, from the top to the deepest. */
async function scrollOf(read: Read, page: Filter, device: CaptureDevice) {
  const match = { name: "scroll", filters: [page] };
  const question = { match, device, wanted: 0, point: CELL_STEP, elements: false };
  const { points: { keys, counts }, highest } = await scanCells(read, question);
  const deepest = deepestOf(highest, read.visitorsMin);
  const viewsAt = new Map(Array.from(keys, (key, i) => [stepOf(key), counts[i]!]));
  const scroll: { depthPx: number; reached: number }[] = [];
  let reached = 0;
  for (let step = Math.max(-1, ...viewsAt.keys()); step >= 0; step--) {
    reached += viewsAt.get(step) ?? 0;
    if (step <= deepest) scroll.push({ depthPx: step * CELL_STEP_PX, reached });
  }
  return scroll.reverse();
}

type HeatmapParameters = ReturnType<typeof readHeatmapParameters>;

/** Reads the report's own parameters; `elements`: how many are listed. */
function readHeatmapParameters(query: URLSearchParams) {
  return readAll({
    pages: () => readPages(query),
    device: () => oneOf(query, "device", CAPTURE_DEVICES, "desktop"),
    kind: () => oneOf(query, "kind", KINDS, "click"),
    elements: () => readCount(query, "elements", ELEMENTS),
  });
}

/** Whether any event has the path. */
async function isVisited({ sql, scope }: Read, { path }: Pages): Promise<boolean> {
  if (path === null) return false;
  const known = await knownValues(sql, scope.projectId, new Map([["path", new Set([path])]]));
  return known.has("path");
}

/** Whether the caller may see the page's picture: a share shows those of pages with enough visitors only. */
async function isShown(read: Read, { path }: Pages): Promise<boolean> {
  const { range, visitorsMin, isShared } = read;
  if (!isShared) return true;
  const page = path === null ? null : pagePath(path);
  return page !== null && await isPageShown(read, spanOf(range), page, visitorsMin);
}

async function answer(
  captures: CaptureReading,
  read: Read,
  { pages, device, kind, elements }: HeatmapParameters,
): Promise<Answer> {
  const { visitorsMin } = read;
  const page = pageFilter(pages);
  const match = { name: "click", filters: [page] };
  const question = { match, device, wanted: BIT_OF[kind], point: POINT, elements: elements > 0 };
  const isPictureShown = await isShown(read, pages);
  // The state of the picture is read while threads scan.
  const looking = isVisited(read, pages).then((visited) =>
    captureOf(read, captures, pages.path, device, { isVisited: visited, isShown: isPictureShown })
  );
  looking.catch(() => {});
  const found = await scanCells(read, question);
  return {
    query: { ...pages, device, kind, elements },
    result: {
      capture: await looking,
      points: pointsOf(found.points, visitorsMin),
      scroll: kind === "scroll" ? await scrollOf(read, page, device) : [],
      ...elements === 0 ? {} : { elements: await firstElements(found, elements, visitorsMin) },
      sample: isSmall(found.visitors, visitorsMin)
        ? null
        : { visitors: found.visitors, clicks: found.events },
    },
  };
}

/** A clicked element, named by the selector that the clicks carry. */
export const ElementShown = z.object({
  selector: z.string(),
  count: z.int().describe("Clicks on the element, those without a position too."),
  visitors: z.int(),
}).meta({ id: "HeatmapElement" });

export const HEATMAP_REPLY = {
  capture: CaptureShown,
  points: z.array(z.object({
    x: z.number().describe("Across the document's width: 0 left, 1 right."),
    y: z.number().describe("CSS pixels from the top: of the window, if fixed."),
    fixed: z.boolean().describe("The target keeps its place while the page scrolls."),
    count: z.int().describe("Clicks in the cell."),
    visitors: z.int(),
  })).describe("Most clicks first; empty for the kind `scroll`."),
  scroll: z.array(z.object({
    depthPx: z.int(),
    reached: z.int().describe("Page views that were seen down to here."),
  })).describe("From the top down; empty for other kinds than `scroll`."),
  elements: z.array(ElementShown).optional().describe(
    "With `elements`: most clicks first, then most visitors; none for `scroll`.",
  ),
  sample: z.object({ visitors: z.int(), clicks: z.int() }).nullable().describe(
    "Null: too few visitors clicked for a share to tell.",
  ),
};

/** Descriptions of the report's own parameters. */
const HEATMAP_QUERY = {
  path: "Path of the page. Give this or `pattern`",
  pattern:
    `Pages by path, up to ${HEATMAP_PATTERN_LENGTH_MAX} characters; * is any text, slashes included`,
  device: "desktop (default), tablet or mobile, by the width of the window",
  kind: "click (default: all clicks), rage, dead or scroll",
  elements:
    `How many of the clicked elements are listed, up to ${HEATMAP_ELEMENTS_MAX}. Default: 0`,
};

/** `GET /v1/heatmaps`: where a page was clicked, or how far down it was seen, over its picture. */
export const createHeatmaps = (captures: CaptureReading): Report => ({
  path: "/v1/heatmaps",
  summary: "Clicks of a page by where they hit, or how far down it was seen",
  parameters: HEATMAP_QUERY,
  semantics:
    "Selected clicks in the range on the path, in windows of the device's width (mobile < 768, " +
    "tablet < 1024, else or unknown desktop). Points are the centres of cells of 1/200 of the width by 10 px, " +
    "with their clicks and distinct visitors; targets that stay fixed apart. `sample` is all clicks, those " +
    "without a position too, and who made them, the same in each kind. `scroll`: page views " +
    "whose deepest pixel is at least depthPx, every 100 px down to the deepest. `elements`: all clicks of " +
    "the kind that carry a selector, by it.",
  reply: HEATMAP_REPLY,
  ask: (query) => {
    const parameters = readHeatmapParameters(query);
    return { answer: (read) => answer(captures, read, parameters) };
  },
});

const USAGE =
  'Use {"point":{"x","y","fixed"}}, {"element":selector}, {"depthPx":200} or {"sample":"visitors"}.';

const HeatmapNumber = z.union([
  z.strictObject({
    point: z.strictObject({
      x: z.number().min(0).max(1),
      y: z.number().min(0).max((CELL_LINES_MAX + 1) * CELL_LINE_PX),
      fixed: z.boolean(),
    }),
  }),
  z.strictObject({ element: PlaceText }),
  z.strictObject({ depthPx: z.int().min(0).max(CELL_STEPS_MAX * CELL_STEP_PX) }),
  z.strictObject({ sample: z.literal("visitors") }),
], USAGE);

/**
 * The number of a heatmap that `of` names: the visitors who clicked in a cell, on an element or anywhere, or
 * whose page views were seen down to a depth.
 */
type HeatmapNumber = z.output<typeof HeatmapNumber>;

function matchOf({ pages }: HeatmapParameters, number: HeatmapNumber): EventMatch {
  const page = pageFilter(pages);
  if ("depthPx" in number) return { name: "scroll", filters: [page] };
  if (!("element" in number)) return { name: "click", filters: [page] };
  const element = { field: `properties.${SELECTOR}`, op: "is", values: [number.element] } as const;
  return { name: "click", filters: [page, element] };
}

/** Returns the bits that a cell must have: those of the kind, and of the number's point or depth. */
function cellsOf(
  { kind }: HeatmapParameters,
  number: HeatmapNumber,
): Pick<CellPeopleQuestion, "mask" | "bits" | "stepMin"> {
  if ("sample" in number) return { mask: 0, bits: 0, stepMin: 0 };
  if ("depthPx" in number) {
    const stepMin = Math.ceil(number.depthPx / CELL_STEP_PX);
    return { mask: CELL_PLACED, bits: CELL_PLACED, stepMin };
  }
  const ofKind = BIT_OF[kind]!;
  if ("element" in number) return { mask: ofKind, bits: ofKind, stepMin: 0 };
  const { x, y, fixed } = number.point;
  const point = placeOf(x, y) | (fixed ? CELL_FIXED : 0);
  return { mask: ofKind | POINT, bits: ofKind | point, stepMin: 0 };
}

/** Throws `invalid_parameter`: scrolls have no points, and clicks no depth. */
function refuseWrongNumber({ kind }: HeatmapParameters, number: HeatmapNumber): void {
  if ("sample" in number || "depthPx" in number === (kind === "scroll")) return;
  const words = kind === "scroll" ? "has depths" : "has points and elements";
  throw invalidParameter("place", `The kind ${kind} ${words}.`);
}

/** Lists the visitors behind a number of a heatmap. */
export const HEATMAP_PEOPLE: NumberedRead = {
  name: "heatmaps",
  parameters: Object.keys(HEATMAP_QUERY),
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const parameters = readHeatmapParameters(query);
    const number = readJson(query, "place", HeatmapNumber)!;
    refuseWrongNumber(parameters, number);
    const match = matchOf(parameters, number);
    const cells = { device: parameters.device, ...cellsOf(parameters, number) };
    return {
      find: (read) => findCellPeople(read, { match, ...cells }),
      matches: [match],
    };
  },
};
