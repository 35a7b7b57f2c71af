import type { SqlParams } from "../selection/sql_params.ts";
import { NEVER, type RolledSpan } from "./rolled_span.ts";

/** What the rollups call each way to tell sessions apart. */
export const ROLLED_DIMENSIONS = {
  all: 0,
  channel: 1,
  source: 2,
  medium: 3,
  campaign: 4,
  term: 5,
  content: 6,
  referrer: 7,
  entryPath: 8,
  country: 9,
  region: 10,
  city: 11,
  browser: 12,
  os: 13,
  device: 14,
} as const;
export type RolledDimension = keyof typeof ROLLED_DIMENSIONS;

function ofDays(
  params: SqlParams,
  { projectId, fromDay, toDay }: RolledSpan,
  dimension: RolledDimension,
): string {
  return `d.project_id = ${params.int(projectId)} AND d.dimension = ${ROLLED_DIMENSIONS[dimension]}
    AND d.day >= ${params.int(fromDay)} AND d.day < ${params.int(toDay)}`;
}

/** Sessions, bounces and page views by value and by a traffic of the same channel rule. */
export function rolledSums(
  params: SqlParams,
  rolled: RolledSpan,
  dimension: RolledDimension,
): string {
  return `SELECT d.value_number, t.rule_number AS traffic_id, sum(t.sessions) AS sessions,
      sum(t.bounces) AS bounces, sum(t.pageviews) AS pageviews
    FROM acquisition_days d
    CROSS JOIN LATERAL unnest(d.rules, d.sessions, d.bounces, d.pageviews)
      AS t (rule_number, sessions, bounces, pageviews)
    WHERE ${ofDays(params, rolled, dimension)}
    GROUP BY 1, 2`;
}

/**
 * Distinct actors of each value and of the whole. Who came by a value on a day of the span, and
 * before that not since the span began, is one: each actor has one such day. New ones had no such
 * day before at all, since what they did first of all lies in the span.
 */
export function rolledPeople(
  params: SqlParams,
  rolled: RolledSpan,
  dimension: RolledDimension,
): string {
  const first = params.int(rolled.fromDay);
  const counts = `coalesce(sum(l.actors) FILTER (WHERE l.prev_day < ${first}), 0) AS visitors,
    coalesce(sum(l.actors) FILTER (WHERE l.prev_day = ${NEVER} AND l.first_day >= ${first}), 0)
      AS "newVisitors",
    0 AS conversions`;
  const of = (name: RolledDimension) =>
    `FROM acquisition_days d
    CROSS JOIN LATERAL unnest(d.prev_days, d.first_days, d.actors) AS l (prev_day, first_day, actors)
    WHERE ${ofDays(params, rolled, name)}`;
  return `SELECT true AS whole, NULL::int AS value_number, ${counts} ${of("all")}
    UNION ALL
    SELECT false, d.value_number, ${counts} ${of(dimension)}
    GROUP BY d.value_number HAVING sum(l.actors) FILTER (WHERE l.prev_day < ${first}) > 0`;
}
