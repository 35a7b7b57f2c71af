import { z } from "zod";
import { type EventMatch, readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import type { Read } from "../../scans/read.ts";
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
import type { Behind } from "../behind/behind_tally.ts";
import { askingOf } from "../answer/report.ts";
import { findCellPeople, type PeopleQuestion, SELECTOR } from "./heatmap_scan.ts";
import { type Asked, BIT_OF, HEATMAPS, pageFilter, POINT, readAsked } from "./heatmaps.ts";

const USAGE =
  'Use {"point":{"x","y","fixed"}}, {"element":selector}, {"depthPx":200} or {"sample":"visitors"}.';

const Place = z.union([
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

/** Who clicked in a cell, on an element, or anywhere; whose page views were seen down to a depth. */
type Place = z.output<typeof Place>;

function matchOf({ pages }: Asked, place: Place): EventMatch {
  const page = pageFilter(pages);
  if ("depthPx" in place) return { name: "scroll", filters: [page] };
  if (!("element" in place)) return { name: "click", filters: [page] };
  const element = { field: `properties.${SELECTOR}`, op: "is", values: [place.element] } as const;
  return { name: "click", filters: [page, element] };
}

/** The bits that a cell must have: those of the kind, and of the place. */
function cellsOf({ kind }: Asked, place: Place): Pick<PeopleQuestion, "mask" | "bits" | "stepMin"> {
  if ("sample" in place) return { mask: 0, bits: 0, stepMin: 0 };
  if ("depthPx" in place) {
    const stepMin = Math.ceil(place.depthPx / CELL_STEP_PX);
    return { mask: CELL_PLACED, bits: CELL_PLACED, stepMin };
  }
  const ofKind = BIT_OF[kind]!;
  if ("element" in place) return { mask: ofKind, bits: ofKind, stepMin: 0 };
  const { x, y, fixed } = place.point;
  const point = placeOf(x, y) | (fixed ? CELL_FIXED : 0);
  return { mask: ofKind | POINT, bits: ofKind | point, stepMin: 0 };
}

/** Scrolls have no points, and clicks no depth. */
function refusePlace({ kind }: Asked, place: Place): void {
  if ("sample" in place || "depthPx" in place === (kind === "scroll")) return;
  const words = kind === "scroll" ? "has depths" : "has points and elements";
  throw invalidParameter("place", `The kind ${kind} ${words}.`);
}

async function find(read: Read, asked: Asked, place: Place): Promise<Behind> {
  const { device } = asked;
  return await findCellPeople(read, {
    match: matchOf(asked, place),
    device,
    ...cellsOf(asked, place),
  });
}

/** The visitors of a heat map: of a point, of an element, of all clicks, and of page views by their depth. */
export const HEATMAP_PEOPLE: NumberedRead = {
  name: "heatmaps",
  parameters: Object.keys(HEATMAPS.parameters),
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const asked = readAsked(query);
    const place = readJson(query, "place", Place)!;
    refusePlace(asked, place);
    return {
      find: (read) => find(read, asked, place),
      asking: askingOf({ of: [matchOf(asked, place)] }),
    };
  },
};
