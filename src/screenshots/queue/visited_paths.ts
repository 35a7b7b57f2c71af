import { arrayLiteral, type Database, READ_SNAPSHOT, type Sql } from "../../db/sql.ts";
import { DAY_MS, FUTURE_TOLERATED_MS } from "../../limits.ts";
import type { EventMatch, Filter } from "../../query/filters.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import type { Scope, Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import { type ScanServices, withTimelines } from "../../scans/filtered_timelines.ts";
import { matchPasses } from "../../scans/match_passes.ts";
import { countPaths } from "../../scans/path_counts.ts";
import type { PathCounts } from "../../scans/path_visitor.ts";
import type { Read } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { VALUE_COUNTS } from "../../scans/value_visitor.ts";
import {
  CAPTURE_CANDIDATES_MAX,
  CAPTURE_DAILY_PATHS_MAX,
  CAPTURE_DAYS,
  CAPTURE_HOST_VIEWS_ENOUGH,
  CAPTURE_HOSTS_MAX,
} from "../capture_limits.ts";
import type { CaptureDevice } from "../capture_status.ts";
import { pathDigest } from "./capture_store.ts";
import { capturablePath, urlOfPath } from "./path_rules.ts";

/** The pages of the daily job. */
export interface Selection {
  /** Most visitors first. */
  readonly paths: readonly string[];
  /** Whether more pages could have been selected. */
  readonly isFull: boolean;
}

/** Any site will do, since whether a path stays on its site depends only on the path. */
const ANY_SITE = "https://site.example";

/** Returns a path as URLs and captures have it; null if it does not lead to a page of a site. */
export function pagePath(path: string): string | null {
  return urlOfPath(ANY_SITE, path)?.pathname ?? null;
}

/** Returns the spellings that events may have of a URL's path. */
export function spellings(path: string): string[] {
  try {
    return [...new Set([path, decodeURI(path)])].filter((text) => !text.includes("\0"));
  } catch {
    return [path];
  }
}

/** The days back to which a page's views are searched for hosts, one after the other until there are enough. */
const HOST_DAYS = [1, 8, CAPTURE_DAYS];

/** Returns the span from that many days ago to all that can be stored, as other clocks may be ahead of this one. */
function lately(days: number, nowMs: number): Span {
  return { fromMs: nowMs - days * DAY_MS, toMs: nowMs + FUTURE_TOLERATED_MS + 1 };
}

/** The services for reading the visits of a project. */
export interface VisitReads extends ScanServices {
  readonly reads: Database;
  /** Absent or null: there is no replica. */
  readonly replica?: { assertOurs(): Promise<void> } | null;
}

/** The visits of a project at one moment. */
type Visits = Pick<Read, "sql" | "scope" | "timelines">;

/** Runs `work` on the visits of a project at one moment, without those of bots. */
async function onVisits<T>(
  { reads, replica, ...services }: VisitReads,
  projectId: number,
  work: (source: Visits) => Promise<T>,
): Promise<T> {
  await replica?.assertOurs();
  const scope: Scope = { projectId, siteHost: null, bots: "exclude", filters: [] };
  const moment = (sql: Sql) =>
    withTimelines(services, { sql, scope }, (timelines) => work({ sql, scope, timelines }));
  return await reads.transaction(moment, undefined, () => [READ_SNAPSHOT]);
}

/** Returns the ids of the paths with the most visitors, then with the most views. */
function mostVisited({ visitors, events: views }: PathCounts, paths: number): number[] {
  const visited = [...visitors.keys()].filter((path) => path > 0 && visitors[path]! > 0);
  return visited.sort((a, b) => visitors[b]! - visitors[a]! || views[b]! - views[a]!)
    .slice(0, paths);
}

/** Returns the recently most visited pages of the project that the daily job may capture, by visitors. */
export async function mostVisitedPaths(
  visits: VisitReads,
  projectId: number,
  nowMs: number,
): Promise<Selection> {
  const rows = await onVisits(visits, projectId, async (source) => {
    const counts = await countPaths(source, lately(CAPTURE_DAYS, nowMs), [PAGE_VIEW], PAGE_VIEW);
    const ids = mostVisited(counts, CAPTURE_CANDIDATES_MAX);
    const columns = [
      ids,
      ids.map((id) => counts.visitors[id]!),
      ids.map((id) => counts.events[id]!),
    ];
    return await source.sql.query<{ path: string }>(
      `SELECT t.term AS path
      FROM unnest($2::text::int[], $3::text::int[], $4::text::int[]) AS p (path_id, visitors, views)
      CROSS JOIN ${keyedRow("terms v", "v.term_id = p.path_id", "$1::int")} AS t
      ORDER BY p.visitors DESC, p.views DESC, t.term COLLATE "C"`,
      [projectId, ...columns.map(arrayLiteral)],
    );
  });
  const paths = new Set(
    rows.map(({ path }) => capturablePath(path)).filter((path) => path !== null),
  );
  return {
    paths: [...paths].slice(0, CAPTURE_DAILY_PATHS_MAX),
    isFull: paths.size > CAPTURE_DAILY_PATHS_MAX,
  };
}

const HOSTS = `
SELECT c.host
FROM unnest($2::text::int[], $3::text::int[]) AS viewed (context_id, views)
CROSS JOIN ${keyedRow("contexts v", "v.context_id = viewed.context_id", "$1::int")} AS c
WHERE c.host IS NOT NULL
GROUP BY c.host ORDER BY sum(viewed.views) DESC, c.host COLLATE "C" LIMIT $4::int`;

/** Adds the views of a page in a span to `known`, by context. @returns their number */
async function addViews(
  known: Map<number, number>,
  source: Visits,
  span: Span,
  page: Filter,
): Promise<number> {
  const { sql, scope } = source;
  const views: EventMatch = { name: "page_view", filters: [page] };
  const selected = await selectTimelines(source, span, { filters: views.filters });
  const matches = await matchPasses(sql, scope, [views], selected.timelines.bits);
  const { contextsFrom: idsFrom, contextsTo: idMax } = matches.scope;
  const ids = { from: "context", idsFrom, idMax, users: null };
  const counts = await selected.scan(VALUE_COUNTS, () => ({ matches, span, ...ids }));
  let sum = 0;
  for (const [i, some] of counts.entries()) {
    if (some > 0) known.set(idsFrom + i, (known.get(idsFrom + i) ?? 0) + some);
    sum += some;
  }
  return sum;
}

/**
 * Returns the hosts on which the page was recently viewed, the most frequent first, in lower case. Only as many days
 * are read as are needed: a front page has enough views in one.
 */
export async function trackedHosts(
  visits: VisitReads,
  projectId: number,
  path: string,
  nowMs: number,
): Promise<string[]> {
  const page: Filter = { field: "path", op: "is", values: spellings(path) };
  const rows = await onVisits(visits, projectId, async (source) => {
    const views = new Map<number, number>();
    let { toMs } = lately(CAPTURE_DAYS, nowMs);
    let count = 0;
    for (const days of HOST_DAYS) {
      if (count >= CAPTURE_HOST_VIEWS_ENOUGH) break;
      const { fromMs } = lately(days, nowMs);
      count += await addViews(views, source, { fromMs, toMs }, page);
      toMs = fromMs;
    }
    return await source.sql.query<{ host: string }>(HOSTS, [
      projectId,
      arrayLiteral([...views.keys()]),
      arrayLiteral([...views.values()]),
      CAPTURE_HOSTS_MAX,
    ]);
  });
  return [...new Set(rows.map(({ host }) => host.toLowerCase()))];
}

/** Stores the selection of the daily job, so that a read can say when a page is captured next. */
export async function storeSelection(
  sql: Sql,
  projectId: number,
  { paths, isFull }: Selection,
  nowMs: number,
): Promise<void> {
  await sql.query(
    `INSERT INTO capture_selections (selected_at, project_id, is_full, path_digests)
    SELECT $2::text::timestamptz, $1::int, $3::bool,
      ARRAY(SELECT ${pathDigest("path")} FROM unnest($4::text::text[]) AS path)
    ON CONFLICT (project_id) DO UPDATE SET selected_at = excluded.selected_at,
      is_full = excluded.is_full, path_digests = excluded.path_digests`,
    [projectId, new Date(nowMs).toISOString(), isFull, arrayLiteral(paths)],
  );
}

/** The next attempts at a page. */
export interface Plan {
  /** The earliest time of an attempt that is queued or running; null: there is none. */
  readonly queuedFor: Date | null;
  /** Whether the daily job will probably take it. */
  readonly isDaily: boolean;
}

/**
 * Returns the next attempts at a page on a device. The daily job is expected to take the pages of its last selection
 * and, unless that was full, every other page that is visited and that it may capture.
 * @param isVisited whether the page has had visitors
 */
export async function planOf(
  sql: Sql,
  projectId: number,
  { path, device, isVisited }: {
    readonly path: string;
    readonly device: CaptureDevice;
    readonly isVisited: boolean;
  },
): Promise<Plan> {
  const isEligible = isVisited && capturablePath(path) !== null;
  const [row] = await sql.query<{ not_before: Date | null; is_daily: boolean }>(
    `SELECT (
      SELECT not_before FROM capture_tasks
      WHERE project_id = $1::int AND path_digest = ${pathDigest("$2::text")} AND device = $3::text
        AND state <> 'done') AS not_before,
    coalesce((
      SELECT ${pathDigest("$2::text")} = ANY(path_digests) OR ($4::bool AND NOT is_full)
      FROM capture_selections WHERE project_id = $1::int), $4::bool) AS is_daily`,
    [projectId, path, device, isEligible],
  );
  return { queuedFor: row!.not_before, isDaily: row!.is_daily };
}
