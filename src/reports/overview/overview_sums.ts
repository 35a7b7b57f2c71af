import { arrayLiterals, type Row, type Sql } from "../../db/sql.ts";
import { rolledSpan, startDays } from "../rollups/rolled_up.ts";
import type { Range } from "../../query/range.ts";
import type { Scope } from "../../query/selection.ts";
import type { OverviewDays } from "./overview_days.ts";

export const scopeOf = (projectId: number): Scope => ({
  projectId,
  siteHost: null,
  bots: "exclude",
  filters: [],
});

/** Distinct visitors of a project's own events. */
export interface OwnVisitors {
  readonly range: number;
  /** Visitors in the range compared with; null: not counted. */
  readonly before: number | null;
}

/** Days of a project to read from the rollups. */
export type RolledDays = NonNullable<ReturnType<typeof rolledDays>>;

/**
 * Returns the days to read from the rollups: the whole days of the range, the range compared with, whose tail is
 * the part of a day that is compared too, and the first days of the buckets; null: the rollups cannot answer.
 */
export function rolledDays(projectId: number, { range, buckets, before }: OverviewDays) {
  const starts = startDays(buckets, range.timezone);
  const spanOf = (one: Range) => rolledSpan(scopeOf(projectId), { timezone: range.timezone }, one);
  const [whole, compared] = [spanOf(range), spanOf(before)];
  if (starts === null || whole === null || whole.tail !== null || compared === null) return null;
  return { whole, before: compared, starts };
}

// An actor of a day counts in a span unless an earlier day of the span has the actor too.
const SUMS = `
SELECT t.range, t.before FROM unnest($1::text::int[], $2::text::int[], $3::text::int[], $4::text::int[],
    $5::text::int[])
  WITH ORDINALITY AS k (project_id, from_day, to_day, before_from, before_to, n)
CROSS JOIN LATERAL (
  SELECT
    coalesce(sum(actors) FILTER (WHERE day >= k.from_day AND prev_day < k.from_day), 0)
      AS range,
    coalesce(sum(actors) FILTER (WHERE day < k.before_to AND prev_day < k.before_from), 0)
      AS before
  FROM visitor_days
  WHERE project_id = k.project_id AND day >= least(k.before_from, k.from_day) AND day < k.to_day
) AS t
ORDER BY k.n`;

/** Reads the visitors of each project without those of a part of a day, all in one statement. */
export async function readRolledSums(
  sql: Sql,
  projects: readonly RolledDays[],
): Promise<(OwnVisitors & { readonly before: number })[]> {
  if (projects.length === 0) return [];
  const days = arrayLiterals(["projectId", "fromDay", "toDay"], projects.map(({ whole }) => whole));
  const daysBefore = arrayLiterals(["fromDay", "toDay"], projects.map(({ before }) => before));
  return await sql.query<Row & { range: number; before: number }>(SUMS, [...days, ...daysBefore]);
}

const BUCKETS = `
SELECT k.n::int AS n, t.visitors
FROM unnest($1::text::int[], $2::text::int[], $3::text::int[])
  WITH ORDINALITY AS k (project_id, from_day, to_day, n)
CROSS JOIN LATERAL (
  SELECT coalesce(sum(actors) FILTER (WHERE prev_day < k.from_day), 0) AS visitors
  FROM visitor_days
  WHERE project_id = k.project_id AND day >= k.from_day AND day < k.to_day
) AS t
WHERE t.visitors > 0`;

/** Reads the visitors of each project in each bucket, all in one statement. */
export async function readRolledSeries(
  sql: Sql,
  projects: readonly RolledDays[],
): Promise<number[][]> {
  const cells = projects.flatMap(({ whole: { projectId, toDay }, starts }, project) =>
    starts.map((from, at) => ({ project, projectId, from, to: starts[at + 1] ?? toDay, at }))
  );
  if (cells.length === 0) return projects.map(() => []);
  const keys = arrayLiterals(["projectId", "from", "to"], cells);
  const rows = await sql.query<{ n: number; visitors: number }>(BUCKETS, keys);
  const series = projects.map(({ starts }) => starts.map(() => 0));
  for (const { n, visitors } of rows) {
    const { project, at } = cells[n - 1]!;
    series[project]![at] = visitors;
  }
  return series;
}
