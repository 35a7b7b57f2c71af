import type { Row } from "../db/sql.ts";
import type { ActorWay } from "../histories/actor_way.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { Pace } from "../histories/pace.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { afterCursor, type RowCursor } from "../selection/row_cursor.ts";
import type { Span } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { eventTest } from "../walks/event_tests.ts";
import { countScrolls, PageTally, PageWalk } from "../walks/page_walk.ts";
import type { Read } from "../walks/read.ts";
import { selectHistories, walkSelected } from "../walks/selected_histories.ts";
import { sessionsEndByMs } from "../walks/session_end.ts";
import { rowCandidates } from "./row_candidates.ts";

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

/** Depths lie in the order of a segment: which of its events are on the way is noted for later. */
function markWay(kept: ReadonlyMap<LoadedSegment, Uint8Array>, way: ActorWay): void {
  for (let i = way.first; i < way.end; i++) {
    kept.get(way.segments[way.segmentOf[i]!]!)!.fill(1, way.starts[i]!, way.ends[i]!);
  }
}

/** Everything that is counted of pages; null where histories do not tell. */
async function tallyOf(source: Source, span: Span): Promise<PageTally | null> {
  const { sql, scope } = source;
  // Of a session that crosses the beginning of the span, only that it does matters: it counts for
  // none, and its page views are followed forward. Those that cross the end are followed to theirs.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await sessionsEndByMs(source, scope.projectId, span.toMs),
  };
  const selected = await selectHistories(source, reach);
  if (selected === null) return null;
  const { segments, actorOf, bits } = selected.histories;
  const test = await eventTest(sql, scope, scope.bots, selected.eventFilters, bits);
  const tally = new PageTally(test.termMax);
  const walk = new PageWalk(tally, span, reach, test);
  const kept = selected.sessions === null
    ? null
    : new Map(segments.map((segment) => [segment, new Uint8Array(segment.times.length)]));
  await walkSelected(sql, selected, (actor, way) => {
    walk.visit(actor, way);
    if (kept !== null) markWay(kept, way);
  });
  const pace = new Pace();
  for (const segment of segments) {
    countScrolls(tally, segment, kept?.get(segment) ?? null, actorOf, span, test);
    if (pace.isOver()) await pace.pause();
  }
  return tally;
}

/** The pages that follow the cursor, `rows` at most. */
async function pagesAfter(
  { sql, scope }: Source,
  tally: PageTally,
  cursor: RowCursor | null,
  rows: number,
): Promise<PageCounts[]> {
  const { visitors, pageviews, entries, bounces, exits } = tally;
  const paths = rowCandidates([visitors, pageviews], (path) => tally.isTold(path), cursor, rows);
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
  await new Pace().pause();
  return {
    pages,
    seconds: new Map([...onPageMs].map(([path, ms]) => [path, ms / 1000])),
    depths: tally.depths.mediansOf(shown),
  };
}
