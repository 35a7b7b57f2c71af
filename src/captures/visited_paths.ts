import { arrayLiteral, type Sql } from "../db/sql.ts";
import {
  CAPTURE_CANDIDATES_MAX,
  CAPTURE_DAILY_PATHS_MAX,
  CAPTURE_DAYS,
  CAPTURE_HOST_VIEWS_MAX,
  CAPTURE_HOSTS_MAX,
} from "./capture_limits.ts";
import { DAY_MS } from "../limits.ts";
import type { CaptureDevice } from "./capture_status.ts";
import { pathDigest } from "./capture_store.ts";
import { capturablePath, urlOfPath } from "./path_rules.ts";

/** The pages that are photographed by themselves. */
export interface Selection {
  /** Most visitors first. */
  readonly paths: readonly string[];
  /** Others were left out. */
  readonly isFull: boolean;
}

/** The id of `page_view` among the terms of every project. A literal, so that partial indexes are found. */
const PAGE_VIEW = 1;

/** A site like any other: whether a path stays on its site depends on the path alone. */
const ANY_SITE = "https://site.example";

/** A path as pictures are known by: as URLs have it. Null where it leads to no page of a site. */
export function pagePath(path: string): string | null {
  return urlOfPath(ANY_SITE, path)?.pathname ?? null;
}

/** The texts that events may have of the path of a URL. */
function spellings(path: string): string[] {
  try {
    return [...new Set([path, decodeURI(path)])].filter((text) => !text.includes("\0"));
  } catch {
    return [path];
  }
}

const sinceMs = (nowMs: number): number => nowMs - CAPTURE_DAYS * DAY_MS;

// Contexts of bots have negative ids.
const MOST_VISITED = `
SELECT t.term AS path
FROM (
  SELECT f.project_id, f.path_id, count(DISTINCT f.actor_id) AS visitors, count(*) AS views
  FROM facts f
  WHERE f.project_id = $1::int AND f.name_id = ${PAGE_VIEW} AND f.path_id IS NOT NULL
    AND f.context_id >= 0 AND f.tick >= $2::int8 << 16
  GROUP BY f.project_id, f.path_id
  ORDER BY visitors DESC, views DESC LIMIT $3::int) AS p
JOIN terms t ON t.project_id = p.project_id AND t.term_id = p.path_id
ORDER BY p.visitors DESC, p.views DESC, t.term COLLATE "C"`;

/** The project's most visited pages of late, by people who came: those that may be photographed. */
export async function mostVisitedPaths(
  sql: Sql,
  projectId: number,
  nowMs: number,
): Promise<Selection> {
  const rows = await sql.query<{ path: string }>(
    MOST_VISITED,
    [projectId, sinceMs(nowMs), CAPTURE_CANDIDATES_MAX],
  );
  const paths = new Set(
    rows.map(({ path }) => capturablePath(path)).filter((path) => path !== null),
  );
  return {
    paths: [...paths].slice(0, CAPTURE_DAILY_PATHS_MAX),
    isFull: paths.size > CAPTURE_DAILY_PATHS_MAX,
  };
}

// Of the latest page views alone, so that a front page is told of as fast as any other.
const HOSTS = `
SELECT c.host
FROM (
  SELECT f.project_id, f.context_id FROM facts f
  WHERE f.project_id = $1::int AND f.name_id = ${PAGE_VIEW} AND f.path_id IN (
    SELECT term_id FROM terms
    WHERE project_id = $1::int
      AND digest IN (SELECT ${pathDigest("path")} FROM unnest($2::text::text[]) AS path))
  AND f.context_id >= 0 AND f.tick >= $3::int8 << 16
  ORDER BY f.tick DESC LIMIT $4::int) AS latest
JOIN contexts c ON c.project_id = latest.project_id AND c.context_id = latest.context_id
WHERE c.host IS NOT NULL
GROUP BY c.host ORDER BY count(*) DESC, c.host COLLATE "C" LIMIT $5::int`;

/** Hosts that the page of this path was viewed on of late, the usual one first, in lower case. */
export async function trackedHosts(
  sql: Sql,
  projectId: number,
  path: string,
  nowMs: number,
): Promise<string[]> {
  const rows = await sql.query<{ host: string }>(
    HOSTS,
    [
      projectId,
      arrayLiteral(spellings(path)),
      sinceMs(nowMs),
      CAPTURE_HOST_VIEWS_MAX,
      CAPTURE_HOSTS_MAX,
    ],
  );
  return [...new Set(rows.map(({ host }) => host.toLowerCase()))];
}

/** Notes which pages the daily job takes, so that a read can tell when one is photographed next. */
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

/** What is planned for a page. */
export interface Plan {
  /** An attempt that is queued or under way, and not before when; null: none is. */
  readonly queuedFor: Date | null;
  /** The daily job takes it, as far as can be told. */
  readonly isDaily: boolean;
}

/**
 * What is planned for the page of this path on a device. The daily job takes what it took last; and,
 * unless it had to leave some out, whatever else is visited and may be photographed by itself.
 * @param isVisited whether anybody was there
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
