import { z } from "zod";
import { CAPTURE_DEVICES } from "../../screenshots/capture_status.ts";
import { readRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import { CLICK, PAGE_VIEW } from "../../reserved_terms.ts";
import { spanOf } from "../../query/range.ts";
import { countPaths } from "../../scans/path_counts.ts";
import type { Read } from "../../scans/read.ts";
import { CaptureShown, captureStatuses } from "./heatmap_capture.ts";
import { pathsAfter } from "../ranked/path_rows.ts";
import { smallPaths } from "../answer/small_paths.ts";
import type { Answer, Report } from "../answer/report.ts";
import { OTHER } from "../answer/small_groups.ts";

async function answer(read: Read, cursor: RowCursor | null): Promise<Answer> {
  const { sql, project, range, limit } = read;
  const span = spanOf(range);
  const names = [PAGE_VIEW, CLICK];
  const { visitors, events: clicks } = await countPaths(read, span, names, CLICK);
  const isSeen = (path: number) => visitors[path]! > 0;
  const small = await smallPaths(read, span, names, visitors, isSeen);
  const isListed = (path: number) => isSeen(path) && small?.isIn[path] !== 1;
  const { rows, nextCursor } = await pathsAfter(read, [visitors, clicks], isListed, cursor, limit);
  const statusOf = await captureStatuses(sql, project, rows.map(({ path }) => path));
  const counted = rows.map(({ id, path }) => ({
    path,
    visitors: visitors[id]!,
    clicks: clicks[id]!,
  }));
  if (small !== null && nextCursor === null) {
    counted.push({ path: OTHER, visitors: small.visitors, clicks: small.sum(clicks) });
  }
  const shown = counted.map((row) => ({
    ...row,
    devices: Object.fromEntries(
      CAPTURE_DEVICES.map((device) => [device, { status: statusOf(row.path, device) }]),
    ),
  }));
  return { result: { rows: shown, nextCursor } };
}

const StatusShown = CaptureShown.pick({ status: true })
  .meta({ id: "CaptureStatus", description: "What became of the page's capture." });

export const HEATMAP_PATHS_REPLY = {
  rows: z.array(z.object({
    path: z.string().describe("$other: all pages of too few visitors for a share"),
    visitors: z.int(),
    clicks: z.int(),
    devices: z.object({ desktop: StatusShown, tablet: StatusShown, mobile: StatusShown }),
  })),
  nextCursor: z.string().nullable(),
};

/** `GET /v1/heatmaps/paths`: the pages that have heatmaps. */
export const HEATMAP_PATHS: Report = {
  path: "/v1/heatmaps/paths",
  summary: "Pages that were viewed or clicked, with the state of their captures",
  parameters: {},
  semantics:
    "Paths with at least one selected page_view or click in the range. Visitors: distinct actors of those " +
    "events. Clicks: all clicks on the path, on every device, with or without a position. Most visitors " +
    "first, then clicks, then by path.",
  reply: HEATMAP_PATHS_REPLY,
  ask: (query) => {
    const cursor = readRowCursor(query, 2);
    return { answer: (read) => answer(read, cursor) };
  },
};
