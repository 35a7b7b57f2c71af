import {
  type AcquisitionDimension,
  ROLLED_DIMENSIONS,
  WHOLE_DIMENSION,
} from "../../attribution/dimensions.ts";
import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Sql } from "../../db/sql.ts";
import { NEVER } from "../../store/no_day.ts";
import {
  AcquisitionCounter,
  type AcquisitionTally,
  WHOLE,
  withTotals,
} from "./acquisition_tally.ts";
import type { RolledSpan } from "../rollups/rolled_span.ts";

const OF_DAYS = "d.project_id = $1::int AND d.day >= $2::int AND d.day < $3::int";

/** Sessions, bounces and page views by value and by a traffic of the same channel rule. */
const SUMS = `
SELECT ${packInts(["value_number", "rule_number", "sessions", "bounces", "pageviews"])}
FROM (
  SELECT d.value_number, t.rule_number, sum(t.sessions)::int AS sessions,
    sum(t.bounces)::int AS bounces, sum(t.pageviews)::int AS pageviews
  FROM acquisition_days d
  CROSS JOIN LATERAL unnest(d.rules, d.sessions, d.bounces, d.pageviews)
    AS t (rule_number, sessions, bounces, pageviews)
  WHERE ${OF_DAYS} AND d.dimension = $4::smallint
  GROUP BY 1, 2
) AS sums`;

// A visitor of a value is counted on the one day of the span whose previous day with that value is
// before the span. A new visitor has no previous day at all, and a first day in the span.
const PEOPLE = `
SELECT ${packInts(["dimension", "value_number", "visitors", "new_visitors"])}
FROM (
  SELECT d.dimension, d.value_number,
    (sum(l.actors) FILTER (WHERE l.prev_day < $2::int))::int AS visitors,
    coalesce(sum(l.actors) FILTER (WHERE l.prev_day = ${NEVER} AND l.first_day >= $2::int), 0)::int
      AS new_visitors
  FROM acquisition_days d
  CROSS JOIN LATERAL unnest(d.prev_days, d.first_days, d.actors) AS l (prev_day, first_day, actors)
  WHERE ${OF_DAYS} AND d.dimension IN (${WHOLE_DIMENSION}, $4::smallint)
  GROUP BY 1, 2 HAVING sum(l.actors) FILTER (WHERE l.prev_day < $2::int) > 0
) AS people`;

/** Reads the counts of a dimension's values on whole days from the rollups. */
export async function readRolledAcquisition(
  sql: Sql,
  { projectId, fromDay, toDay }: RolledSpan,
  dimension: AcquisitionDimension,
): Promise<AcquisitionTally> {
  const [packed] = await sql.query<{ sums: string | null; people: string | null }>(
    `SELECT (${SUMS}) AS sums, (${PEOPLE}) AS people`,
    [projectId, fromDay, toDay, ROLLED_DIMENSIONS.indexOf(dimension)],
  );
  const sums = unpackInts(packed!.sums);
  const people = unpackInts(packed!.people);
  const numbered = (column: number) => {
    const ids = new Set(sums.filter((_, i) => i % 5 === column));
    return new Map([...ids].map((id, number) => [id, number]));
  };
  const [values, rules] = [numbered(0), numbered(1)];
  const placeOf = (value: number) => values.get(value)! + 1;
  const counter = new AcquisitionCounter(Int32Array.from(values.keys()), [...rules.keys()]);
  for (let i = 0; i < sums.length; i += 5) {
    const [value, rule, sessions, bounces, views] = sums.subarray(i, i + 5);
    counter.addSessions(placeOf(value!), rules.get(rule!)!, sessions!, bounces!, views!);
  }
  for (let i = 0; i < people.length; i += 4) {
    const isWhole = people[i] === WHOLE_DIMENSION;
    const place = isWhole ? WHOLE : placeOf(people[i + 1]!);
    counter.sums.visitors[place] = people[i + 2]!;
    counter.sums.newVisitors[place] = people[i + 3]!;
  }
  return withTotals(counter.tally());
}
