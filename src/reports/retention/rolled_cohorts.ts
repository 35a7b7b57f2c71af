import type { Row } from "../../db/sql.ts";
import { SqlParams } from "../../query/sql_params.ts";
import type { TimelineSource } from "../../scans/read.ts";
import type { CohortQuestion, CountedCohort } from "./retention_scan.ts";
import type { RolledSpan } from "../rollups/rolled_up.ts";
import { countTail } from "../rollups/rolled_tail.ts";

/**
 * Counts the retention of any event by first days ever from the rollups. This is exact, as an actor is in a
 * period once, with the last period before it. Null if there are events after `asOfMs`, which rollups of whole
 * days cannot leave out.
 */
export async function readRolledCohorts(
  source: TimelineSource,
  rolled: RolledSpan,
  { periods, cohortCount, cellCount, criterion }: CohortQuestion,
  asOfMs: number,
): Promise<CountedCohort[] | null> {
  if (await hasLaterEvents(source, rolled, asOfMs)) return null;
  const starts = rolled.daysAt([...periods.map(({ startMs }) => startMs), periods.at(-1)!.endMs]);
  const params = new SqlParams();
  const array = `(SELECT ${params.ints(starts)})`;
  const periodOf = (day: string) => `width_bucket(${day}, ${array}) - 1`;
  // How many actors of a cohort, that of their first day, came in a period, and last in another before; -1: none.
  type Chain = Row & Readonly<Record<"cohort" | "before" | "period" | "actors", number>>;
  const rows = await source.sql.query<Chain>(
    `SELECT cohort, before, period, sum(actors) AS actors
    FROM (
      SELECT ${periodOf("cohort_day")} AS cohort, ${periodOf("prev_day")} AS before,
        ${periodOf("day")} AS period, actors
      FROM visitor_days
      WHERE project_id = ${params.int(rolled.projectId)}
        AND cohort_day >= ${params.int(rolled.fromDay)} AND cohort_day < ${params.int(rolled.toDay)}
        AND day >= ${params.int(rolled.fromDay)}
    ) AS days
    WHERE before < period
    GROUP BY cohort, before, period HAVING sum(actors) > 0`,
    params.values,
  );
  const cohorts = Array.from({ length: cohortCount }, () => new Array<number>(cellCount).fill(0));
  for (const { cohort, before, period, actors } of rows) {
    const cells = cohorts[cohort]!;
    // In the periods after `before`, a return was still to come.
    const first = criterion === "on_or_after" ? Math.max(before + 1, cohort) : period;
    for (let p = first; p <= period && p - cohort < cellCount; p++) cells[p - cohort]! += actors;
  }
  return cohorts.map((actors) => ({ size: actors[0]!, actors }));
}

/** Whether the rollups count events after `asOfMs`, of clocks that are ahead. */
async function hasLaterEvents(
  source: TimelineSource,
  { projectId, daysAt, endOfDayMs }: RolledSpan,
  asOfMs: number,
): Promise<boolean> {
  const [row] = await source.sql.query<{ later: boolean }>(
    `SELECT EXISTS (
      SELECT FROM day_totals WHERE project_id = $1::int AND day > $2::int AND events > 0) AS later`,
    [projectId, daysAt([asOfMs])[0]!],
  );
  if (row!.later) return true;
  const rest = { fromMs: asOfMs + 1, toMs: endOfDayMs(asOfMs) };
  return (await countTail(source, projectId, rest)).events > 0;
}
