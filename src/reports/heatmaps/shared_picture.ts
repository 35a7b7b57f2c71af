/** Which pictures a share shows: those of the pages that it lists, and of no other page that a caller names. */

import type { Project } from "../../auth/projects.ts";
import { DAY_MS, FUTURE_TOLERATED_MS, TIMESTAMP_MS_MIN } from "../../limits.ts";
import type { EventMatch } from "../../query/filters.ts";
import { planJoins } from "../../query/join_plans.ts";
import type { Scope, Span } from "../../query/selection.ts";
import { withTimelines } from "../../scans/filtered_timelines.ts";
import type { ScanSource } from "../../scans/read.ts";
import { pageOfImage } from "../../screenshots/queue/capture_store.ts";
import { spellings } from "../../screenshots/queue/visited_paths.ts";
import type { ShareLimits } from "../answer/narrowing.ts";
import { type ReportServices, siteHostOf } from "../answer/report_endpoint.ts";
import { withinTime } from "../answer/time_limit.ts";
import { distinctActors } from "../visitors/distinct_actors.ts";

/** How many days back visitors are counted, one after the other until there are enough: few pictures need all. */
const COUNTED_DAYS = [8, 90, Infinity];

/**
 * Whether enough visitors viewed or clicked a page, among the selected events of a span. `page` is its path as
 * pictures have it; events with any other spelling of it count too.
 */
export async function isPageShown(
  source: ScanSource,
  span: Span,
  page: string,
  visitorsMin: number,
): Promise<boolean> {
  const onPage: EventMatch = {
    name: null,
    filters: [
      { field: "name", op: "is", values: ["page_view", "click"] },
      { field: "path", op: "is", values: spellings(page) },
    ],
  };
  const { actors } = await distinctActors(source, [span], [onPage]);
  return actors[0]! >= visitorsMin;
}

/**
 * Whether a share shows a picture: it does if it shows the page in any range of days. A request for a picture
 * has no range, so all days count, with the events of bots.
 */
export async function isPictureShown(
  { reads, readTimeoutMs, now, ...services }: ReportServices,
  project: Project,
  { filters, visitorsMin }: ShareLimits,
  captureId: string,
  gone: AbortSignal,
): Promise<boolean> {
  const { projectId } = project;
  const scope: Scope = { projectId, siteHost: siteHostOf(project), bots: "include", filters };
  const toMs = now() + FUTURE_TOLERATED_MS + 1;
  return await withinTime(reads, readTimeoutMs, projectId, async (sql, signal) => {
    await planJoins(sql, projectId);
    const page = await pageOfImage(sql, projectId, captureId);
    if (page === null) return false;
    for (const days of COUNTED_DAYS) {
      const fromMs = Math.max(TIMESTAMP_MS_MIN, toMs - days * DAY_MS);
      const isShown = await withTimelines(
        services,
        { sql, scope, signal },
        (timelines) => isPageShown({ sql, scope, timelines }, { fromMs, toMs }, page, visitorsMin),
      );
      if (isShown) return true;
    }
    return false;
  }, gone);
}
