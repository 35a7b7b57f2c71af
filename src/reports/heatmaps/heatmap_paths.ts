import { z } from "zod";
import { CAPTURE_DEVICES } from "../../screenshots/capture_status.ts";
import { readRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import { CLICK, PAGE_VIEW } from "../../query/terms.ts";
import { spanOf } from "../../query/range.ts";
import { countPaths } from "../../scans/path_counts.ts";
import type { Read } from "../../scans/read.ts";
import { CaptureShown, captureStatuses } from "./heatmap_capture.ts";
import { pathsAfter } from "../ranked/path_rows.ts";
import type { Answer, Report } from "../answer/report.ts";
import { isSmall } from "../answer/small_groups.ts";

async function answer(read: Read, cursor: RowCursor | null): Promise<Answer> {
  const { sql, project, range, limit } = read;
  const span = spanOf(range);
  const { visitors, events: clicks } = await countPaths(read, span, [PAGE_VIEW, CLICK], CLICK);
  const isListed = (path: number) =>
    visitors[path]! > 0 && !isSmall(visitors[path]!, read.visitorsMin);
  const { rows, nextCursor } = await pathsAfter(read, [visitors, clicks], isListed, cursor, limit);
  const statusOf = await captureStatuses(sql, project, rows.map(({ path }) => path));
  const shown = rows.map(({ id, path }) => ({
    path,
    visitors: visitors[id]!,
    clicks: clicks[id]!,
    devices: Object.fromEntries(
      CAPTURE_DEVICES.map((device) => [device, { status: statusOf(path, device) }]),
    ),
  }));
  return { result: { rows: shown, nextCursor } };
}

const StatusShown = CaptureShown.pick({ status: true })
  .meta({ id: "CaptureStatus", description: "What became of the page's picture." });

/** `GET /v1/heatmaps/paths`: the pages that have heatmaps. */
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
