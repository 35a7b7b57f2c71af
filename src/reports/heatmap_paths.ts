import { z } from "zod";
import { CAPTURE_DEVICES } from "../captures/capture_status.ts";
import { CaptureShown, captureStatuses } from "./heatmap_capture.ts";
import type { Answer, Read, Report } from "./report.ts";
import { afterCursor, encodeRowCursor, readRowCursor } from "./row_cursor.ts";
import { factConditions } from "./selection.ts";
import { SqlParams } from "./sql_params.ts";
import { CLICK, PAGE_VIEW } from "./terms.ts";

interface PathRow extends Record<string, unknown> {
  readonly path: string;
  readonly visitors: number;
  readonly clicks: number;
}

const paths = (conditions: string, after: string, limit: string) => `
SELECT t.term AS path, p.visitors, p.clicks
FROM (
  SELECT f.project_id, f.path_id, count(DISTINCT f.actor_id)::int AS visitors,
    count(*) FILTER (WHERE f.name_id = ${CLICK})::int AS clicks
  FROM facts f
  WHERE ${conditions} AND f.name_id IN (${PAGE_VIEW}, ${CLICK}) AND f.path_id IS NOT NULL
  GROUP BY f.project_id, f.path_id) AS p
JOIN terms t ON t.project_id = p.project_id AND t.term_id = p.path_id
WHERE ${after}
ORDER BY p.visitors DESC, p.clicks DESC, t.term COLLATE "C"
LIMIT ${limit}`;

async function answer({ sql, project, scope, range, query, limit }: Read): Promise<Answer> {
  const cursor = readRowCursor(query, 2);
  const params = new SqlParams();
  const span = { fromMs: range.from.getTime(), toMs: range.to.getTime() };
  const conditions = factConditions(params, scope, span);
  const after = afterCursor(params, cursor, ["p.visitors", "p.clicks"], "t.term");
  // One row more than the page tells whether there is a next one.
  const found = await sql.query<PathRow>(
    paths(conditions, after, params.int(limit + 1)),
    params.values,
  );
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
  answer,
};
