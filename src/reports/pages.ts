import { z } from "zod";
import { PAGE_VIEWS_LOOKED_UP_MAX } from "../limits.ts";
import type { EventMatch } from "../selection/filters.ts";
import {
  afterCursor,
  encodeRowCursor,
  readRowCursor,
  type RowCursor,
} from "../selection/row_cursor.ts";
import {
  factConditions,
  planSessionJoins,
  sessionConditions,
  type Span,
} from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { PAGE_VIEW } from "../selection/terms.ts";
import type { Read } from "../walks/read.ts";
import { sessionsEndByMs, withoutHistories } from "../walks/session_end.ts";
import { findInHistories, type FoundPages, type PageCounts } from "./page_histories.ts";
import { type Answer, rate, RateShown, type Report } from "./report.ts";

type Source = Pick<Read, "sql" | "scope">;

type CountedPage = Pick<PageCounts, "path_id" | "pageviews">;

const PAGE_VIEWS: EventMatch = { name: "page_view", filters: [] };
const SCROLLS: EventMatch = { name: "scroll", filters: [] };

/**
 * Selected page views of each path, and the distinct actors behind them. Counted from rows in the
 * order of paths, as the index by path has them: hashing each pair takes several times as long.
 */
function viewsByPath(params: SqlParams, { scope }: Source, span: Span): string {
  return `SELECT f.path_id, count(DISTINCT f.actor_id) AS visitors, count(*) AS pageviews
    FROM facts f
    WHERE ${factConditions(params, scope, span, PAGE_VIEWS)} AND f.path_id IS NOT NULL
    GROUP BY f.path_id`;
}

/** The sessions that count, by the paths where they begin and end. */
function endsByPath(params: SqlParams, { scope }: Source, span: Span): string {
  return `SELECT at_path.path_id, sum(at_path.entries) AS entries, sum(at_path.bounces) AS bounces,
      sum(at_path.exits) AS exits
    FROM (
      SELECT s.entry_path_id, s.exit_path_id, count(*) AS sessions,
        count(*) FILTER (WHERE s.views <= 1 AND s.customs = 0) AS bounces
      FROM sessions s WHERE ${sessionConditions(params, scope, span)} GROUP BY 1, 2
    ) AS ends
    CROSS JOIN LATERAL (VALUES
      (ends.entry_path_id, ends.sessions, ends.bounces, 0),
      (ends.exit_path_id, 0, 0, ends.sessions)) AS at_path (path_id, entries, bounces, exits)
    WHERE at_path.path_id IS NOT NULL
    GROUP BY at_path.path_id`;
}

/** The pages that follow the cursor, and one more than `limit` where there are more. */
async function readPageCounts(
  source: Source,
  span: Span,
  cursor: RowCursor | null,
  limit: number,
): Promise<PageCounts[]> {
  const params = new SqlParams();
  const path = `(SELECT t.term FROM terms t
    WHERE t.project_id = ${params.int(source.scope.projectId)} AND t.term_id = path_id)`;
  const after = afterCursor(params, cursor, ["visitors", "pageviews"], "path");
  await planSessionJoins(source.sql, source.scope);
  return await source.sql.query<PageCounts>(
    `SELECT *
    FROM (
      SELECT path_id, ${path} AS path, coalesce(v.visitors, 0) AS visitors,
        coalesce(v.pageviews, 0) AS pageviews, coalesce(e.entries, 0) AS entries,
        coalesce(e.bounces, 0) AS bounces, coalesce(e.exits, 0) AS exits
      FROM (${viewsByPath(params, source, span)}) AS v
      FULL JOIN (${endsByPath(params, source, span)}) AS e USING (path_id)
    ) AS p
    WHERE ${after}
    ORDER BY visitors DESC, pageviews DESC, path COLLATE "C"
    LIMIT ${params.int(limit + 1)}`,
    params.values,
  );
}

/** The ids of these pages, as a subquery, so that the text is read as an array once. */
function idsOf(params: SqlParams, pages: readonly CountedPage[]): string {
  return `(SELECT ${params.ints(pages.map(({ path_id }) => path_id))})`;
}

/** A condition for facts of these pages that the index by path knows. */
function foundByPath(params: SqlParams, pages: readonly CountedPage[]): string {
  return `f.path_id = ANY(${idsOf(params, pages)}::int[])`;
}

const ON_PAGE_MS = `percentile_cont(0.5) WITHIN GROUP (ORDER BY
  ((coalesce(v.next_tick, v.end_tick) >> 16) - (v.tick >> 16))::float8)`;

/**
 * Selected page views of these pages with the next one of their session, each looked up from the
 * actor's facts. A look-up ends where the next begins, so all together read no fact twice.
 */
function viewsLookedUp(
  params: SqlParams,
  { scope }: Source,
  span: Span,
  pages: readonly CountedPage[],
): string {
  return `SELECT f.path_id, f.tick, n.tick AS next_tick, s.last_tick AS end_tick
    FROM facts f
    JOIN sessions s ON s.project_id = f.project_id AND s.session_id = f.session_id
    LEFT JOIN LATERAL (
      SELECT n.tick FROM facts n
      WHERE f.tick < s.last_view_tick
        AND n.project_id = f.project_id AND n.actor_id = f.actor_id
        AND n.tick > f.tick AND n.tick <= s.last_view_tick
        AND n.session_id = f.session_id
        -- Not by the index by path, which is in no order here.
        AND n.name_id + 0 = ${PAGE_VIEW}
      ORDER BY n.tick LIMIT 1
    ) AS n ON true
    WHERE ${factConditions(params, scope, span, PAGE_VIEWS)} AND ${foundByPath(params, pages)}`;
}

/**
 * The same, for many page views: all of the span and of the sessions that reach past it are sorted
 * by session, selected or not, and each sees the one behind it.
 */
function viewsInLine(
  params: SqlParams,
  { scope }: Source,
  span: Span,
  pages: readonly CountedPage[],
  reachToMs: number,
): string {
  const project = params.int(scope.projectId);
  const reachTo = `${params.ms(reachToMs)} << 16`;
  return `SELECT f.path_id, f.tick, f.next_tick, s.last_tick AS end_tick
    FROM (
      SELECT f.*, lead(f.tick) OVER (PARTITION BY f.session_id ORDER BY f.tick) AS next_tick
      FROM facts f
      WHERE f.project_id = ${project} AND f.name_id = ${PAGE_VIEW} AND f.session_id IS NOT NULL
        AND f.tick >= ${params.ms(span.fromMs)} << 16 AND f.tick < ${reachTo}
    ) AS f
    LEFT JOIN sessions s ON f.next_tick IS NULL
      AND s.project_id = f.project_id AND s.session_id = f.session_id
      AND s.last_tick >= ${params.ms(span.fromMs)} << 16 AND s.last_tick < ${reachTo}
    WHERE ${factConditions(params, scope, span, PAGE_VIEWS)}
      -- Not a join, so hashed however many pages there are.
      AND (f.path_id IN (SELECT unnest(${idsOf(params, pages)}::int[]))) IS TRUE`;
}

/**
 * Median seconds by path id: from a selected page view in the span to the next page view of its
 * session, whatever the filters, also past the span; from the last one to the session's last event.
 * Page views without a session have no such time. Up to `lookedUpMax` page views find the next one
 * by a look-up each, more by being sorted: the figures are the same.
 */
export async function readSecondsOnPage(
  source: Source,
  span: Span,
  pages: readonly CountedPage[],
  lookedUpMax: number = PAGE_VIEWS_LOOKED_UP_MAX,
): Promise<Map<number, number>> {
  const pageviews = pages.reduce((sum, page) => sum + page.pageviews, 0);
  if (pageviews === 0) return new Map();
  const params = new SqlParams();
  const views = pageviews <= lookedUpMax ? viewsLookedUp(params, source, span, pages) : viewsInLine(
    params,
    source,
    span,
    pages,
    await sessionsEndByMs(
      { ...source, histories: withoutHistories },
      source.scope.projectId,
      span.toMs,
    ),
  );
  const rows = await source.sql.query<{ path_id: number; ms: number }>(
    `SELECT v.path_id, ${ON_PAGE_MS} AS ms FROM (${views}) AS v GROUP BY v.path_id`,
    params.values,
  );
  return new Map(rows.map(({ path_id, ms }) => [path_id, ms / 1000]));
}

/** Median scroll depth by path id, of the selected scroll events in the span that tell both lengths. */
async function readScrollDepths(
  { sql, scope }: Source,
  span: Span,
  pages: readonly CountedPage[],
): Promise<Map<number, number>> {
  const params = new SqlParams();
  const rows = await sql.query<{ path_id: number; depth: number }>(
    `SELECT f.path_id, percentile_cont(0.5) WITHIN GROUP (
        ORDER BY least(1, e.depth_px::float8 / e.document_height)) AS depth
    FROM facts f
    JOIN events e ON e.project_id = f.project_id AND e.event_id = f.event_id
    WHERE ${factConditions(params, scope, span, SCROLLS)} AND ${foundByPath(params, pages)}
      AND e.depth_px IS NOT NULL AND e.document_height > 0
    GROUP BY f.path_id`,
    params.values,
  );
  return new Map(rows.map(({ path_id, depth }) => [path_id, depth]));
}

/** The same, counted from facts and sessions: also where histories do not hold what filters ask for. */
async function findInFacts(
  source: Source,
  span: Span,
  cursor: RowCursor | null,
  limit: number,
): Promise<FoundPages> {
  const pages = await readPageCounts(source, span, cursor, limit);
  const shown = pages.slice(0, limit);
  const seconds = await readSecondsOnPage(source, span, shown);
  return { pages, seconds, depths: await readScrollDepths(source, span, shown) };
}

const count = (description: string) => z.int().meta({ description });

const PageRow = z.object({
  path: z.string(),
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

async function answer(read: Read, cursor: RowCursor | null): Promise<Answer> {
  const { range, limit } = read;
  const span: Span = { fromMs: range.from.getTime(), toMs: range.to.getTime() };
  const found = await findInHistories(read, span, cursor, limit) ??
    await findInFacts(read, span, cursor, limit);
  const { seconds, depths } = found;
  const pages = found.pages.slice(0, limit);
  const last = found.pages.length > limit ? pages.at(-1)! : null;
  const rows = pages.map((page): z.output<typeof PageRow> => ({
    path: page.path,
    visitors: page.visitors,
    pageviews: page.pageviews,
    entries: page.entries,
    exits: page.exits,
    bounceRate: rate(page.bounces, page.entries),
    medianSecondsOnPage: seconds.get(page.path_id) ?? null,
    medianScrollDepth: depths.get(page.path_id) ?? null,
  }));
  const nextCursor = last === null
    ? null
    : encodeRowCursor({ counts: [last.visitors, last.pageviews], value: last.path });
  return { result: { rows, nextCursor } };
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
