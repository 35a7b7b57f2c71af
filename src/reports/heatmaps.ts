import { z } from "zod";
import { CAPTURE_DEVICES, type CaptureDevice } from "../captures/capture_status.ts";
import type { Sql } from "../db/sql.ts";
import {
  HEATMAP_ELEMENTS_MAX,
  HEATMAP_PATTERN_LENGTH_MAX,
  LOCATION_LENGTH_MAX,
} from "../limits.ts";
import { invalidParameter, oneOf, readAll } from "../selection/parameters.ts";
import type { Range } from "../selection/range.ts";
import { factConditions, type Scope } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import type { Read } from "../walks/read.ts";
import { ElementShown, elementsOf, readElements } from "./heatmap_elements.ts";
import { captureOf, type CaptureReading, CaptureShown } from "./heatmap_capture.ts";
import type { Answer, Report } from "./report.ts";

const KINDS = ["click", "rage", "dead", "scroll"] as const;
type Kind = typeof KINDS[number];

/** One page, or with `*` for any text all that match; never both. */
interface Pages {
  readonly path: string | null;
  readonly pattern: string | null;
}

/** The grid: columns of the document's width, and lines of as many pixels. */
const GRID_COLUMNS = 200;
const GRID_LINE_PX = 10;
/** Between two rows of scroll depth. */
const SCROLL_STEP_PX = 100;

/** No term has it. */
const NO_TERM = 0;

/** What the fold keeps of clicks and scrolls: see the comment of `facts.spot` for its bits. */
const HAS_PLACE = "f.spot & 4 <> 0";
const DEVICE_BITS: Readonly<Record<CaptureDevice, number>> = { desktop: 0, tablet: 1, mobile: 2 };
/** Which clicks (alias f) become points. */
const OF_KIND: Readonly<Record<Kind, string>> = {
  click: "true",
  rage: "f.spot & 16 <> 0",
  dead: "f.spot & 32 <> 0",
  scroll: "false",
};

interface CellRow extends Record<string, unknown> {
  /** Null in the one row that sums up all clicks, whatever the kind. */
  readonly grid_column: number | null;
  readonly grid_line: number;
  readonly fixed: boolean;
  readonly clicks: number;
  readonly visitors: number;
}

function text(query: URLSearchParams, name: "path" | "pattern", lengthMax: number): string | null {
  const value = query.get(name);
  if (value === null || value === "") return null;
  if (value.length > lengthMax || value.includes("\0") || !value.isWellFormed()) {
    throw invalidParameter(name, `Use at most ${lengthMax} characters, and no NUL.`);
  }
  return value;
}

function readPages(query: URLSearchParams): Pages {
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

/** A LIKE pattern: `*` is any text, slashes included; matching takes time linear in the path. */
function likeOf(pattern: string): string {
  return pattern.replace(/[\\%_]/g, "\\$&").replace(/\*+/g, "%");
}

interface Wanted {
  readonly scope: Scope;
  readonly range: Range;
  readonly name: "click" | "scroll";
  /** The term of the one path that is meant, or a pattern of LIKE. */
  readonly page: { readonly pathId: number } | { readonly like: string };
  readonly device: CaptureDevice;
}

/** Conditions on facts (alias f). */
function eventConditions(params: SqlParams, { scope, range, name, page, device }: Wanted): string {
  const span = { fromMs: range.from.getTime(), toMs: range.to.getTime() };
  const onPage = "pathId" in page
    ? `f.path_id = ${params.int(page.pathId)}`
    : `f.path_id IN (SELECT t.term_id FROM terms t WHERE t.project_id = ${
      params.int(scope.projectId)
    } AND t.term LIKE ${params.text(page.like)})`;
  const selected = factConditions(params, scope, span, { name, filters: [] });
  return [selected, onPage, `f.spot & 3 = ${DEVICE_BITS[device]}`].join(" AND ");
}

/**
 * The page as conditions want it. The path is looked up first: statistics know how often each is
 * clicked, and only for one that is known beforehand does the planner ask them.
 */
async function pageOf(
  sql: Sql,
  { projectId }: Scope,
  { path, pattern }: Pages,
): Promise<Wanted["page"]> {
  if (path === null) return { like: likeOf(pattern ?? "") };
  const params = new SqlParams();
  const [found] = await sql.query<{ term_id: number }>(
    `SELECT term_id FROM terms WHERE project_id = ${params.int(projectId)}
      AND digest = left(encode(sha256(convert_to(${params.text(path)}, 'UTF8')), 'hex'), 32)::uuid`,
    params.values,
  );
  return { pathId: found?.term_id ?? NO_TERM };
}

/**
 * Clicks by the cell that they fall into, most first, and before all one row of all clicks: those
 * without a position too. The numbers of a cell stand in `spot`, which the index by path holds.
 */
const cells = (conditions: string, kind: Kind) => `
WITH clicks AS MATERIALIZED (
  SELECT f.actor_id, f.spot >> 6 & 255 AS grid_column, f.spot >> 14 AS grid_line,
    f.spot & 8 <> 0 AS fixed, (${OF_KIND[kind]}) AND ${HAS_PLACE} AS shown
  FROM facts f
  WHERE ${conditions}
)
SELECT 0 AS part, NULL::int AS grid_column, NULL::int AS grid_line, NULL::bool AS fixed,
  count(*)::int AS clicks, count(DISTINCT actor_id)::int AS visitors
FROM clicks
UNION ALL
SELECT 1, grid_column, grid_line, fixed, count(*)::int, count(DISTINCT actor_id)::int
FROM clicks WHERE shown GROUP BY grid_column, grid_line, fixed
ORDER BY part, clicks DESC, visitors DESC, grid_line, grid_column, fixed`;

/** Page views by the step of depth that each reached. */
const depths = (conditions: string) => `
SELECT f.spot >> 6 AS step, count(*)::int AS views
FROM facts f
WHERE ${conditions} AND ${HAS_PLACE}
GROUP BY step ORDER BY step DESC`;

/** Where a cell's centre is. */
function pointOf({ grid_column, grid_line, fixed, clicks, visitors }: CellRow) {
  return {
    x: (grid_column! + 0.5) / GRID_COLUMNS,
    y: (grid_line + 0.5) * GRID_LINE_PX,
    fixed,
    count: clicks,
    visitors,
  };
}

async function scrollOf(sql: Sql, conditions: string, params: SqlParams) {
  const rows = await sql.query<{ step: number; views: number }>(depths(conditions), params.values);
  const viewsAt = new Map(rows.map(({ step, views }) => [step, views]));
  const deepest = rows[0]?.step ?? -1;
  const scroll: { depthPx: number; reached: number }[] = [];
  let reached = 0;
  for (let step = deepest; step >= 0; step--) {
    reached += viewsAt.get(step) ?? 0;
    scroll.push({ depthPx: step * SCROLL_STEP_PX, reached });
  }
  return scroll.reverse();
}

interface Asked {
  readonly pages: Pages;
  readonly device: CaptureDevice;
  readonly kind: Kind;
  /** How many elements are listed. */
  readonly elements: number;
}

function readAsked(query: URLSearchParams): Asked {
  return readAll({
    pages: () => readPages(query),
    device: () => oneOf(query, "device", CAPTURE_DEVICES, "desktop"),
    kind: () => oneOf(query, "kind", KINDS, "click"),
    elements: () => readElements(query),
  });
}

async function answer(
  captures: CaptureReading,
  read: Read,
  { pages, device, kind, elements }: Asked,
): Promise<Answer> {
  const { sql, project, scope, range, asOfMs } = read;
  const page = await pageOf(sql, scope, pages);
  const wanted = { scope, range, page, device };
  const ofClicks = new SqlParams();
  const clicks = eventConditions(ofClicks, { ...wanted, name: "click" });
  const [sample, ...shown] = await sql.query<CellRow>(cells(clicks, kind), ofClicks.values);
  const ofScrolls = new SqlParams();
  const scroll = kind === "scroll"
    ? await scrollOf(sql, eventConditions(ofScrolls, { ...wanted, name: "scroll" }), ofScrolls)
    : [];
  const ofElements = new SqlParams();
  const clicked = eventConditions(ofElements, { ...wanted, name: "click" });
  const listed = await elementsOf(
    sql,
    ofElements,
    `${clicked} AND (${OF_KIND[kind]})`,
    elements,
  );
  const isVisited = "pathId" in page && page.pathId !== NO_TERM;
  const pictured = { project, path: pages.path, device, isVisited, asOfMs };
  return {
    query: { ...pages, device, kind, elements },
    result: {
      capture: await captureOf(sql, captures, pictured),
      points: shown.map(pointOf),
      scroll,
      ...elements === 0 ? {} : { elements: listed },
      sample: { visitors: sample!.visitors, clicks: sample!.clicks },
    },
  };
}

const HEATMAPS: Omit<Report, "ask"> = {
  path: "/v1/heatmaps",
  summary: "Clicks of a page by where they hit, or how far down it was seen",
  parameters: {
    path: "Path of the page. Give this or `pattern`",
    pattern:
      `Pages by path, up to ${HEATMAP_PATTERN_LENGTH_MAX} characters; * is any text, slashes included`,
    device: "desktop (default), tablet or mobile, by the width of the window",
    kind: "click (default: all clicks), rage, dead or scroll",
    elements:
      `How many of the clicked elements are listed, up to ${HEATMAP_ELEMENTS_MAX}. Default: 0`,
  },
  semantics:
    "Selected clicks in the range on the path, in windows of the device's width (mobile < 768, " +
    "tablet < 1024, else or unknown desktop). Points are the centres of cells of 1/200 of the width by 10 px, " +
    "with their clicks and distinct visitors; targets that stay fixed apart. `sample` is all clicks, those " +
    "without a position too, and who made them, the same in each kind. `scroll`: page views " +
    "whose deepest pixel is at least depthPx, every 100 px down to the deepest. `elements`: all clicks of " +
    "the kind that carry a selector, by it.",
  reply: {
    capture: CaptureShown,
    points: z.array(z.object({
      x: z.number().meta({ description: "Across the document's width: 0 left, 1 right." }),
      y: z.number().meta({ description: "CSS pixels from the top: of the window, if fixed." }),
      fixed: z.boolean().meta({
        description: "The target keeps its place while the page scrolls.",
      }),
      count: z.int().meta({ description: "Clicks in the cell." }),
      visitors: z.int(),
    })).meta({ description: "Most clicks first; empty for the kind `scroll`." }),
    scroll: z.array(z.object({
      depthPx: z.int(),
      reached: z.int().meta({ description: "Page views that were seen down to here." }),
    })).meta({ description: "From the top down; empty for other kinds than `scroll`." }),
    elements: z.array(ElementShown).optional().meta({
      description: "With `elements`: most clicks first, then most visitors; none for `scroll`.",
    }),
    sample: z.object({ visitors: z.int(), clicks: z.int() }),
  },
};

/** `GET /v1/heatmaps`: where a page was clicked, or how far down it was seen, over its picture. */
export function createHeatmaps(captures: CaptureReading): Report {
  return {
    ...HEATMAPS,
    ask: (query) => {
      const asked = readAsked(query);
      return { answer: (read) => answer(captures, read, asked) };
    },
  };
}
