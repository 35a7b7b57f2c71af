import { arrayLiteral, type Row, type Sql } from "../../db/sql.ts";
import { startDays } from "../rollups/rolled_up.ts";
import { rolledSpan } from "../rollups/rolled_span.ts";
import type { Range } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import type { OverviewDays } from "./overview_days.ts";

const UNFILTERED = { projectId: 0, siteHost: null, bots: "exclude", filters: [] } as const;

/** Distinct visitors of a project's own events. */
export interface OwnVisitors {
  readonly range: number;
  /** Visitors in the range compared with; null: not counted. */
  readonly before: number | null;
}

/** The same without the part of a day that is compared. */
export interface WholeDays {
  readonly range: number;
  readonly before: number;
}

/** Days of a project to read from the rollups: numbers of local days, each range `[from, to)`. */
export interface RolledDays {
  readonly from: number;
  readonly to: number;
  readonly beforeFrom: number;
  readonly beforeTo: number;
  /** The part of the day `beforeTo` that is compared too; null: none is. */
  readonly tail: Span | null;
  /** The first days of the buckets. */
  readonly starts: readonly number[];
}

/** Returns the days to read from the rollups; null: these cannot answer. */
export function rolledDays({ range, buckets, before }: OverviewDays): RolledDays | null {
  const starts = startDays(buckets, range.timezone);
  const spanOf = (one: Range) => rolledSpan(UNFILTERED, { timezone: range.timezone }, one);
  const [whole, compared] = [spanOf(range), spanOf(before)];
  if (starts === null || whole === null || whole.tail !== null || compared === null) return null;
  return {
    from: whole.fromDay,
    to: whole.toDay,
    beforeFrom: compared.fromDay,
    beforeTo: compared.toDay,
    tail: compared.tail,
    starts,
  };
}

// An actor of a day counts in a span unless an earlier day of the span has the actor too.
const SUMS = `
SELECT t.* FROM unnest($1::text::int[], $2::text::int[], $3::text::int[], $4::text::int[],
    $5::text::int[])
  WITH ORDINALITY AS k (project_id, from_day, to_day, before_from, before_to, n)
CROSS JOIN LATERAL (
  SELECT k.n::int AS n,
    coalesce(sum(actors) FILTER (WHERE day >= k.from_day AND prev_day < k.from_day), 0)
      AS range,
    coalesce(sum(actors) FILTER (WHERE day < k.before_to AND prev_day < k.before_from), 0)
      AS before
  FROM visitor_days
  WHERE project_id = k.project_id AND day >= least(k.before_from, k.from_day) AND day < k.to_day
) AS t`;

export interface Summed {
  readonly projectId: number;
  readonly days: RolledDays;
}

/** Reads the sums of each project, all in one statement. */
export async function readRolledSums(
  sql: Sql,
  projects: readonly Summed[],
): Promise<WholeDays[]> {
  if (projects.length === 0) return [];
  const of = (number: (one: Summed) => number) => arrayLiteral(projects.map(number));
  const rows = await sql.query<WholeDays & Row & { n: number }>(SUMS, [
    of(({ projectId }) => projectId),
    of(({ days }) => days.from),
    of(({ days }) => days.to),
    of(({ days }) => days.beforeFrom),
    of(({ days }) => days.beforeTo),
  ]);
  const found = new Map(rows.map((row) => [row.n, row]));
  return projects.map((_, i) => {
    const { range, before } = found.get(i + 1)!;
    return { range, before };
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
