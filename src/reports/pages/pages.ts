import { z } from "zod";
import { SESSION_GAP_MS } from "../../limits.ts";
import { readRowCursor, type RowCursor, type RowPage } from "../../query/row_cursor.ts";
import type { Span } from "../../query/selection.ts";
import { spanOf } from "../../query/range.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import { Samples } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import { sessionsAcross } from "../../scans/session_end.ts";
import { yielding } from "../../store/yielding.ts";
import { pathsAfter } from "../ranked/path_rows.ts";
import { smallPaths } from "../answer/small_paths.ts";
import { importedSaid, type ImportedSpan } from "../imported/imported_span.ts";
import { pageOfRows } from "../imported/merged_rows.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { importedPages, mergedPages } from "./imported_pages.ts";
import { PageRow } from "./page_row.ts";
import { PAGE_COUNTS, type PageCounts } from "./page_visitor.ts";
import { type Answer, rate, type Report } from "../answer/report.ts";
import { OTHER } from "../answer/small_groups.ts";

async function countPages(read: Read, span: Span): Promise<PageCounts> {
  // Events of the pause before the span show which sessions began before it, whose entries and exits do not
  // count. Sessions that cross the end of the span are followed to their own end.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: (await sessionsAcross(read, read.scope.projectId, span.toMs)).toMs,
  };
  const { selected, test } = await selectEvents(read, reach, { columns: ["depths"] });
  return await selected.scan(PAGE_COUNTS, () => ({ test, span, reach }), { askedEvents: test });
}

/** Returns the pages of own events after the cursor, at most `limit`; the database sorts them. */
async function ownPage(
  read: Read,
  span: Span,
  cursor: RowCursor | null,
  limit: number | null,
): Promise<RowPage<PageRow>> {
  const counts = await countPages(read, span);
  const { visitors, pageviews, entries, exits, bounces } = counts.sums;
  const isSeen = (path: number) => pageviews[path]! + entries[path]! + exits[path]! > 0;
  const small = await smallPaths(read, span, [PAGE_VIEW], visitors, isSeen);
  const isShown = (path: number) => isSeen(path) && small?.isIn[path] !== 1;
  const rows = limit ?? visitors.length;
  const page = await pathsAfter(read, [visitors, pageviews], isShown, cursor, rows);
  const ids = page.rows.map(({ id }) => id);
  const pathMax = visitors.length - 1;
  const turn = yielding();
  const onPageMs = new Samples(pathMax, counts.onPageMs).mediansOf(ids);
  await turn();
  const depths = new Samples(pathMax, counts.depths).mediansOf(ids);
  const listed = page.rows.map(({ id, path }): PageRow => {
    const ms = onPageMs.get(id);
    return {
      path,
      visitors: visitors[id]!,
      pageviews: pageviews[id]!,
      entries: entries[id]!,
      exits: exits[id]!,
      bounceRate: rate(bounces[id]!, entries[id]!),
      medianSecondsOnPage: ms === undefined ? null : ms / 1000,
      medianScrollDepth: depths.get(id) ?? null,
    };
  });
  if (small !== null && page.nextCursor === null) {
    listed.push({
      path: OTHER,
      visitors: small.visitors,
      pageviews: small.sum(pageviews),
      entries: small.sum(entries),
      exits: small.sum(exits),
      bounceRate: rate(small.sum(bounces), small.sum(entries)),
      medianSecondsOnPage: null,
      medianScrollDepth: null,
    });
  }
  return { rows: listed, nextCursor: page.nextCursor };
}

/** Returns a page of rows of own events and imported days, each path once. */
async function mergedPage(
  read: Read,
  span: Span,
  cursor: RowCursor | null,
  imported: ImportedSpan,
): Promise<RowPage<PageRow>> {
  const own = await ownPage(read, span, null, null);
  const rows = await mergedPages(read, imported, own.rows);
  const keyOf = ({ path, visitors, pageviews }: PageRow) => ({
    counts: [visitors ?? 0, pageviews ?? 0],
    value: path,
  });
  return pageOfRows(rows, keyOf, cursor, read.limit);
}

async function answer(read: Read, cursor: RowCursor | null): Promise<Answer> {
  const span = spanOf(read.range);
  const imported = await importedPages(read);
  const { rows, nextCursor } = imported.days.length === 0
    ? await ownPage(read, span, cursor, read.limit)
    : await mergedPage(read, span, cursor, imported);
  return { ...importedSaid(read, [imported]), result: { rows, nextCursor } };
}

/** `GET /v1/pages`: the visitors, views, entries, exits, reading time and scroll depth of each page. */
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
    nextCursor: z.string().nullable().describe("Null on the last page"),
  },
  ask: (query) => {
    const cursor = readRowCursor(query, 2);
    return { answer: (read) => answer(read, cursor) };
  },
};
