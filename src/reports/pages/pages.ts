import { z } from "zod";
import { SESSION_GAP_MS } from "../../limits.ts";
import { readRowCursor, type RowCursor, type RowPage } from "../../query/row_cursor.ts";
import type { Span } from "../../query/selection.ts";
import { spanOf } from "../../query/range.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import { Samples } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import { endOfSessions } from "../../scans/session_end.ts";
import { yielding } from "../../store/yielding.ts";
import { pathsAfter } from "../ranked/path_rows.ts";
import { smallPaths } from "../answer/small_paths.ts";
import {
  importedSaid,
  type ImportedSpan,
  importedSpan,
  refusalOfShare,
} from "../imported/imported_span.ts";
import { pageOfRows } from "../imported/merged_rows.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { PAGE_COUNTS, type PageCounts } from "./page_visitor.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { OTHER } from "../answer/small_groups.ts";
import { sumsByValue } from "../../imported/imported_reading.ts";

const told = (description: string) =>
  z.int().nullable().describe(`${description}; null: of imported days alone, which do not tell it`);

export const PageRow = z.object({
  path: z.string().describe("$other: all pages of too few visitors for a share"),
  visitors: told("Distinct actors of the selected page views"),
  pageviews: told("Selected page views in the range"),
  entries: told("Sessions that begin here"),
  exits: told("Sessions that end here"),
  bounceRate: RateShown.describe("Bounces among the sessions that begin here"),
  medianSecondsOnPage: z.number().nullable().describe(
    "To the session's next page view, of the last one to the session's last event",
  ),
  medianScrollDepth: z.number().nullable().describe(
    "Deepest point reached, as a fraction of the document's height",
  ),
  imported: z.literal(true).optional().describe(
    "Daily sums of another product are in it, as `query.imported` tells",
  ),
}).meta({ id: "PageRow" });

export type PageRow = z.output<typeof PageRow>;

async function countPages(read: Read, span: Span): Promise<PageCounts> {
  // Events of the pause before the span show which sessions began before it, whose entries and exits do not
  // count. Sessions that cross the end of the span are followed to their own end.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await endOfSessions(read, read.scope.projectId, span.toMs),
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
  const rowOf = (
    path: string,
    actors: number,
    sum: (counts: Int32Array) => number,
    ms: number | null = null,
    depth: number | null = null,
  ): PageRow => ({
    path,
    visitors: actors,
    pageviews: sum(pageviews),
    entries: sum(entries),
    exits: sum(exits),
    bounceRate: rate(sum(bounces), sum(entries)),
    medianSecondsOnPage: ms === null ? null : ms / 1000,
    medianScrollDepth: depth,
  });
  const listed = page.rows.map(({ id, path }) =>
    rowOf(path, visitors[id]!, (counts) => counts[id]!, onPageMs.get(id), depths.get(id))
  );
  if (small !== null && page.nextCursor === null) {
    listed.push(rowOf(OTHER, small.visitors, small.sum));
  }
  return { rows: listed, nextCursor: page.nextCursor };
}

/**
 * Returns a function for the imported sums of a page; those of a page that no day has are zeros if days have the
 * dimension, else nulls. Adds the pages that have sums to `paths`.
 */
async function sumsOfPages(
  { sql, scope: { projectId } }: Read,
  { days }: ImportedSpan,
  dimension: "path" | "entryPath" | "exitPath",
  paths: Set<string>,
) {
  const rows = await sumsByValue(sql, projectId, days, dimension);
  const sums = new Map(rows.map((row) => [row.value, row]));
  // Sums without a path belong to no page.
  for (const { value } of rows) if (value !== null) paths.add(value);
  const count = days.some(({ dimensions }) => dimensions.includes(dimension)) ? 0 : null;
  const none = {
    visitors: count,
    visits: count,
    pageviews: count,
    bounces: 0,
    visitsWithBounces: 0,
  };
  return (path: string) => sums.get(path) ?? none;
}

/** Merges own rows and imported days, each page once. */
async function mergedPages(
  read: Read,
  span: ImportedSpan,
  rows: readonly PageRow[],
): Promise<PageRow[]> {
  const paths = new Set<string>();
  const viewsOf = await sumsOfPages(read, span, "path", paths);
  const entriesOf = await sumsOfPages(read, span, "entryPath", paths);
  const exitsOf = await sumsOfPages(read, span, "exitPath", paths);
  const merged = new Map(rows.map((row) => [row.path, row]));
  for (const path of paths) {
    const [own, views, entries] = [merged.get(path), viewsOf(path), entriesOf(path)];
    const sum = (count: number | null | undefined, imported: number | null) =>
      own === undefined ? imported : (count ?? 0) + (imported ?? 0);
    merged.set(path, {
      path,
      visitors: sum(own?.visitors, views.visitors),
      pageviews: sum(own?.pageviews, views.pageviews),
      entries: sum(own?.entries, entries.visits),
      exits: sum(own?.exits, exitsOf(path).visits),
      bounceRate: rate(
        (own?.bounceRate.numerator ?? 0) + (entries.bounces ?? 0),
        (own?.bounceRate.denominator ?? 0) + entries.visitsWithBounces,
      ),
      medianSecondsOnPage: own?.medianSecondsOnPage ?? null,
      medianScrollDepth: own?.medianScrollDepth ?? null,
      imported: true,
    });
  }
  return [...merged.values()];
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
  const imported = await importedSpan(read, read.range, {
    dimensions: ["path"],
    parameter: "project",
    refusal: refusalOfShare(read),
  });
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
