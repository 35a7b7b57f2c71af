import { z } from "zod";
import { type EventMatch, readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import {
  CELL_FIXED,
  CELL_LINE_PX,
  CELL_LINES_MAX,
  CELL_PLACED,
  CELL_STEP_PX,
  CELL_STEPS_MAX,
  placeOf,
} from "../../store/heatmap_cell.ts";
import { type NumberedRead, PlaceText, refuseListed } from "../behind/behind.ts";
import { type CellPeopleQuestion, findCellPeople, SELECTOR } from "./heatmap_scan.ts";
import {
  BIT_OF,
  HEATMAP_QUERY,
  type HeatmapParameters,
  pageFilter,
  POINT,
  readHeatmapParameters,
} from "./heatmaps.ts";

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
