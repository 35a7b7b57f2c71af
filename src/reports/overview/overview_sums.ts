import { arrayLiteral, type Row, type Sql } from "../../db/sql.ts";
import { startDays } from "../rollups/rolled_up.ts";
import { type RolledSpan, rolledSpan } from "../rollups/rolled_span.ts";
import type { Range } from "../../query/range.ts";
import type { OverviewDays } from "./overview_days.ts";

/** Distinct visitors of a project's own events. */
export interface OwnVisitors {
  readonly range: number;
  /** In the days of the range that are over, and in as many before the range; 0 where none is over. */
  readonly over: number;
  readonly before: number;
}

/** Days of a project to read from the rollups: numbers of local days, each range `[from, to)`. */
export interface RolledDays {
  readonly from: number;
  readonly to: number;
  readonly overTo: number;
  readonly beforeFrom: number;
  readonly beforeTo: number;
  /** The first days of the buckets. */
  readonly starts: readonly number[];
}

/** Returns a range as days of the rollups; null where it is not of whole days that these hold. */
function wholeDays(range: Range): RolledSpan | null {
  const scope = { projectId: 0, siteHost: null, bots: "exclude", filters: [] } as const;
  const rolled = rolledSpan(scope, { timezone: range.timezone }, range);
  return rolled?.tail === null ? rolled : null;
}

/** Returns the days to read from the rollups; null where these do not hold the answer. */
export function rolledDays({ range, buckets, compared }: OverviewDays): RolledDays | null {
  const starts = startDays(buckets, range.timezone);
  const whole = wholeDays(range);
  if (starts === null || whole === null) return null;
  const { fromDay: from, toDay: to } = whole;
  if (compared === null) {
    return { from, to, overTo: from, beforeFrom: from, beforeTo: from, starts };
  }
  const [over, before] = [wholeDays(compared.over), wholeDays(compared.before)];
  if (over === null || before === null) return null;
  return {
    from,
    to,
    overTo: over.toDay,
    beforeFrom: before.fromDay,
    beforeTo: before.toDay,
    starts,
  };
}

// An actor of a day counts in a span unless an earlier day of the span has the actor too.
const SUMS = `
SELECT t.* FROM unnest($1::text::int[], $2::text::int[], $3::text::int[], $4::text::int[],
    $5::text::int[], $6::text::int[])
  WITH ORDINALITY AS k (project_id, from_day, to_day, over_to, before_from, before_to, n)
CROSS JOIN LATERAL (
  SELECT k.n::int AS n,
    coalesce(sum(actors) FILTER (WHERE day >= k.from_day AND prev_day < k.from_day), 0)
      AS range,
    coalesce(sum(actors) FILTER (
      WHERE day >= k.from_day AND day < k.over_to AND prev_day < k.from_day), 0) AS over,
    coalesce(sum(actors) FILTER (WHERE day < k.before_to AND prev_day < k.before_from), 0)
      AS before
  FROM visitor_days
  WHERE project_id = k.project_id AND day >= least(k.before_from, k.from_day) AND day < k.to_day
) AS t`;

interface Summed {
  readonly projectId: number;
  readonly days: RolledDays;
}

/** Reads the sums of each project, all in one statement. */
export async function readRolledSums(
  sql: Sql,
  projects: readonly Summed[],
): Promise<OwnVisitors[]> {
  if (projects.length === 0) return [];
  const of = (number: (one: Summed) => number) => arrayLiteral(projects.map(number));
  const rows = await sql.query<OwnVisitors & Row & { n: number }>(SUMS, [
    of(({ projectId }) => projectId),
    of(({ days }) => days.from),
    of(({ days }) => days.to),
    of(({ days }) => days.overTo),
    of(({ days }) => days.beforeFrom),
    of(({ days }) => days.beforeTo),
  ]);
  const found = new Map(rows.map((row) => [row.n, row]));
  return projects.map((_, i) => {
    const { range, over, before } = found.get(i + 1)!;
    return { range, over, before };
  });
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
  projects: readonly Summed[],
): Promise<number[][]> {
  const cells = projects.flatMap(({ projectId, days: { starts, to } }, project) =>
    starts.map((start, i) => ({ project, projectId, from: start, to: starts[i + 1] ?? to, at: i }))
  );
  if (cells.length === 0) return projects.map(() => []);
  const rows = await sql.query<{ n: number; visitors: number }>(BUCKETS, [
    arrayLiteral(cells.map(({ projectId }) => projectId)),
    arrayLiteral(cells.map(({ from }) => from)),
    arrayLiteral(cells.map(({ to }) => to)),
  ]);
  const series = projects.map(({ days: { starts } }) => starts.map(() => 0));
  for (const { n, visitors } of rows) {
    const { project, at } = cells[n - 1]!;
    series[project]![at] = visitors;
  }
  return series;
}
