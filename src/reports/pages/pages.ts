import { z } from "zod";
import { SESSION_GAP_MS } from "../../limits.ts";
import { readRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import type { Span } from "../../query/selection.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import { Samples } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { sessionsEndByMs } from "../../scans/session_end.ts";
import { yielding } from "../../store/yielding.ts";
import { pathsAfter } from "../path_rows.ts";
import { PAGE_COUNTS, type PageCounts } from "./page_visitor.ts";
import { type Answer, rate, RateShown, type Report } from "../report.ts";
import { OTHER } from "../small_groups.ts";
import { type SmallPages, smallPages } from "./small_pages.ts";

/** Everything that is counted of pages. */
async function countPages(read: Read, span: Span): Promise<PageCounts> {
  const { sql, scope } = read;
  // Of a session that crosses the beginning of the span, only that it does matters: it counts for
  // none, and its page views are followed forward. Those that cross the end are followed to theirs.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await sessionsEndByMs(read, scope.projectId, span.toMs),
  };
  const selected = await selectTimelines(read, reach);
  const { bits } = selected.timelines;
  const test = await eventPassesOf(sql, scope, scope.bots, selected.eventFilters, bits);
  return await selected.scan(PAGE_COUNTS, () => ({ test, span, reach }));
}

const count = (description: string) => z.int().meta({ description });

export const PageRow = z.object({
  path: z.string().meta({ description: "$other: all pages of too few visitors for a share" }),
  visitors: count("Distinct actors of the selected page views"),
  pageviews: count("Selected page views in the range"),
  entries: count("Sessions that begin here"),
  exits: count("Sessions that end here"),
  bounceRate: RateShown.meta({ description: "Bounces among the sessions that begin here" }),
  medianSecondsOnPage: z.number().nullable().meta({
    description: "To the session's next page view, of the last one to the session's last event",
  }),
  medianScrollDepth: z.number().nullable().meta({
    description: "Deepest point reached, as a fraction of the document's height",
  }),
}).meta({ id: "PageRow" });

function secondsOf(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}

/** Of many pages together nobody can say how long one was read. */
function otherRow(
  { visitors, pageviews, entries, exits, bounces }: SmallPages,
): z.output<typeof PageRow> {
  return {
    path: OTHER,
    visitors,
    pageviews,
    entries,
    exits,
    bounceRate: rate(bounces, entries),
    medianSecondsOnPage: null,
    medianScrollDepth: null,
  };
}

async function answer(read: Read, cursor: RowCursor | null): Promise<Answer> {
  const { range, limit } = read;
  const span = { fromMs: range.from.getTime(), toMs: range.to.getTime() };
  const counts = await countPages(read, span);
  const { visitors, pageviews, entries, exits, bounces } = counts;
  const isSeen = (path: number) => pageviews[path]! + entries[path]! + exits[path]! > 0;
  const small = await smallPages(read, span, counts, isSeen);
  const isTold = (path: number) => isSeen(path) && small?.isIn[path] !== 1;
  const page = await pathsAfter(read, [visitors, pageviews], isTold, cursor, limit);
  const ids = page.rows.map(({ id }) => id);
  const pathMax = visitors.length - 1;
  const turn = yielding();
  const onPageMs = new Samples(pathMax, counts.onPageMs).mediansOf(ids);
  await turn();
  const depths = new Samples(pathMax, counts.depths).mediansOf(ids);
  const rows = page.rows.map(({ id, path }): z.output<typeof PageRow> => ({
    path,
    visitors: visitors[id]!,
    pageviews: pageviews[id]!,
    entries: entries[id]!,
    exits: exits[id]!,
    bounceRate: rate(bounces[id]!, entries[id]!),
    medianSecondsOnPage: secondsOf(onPageMs.get(id)),
    medianScrollDepth: depths.get(id) ?? null,
  }));
  if (small !== null && page.nextCursor === null) rows.push(otherRow(small));
  return { result: { rows, nextCursor: page.nextCursor } };
}

/** `GET /v1/pages`: who sees each page, begins and ends there, and how long and far they read. */
export const PAGES: Report = {
  path: "/v1/pages",
  summary: "Visitors, views, entries, exits, reading time and scroll depth of each page",
  parameters: {},
  semantics:
    "Visitors and pageviews are of selected page views in the range. Entries and exits are sessions that start in the range, hold a selected event, and have their first or last page view (event, if they have no page view) on the path; " +
    "bounceRate = bounces among the sessions that entered there. Seconds on page = from a selected page view to the session's next page view, whatever the filters; the last one to the session's last event. " +
    "Scroll depth = deepest pixel reached / document height, at most 1, of selected scroll events. Medians interpolate. Sorted by visitors, pageviews, path.",
  reply: {
    rows: z.array(PageRow),
    nextCursor: z.string().nullable().meta({ description: "Null on the last page" }),
  },
  ask: (query) => {
    const cursor = readRowCursor(query, 2);
    return { answer: (read) => answer(read, cursor) };
  },
};
