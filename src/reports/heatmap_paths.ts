import { z } from "zod";
import { CAPTURE_DEVICES } from "../captures/capture_status.ts";
import {
  afterCursor,
  encodeRowCursor,
  readRowCursor,
  type RowCursor,
} from "../selection/row_cursor.ts";
import { anyFactConditions, type Scope, type Span } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { CLICK, PAGE_VIEW } from "../selection/terms.ts";
import type { Read } from "../walks/read.ts";
import { CaptureShown, captureStatuses } from "./heatmap_capture.ts";
import { countPathsInHistories, type PathCounts } from "./heatmap_path_histories.ts";
import type { Answer, Report } from "./report.ts";
import { rowCandidates } from "./row_candidates.ts";

interface PathRow extends Record<string, unknown> {
  readonly path: string;
  readonly visitors: number;
  readonly clicks: number;
}

/** Counted paths, from the facts. */
const countedInFacts = (params: SqlParams, scope: Scope, span: Span) => `
SELECT f.path_id, count(DISTINCT f.actor_id)::int AS visitors,
  count(*) FILTER (WHERE f.name_id = ${CLICK})::int AS clicks
FROM facts f
WHERE ${anyFactConditions(params, scope, span)} AND f.name_id IN (${PAGE_VIEW}, ${CLICK})
  AND f.path_id IS NOT NULL
GROUP BY f.path_id`;

/** Counted paths that were told already. */
function countedBefore(
  params: SqlParams,
  { visitors, clicks }: PathCounts,
  cursor: RowCursor | null,
  rows: number,
): string {
  const paths = rowCandidates([visitors, clicks], (path) => visitors[path]! > 0, cursor, rows);
  const columns = [
    params.ints(paths),
    params.ints(paths.map((path) => visitors[path]!)),
    params.ints(paths.map((path) => clicks[path]!)),
  ];
  return `SELECT * FROM unnest(${columns.join(", ")}) AS c (path_id, visitors, clicks)`;
}

/** The paths that follow the cursor: at most `rows`. */
async function findPaths(
  read: Read,
  cursor: RowCursor | null,
  rows: number,
): Promise<PathRow[]> {
  const { sql, scope, range } = read;
  const params = new SqlParams();
  const span = { fromMs: range.from.getTime(), toMs: range.to.getTime() };
  const counts = await countPathsInHistories(read, span);
  const counted = counts === null
    ? countedInFacts(params, scope, span)
    : countedBefore(params, counts, cursor, rows);
  return await sql.query<PathRow>(
    `SELECT t.term AS path, p.visitors, p.clicks
    FROM (${counted}) AS p
    JOIN terms t ON t.project_id = ${params.int(scope.projectId)} AND t.term_id = p.path_id
    WHERE ${afterCursor(params, cursor, ["p.visitors", "p.clicks"], "t.term")}
    ORDER BY p.visitors DESC, p.clicks DESC, t.term COLLATE "C"
    LIMIT ${params.int(rows)}`,
    params.values,
  );
}

async function answer(read: Read, cursor: RowCursor | null): Promise<Answer> {
  const { sql, project, limit } = read;
  // One row more than the page tells whether there is a next one.
  const found = await findPaths(read, cursor, limit + 1);
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  const statusOf = await captureStatuses(sql, project, shown.map(({ path }) => path));
  const rows = shown.map(({ path, visitors, clicks }) => ({
    path,
    visitors,
    clicks,
    devices: Object.fromEntries(
      CAPTURE_DEVICES.map((device) => [device, { status: statusOf(path, device) }]),
    ),
  }));
  const nextCursor = last === undefined
    ? null
    : encodeRowCursor({ counts: [last.visitors, last.clicks], value: last.path });
  return { result: { rows, nextCursor } };
}

const StatusShown = CaptureShown.pick({ status: true })
  .meta({ id: "CaptureStatus", description: "What became of the page's picture." });

/** `GET /v1/heatmaps/paths`: the pages that there are heatmaps of. */
export const HEATMAP_PATHS: Report = {
  path: "/v1/heatmaps/paths",
  summary: "Pages that were viewed or clicked, with the state of their pictures",
  parameters: {},
  semantics:
    "Paths with at least one selected page_view or click in the range. Visitors: distinct actors of those " +
    "events. Clicks: all clicks on the path, on every device, with or without a position. Most visitors " +
    "first, then clicks, then by path.",
  reply: {
    rows: z.array(z.object({
      path: z.string(),
      visitors: z.int(),
      clicks: z.int(),
      devices: z.object({ desktop: StatusShown, tablet: StatusShown, mobile: StatusShown }),
    })),
    nextCursor: z.string().nullable(),
  },
  ask: (query) => {
    const cursor = readRowCursor(query, 2);
    return { answer: (read) => answer(read, cursor) };
  },
};
