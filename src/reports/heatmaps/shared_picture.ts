/** Which pictures of pages a share tells: the pages that it lists, and no other that somebody names. */

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

/** Days back of which visitors are counted, until there are enough: few pictures need all days. */
const COUNTED_DAYS = [8, 90, Infinity];

/**
 * Whether enough visitors viewed or clicked a page, among the selected events of a span. `page` is its
 * path as pictures are known by, so that no other spelling of it passes for another page.
 */
export async function isPageTold(
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
 * Whether a share tells a picture: there are days in which it tells the page. Which days somebody looks
 * at is not known of a picture, so that all are looked through, bots' too.
 */
export async function isPictureTold(
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
      const isTold = await withTimelines(
        services,
        { sql, scope, signal },
        (timelines) => isPageTold({ sql, scope, timelines }, { fromMs, toMs }, page, visitorsMin),
      );
      if (isTold) return true;
    }
    return false;
  }, gone);
}
