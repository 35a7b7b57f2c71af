import { setImmediate } from "node:timers";
import type { Row } from "../db/sql.ts";
import { walkActors } from "../histories/actor_walk.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { eventTest, isKnownToHistories } from "./event_tests.ts";
import { select } from "./medians.ts";
import { countScrolls, PageTally, PageWalk } from "./page_walk.ts";
import type { Read } from "./report.ts";
import { afterCursor, type RowCursor } from "./row_cursor.ts";
import type { Span } from "./selection.ts";
import { sessionsEndByMs } from "./session_end.ts";
import { SqlParams } from "./sql_params.ts";

/** What one page comes to, but for its medians. */
export interface PageCounts extends Row {
  readonly path_id: number;
  readonly path: string;
  readonly visitors: number;
  readonly pageviews: number;
  readonly entries: number;
  readonly bounces: number;
  readonly exits: number;
}

/** What the report tells. */
export interface FoundPages {
  /** In their order; one more than was asked for, where there are more. */
  readonly pages: readonly PageCounts[];
  /** By path id, without that one more: median seconds on page, and median scroll depth. */
  readonly seconds: ReadonlyMap<number, number>;
  readonly depths: ReadonlyMap<number, number>;
}

type Source = Pick<Read, "sql" | "scope" | "histories">;

/** Lets others have their turn. */
async function pause(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Everything that is counted of pages; null where histories do not tell. */
async function tallyOf({ sql, scope, histories }: Source, span: Span): Promise<PageTally | null> {
  if (!isKnownToHistories(scope.filters)) return null;
  // Of a session that crosses the beginning of the span, only that it does matters: it counts for
  // none, and its page views are followed forward. Those that cross the end are followed to theirs.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await sessionsEndByMs(sql, scope.projectId, span.toMs),
  };
  const loaded = await histories(reach);
  if (loaded === null) return null;
  const test = await eventTest(sql, scope, scope.bots, scope.filters);
  const tally = new PageTally(test.termMax);
  const walk = new PageWalk(tally, span, reach, test);
  await walkActors(sql, loaded, (actor, way) => walk.visit(actor, way));
  for (const segment of loaded.segments) {
    countScrolls(tally, segment, loaded.actorOf, span, test);
    await pause();
  }
  return tally;
}

/** Those that may be among the first `rows` after the cursor: where counts are equal, texts decide. */
function candidatesOf(tally: PageTally, cursor: RowCursor | null, rows: number): number[] {
  const { visitors, pageviews, pathMax } = tally;
  const viewsMax = pageviews.reduce((max, views) => Math.max(max, views), 0);
  // In the order of both counts: events of one read are so few that no product is too large.
  const keyOf = (ofVisitors: number, views: number) => ofVisitors * (viewsMax + 1) + views;
  const [visitorsBefore, viewsBefore] = cursor?.counts ?? [Infinity, 0];
  const isTied = (path: number) =>
    visitors[path] === visitorsBefore && pageviews[path] === viewsBefore;
  const isAfter = (path: number) =>
    visitors[path]! < visitorsBefore! ||
    visitors[path] === visitorsBefore && pageviews[path]! < viewsBefore!;
  const tied: number[] = [];
  const after: number[] = [];
  for (let path = 1; path <= pathMax; path++) {
    if (!tally.isTold(path)) continue;
    if (isAfter(path)) after.push(path);
    else if (isTied(path)) tied.push(path);
  }
  const keys = Float64Array.from(after, (path) => keyOf(visitors[path]!, pageviews[path]!));
  if (keys.length <= rows) return [...tied, ...after];
  const edge = keys.length - rows;
  select(keys, 0, keys.length, edge);
  const least = keys[edge]!;
  return [
    ...tied,
    ...after.filter((path) => keyOf(visitors[path]!, pageviews[path]!) >= least),
  ];
}

/** The pages that follow the cursor, `rows` at most. */
async function pagesAfter(
  { sql, scope }: Source,
  tally: PageTally,
  cursor: RowCursor | null,
  rows: number,
): Promise<PageCounts[]> {
  const { visitors, pageviews, entries, bounces, exits } = tally;
  const paths = candidatesOf(tally, cursor, rows);
  const params = new SqlParams();
  const project = params.int(scope.projectId);
  const counted = [
    params.ints(paths),
    params.ints(paths.map((path) => visitors[path]!)),
    params.ints(paths.map((path) => pageviews[path]!)),
  ];
  const found = await sql.query<Pick<PageCounts, "path_id" | "path">>(
    `SELECT p.path_id, t.term AS path
    FROM unnest(${counted.join(", ")}) AS p (path_id, visitors, pageviews)
    JOIN terms t ON t.project_id = ${project} AND t.term_id = p.path_id
    WHERE ${afterCursor(params, cursor, ["p.visitors", "p.pageviews"], "t.term")}
    ORDER BY p.visitors DESC, p.pageviews DESC, t.term COLLATE "C"
    LIMIT ${params.int(rows)}`,
    params.values,
  );
  return found.map(({ path_id: id, path }) => ({
    path_id: id,
    path,
    visitors: visitors[id]!,
    pageviews: pageviews[id]!,
    entries: entries[id]!,
    bounces: bounces[id]!,
    exits: exits[id]!,
  }));
}

/**
 * What the report tells, counted in one walk over the actors' histories. Null where histories do not
 * hold what the filters ask for, or are not at hand: then facts and sessions tell it.
 */
export async function findInHistories(
  source: Source,
  span: Span,
  cursor: RowCursor | null,
  limit: number,
): Promise<FoundPages | null> {
  const tally = await tallyOf(source, span);
  if (tally === null) return null;
  const pages = await pagesAfter(source, tally, cursor, limit + 1);
  const shown = pages.slice(0, limit).map(({ path_id }) => path_id);
  const onPageMs = tally.onPageMs.mediansOf(shown);
  await pause();
  return {
    pages,
    seconds: new Map([...onPageMs].map(([path, ms]) => [path, ms / 1000])),
    depths: tally.depths.mediansOf(shown),
  };
}
