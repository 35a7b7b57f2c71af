import { z } from "zod";
import { NAME_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { invalidParameter, oneOf, readAll } from "../selection/parameters.ts";
import {
  afterCursor,
  encodeRowCursor,
  readRowCursor,
  type RowCursor,
} from "../selection/row_cursor.ts";
import {
  factConditions,
  planSessionJoins,
  type Scope,
  sessionConditions,
  sessionValue,
  type Span,
} from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import type { Read } from "../walks/read.ts";
import { sessionsEndByMs, withoutHistories } from "../walks/session_end.ts";
import { figuresInHistories } from "./acquisition_histories.ts";
import {
  alikeNumbers,
  type Asked,
  BY,
  type By,
  countsOf,
  type Figures,
  numberedBy,
  orderOf,
} from "./acquisition_values.ts";
import { loadGoal } from "./goal_definitions.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "./report.ts";
import { rolledPeople, rolledSums } from "./rolled_acquisition.ts";
import { type RolledSpan, rolledSpan } from "./rolled_span.ts";

/** And how far the sessions reach that start in the span: past the last event of each. */
interface CountedAnew extends Asked {
  readonly reachToMs: number;
}

/** The actor of a session in which the goal is reached, by whatever event, also past the span; or null. */
function convertedActor(
  params: SqlParams,
  { scope, span, goal, reachToMs }: CountedAnew,
): string {
  if (goal === null) return "NULL::int";
  const unfiltered: Scope = { ...scope, filters: [] };
  const whole: Span = { fromMs: span.fromMs, toMs: reachToMs };
  return `CASE WHEN s.session_id IN (
      SELECT DISTINCT f.session_id FROM facts f
      WHERE ${factConditions(params, unfiltered, whole, goal)} AND f.session_id IS NOT NULL
    ) THEN s.actor_id END`;
}

/** The sessions that count, each with the number that its value is known by. */
function countingSessions(params: SqlParams, asked: CountedAnew): string {
  const { scope, span, by } = asked;
  // Actors are found by their id or hashed, never by their time: hence the shift on the column.
  return `SELECT coalesce(s.${numberedBy(by).number}, 0) AS number, s.traffic_id, s.actor_id,
      a.actor_id AS new_actor_id, ${convertedActor(params, asked)} AS converted_actor_id,
      s.views, s.views <= 1 AND s.customs = 0 AS bounce
    FROM sessions s
    LEFT JOIN actors a ON a.project_id = ${params.int(scope.projectId)} AND a.actor_id = s.actor_id
      AND a.first_tick >> 16 >= ${params.ms(span.fromMs)}
      AND a.first_tick >> 16 < ${params.ms(span.toMs)}
    WHERE ${sessionConditions(params, scope, span)}`;
}

/** How the numbers of the counting sessions become one number for each value. */
interface ValueNumbers {
  /** A common table expression for `with`, or nothing. */
  readonly table: string;
  readonly valueNumber: string;
}

/**
 * The number of a value is the least of those that share it. So what follows compares numbers, and
 * yet counts values. They are looked up in an array from the first to the last number, gaps filled:
 * numbers are given out one after the other, and a join may be planned badly on tables whose
 * statistics are missing.
 */
function valueNumbersOf(params: SqlParams, asked: Asked): ValueNumbers {
  const alike = alikeNumbers(params, asked);
  if (alike === null) return { table: "", valueNumber: "number" };
  return {
    table: `alike AS MATERIALIZED (${alike}),
    numbers AS MATERIALIZED (
      SELECT 1 - min(number) AS shift, array_agg(value_number ORDER BY number) AS value_numbers
      FROM (
        SELECT number, coalesce(min(value_number), 0) AS value_number
        FROM (
          SELECT number, value_number FROM alike
          UNION ALL
          SELECT generate_series(min(number), max(number)), NULL FROM alike
        ) AS filled
        GROUP BY number
      ) AS listed
    ),`,
    valueNumber: "(SELECT value_numbers FROM numbers)[number + (SELECT shift FROM numbers)]",
  };
}

/** What adds up, by value and traffic. */
function sumsOf(valueNumber: string): string {
  return `SELECT ${valueNumber} AS value_number, traffic_id, sessions, bounces, pageviews
    FROM (
      SELECT number, traffic_id, count(*) AS sessions, count(*) FILTER (WHERE bounce) AS bounces,
        sum(views) AS pageviews
      FROM counting GROUP BY 1, 2
    ) AS summed`;
}

/**
 * What does not add up: distinct actors, of each value and of the whole. Sorting takes a fraction of
 * what hashing each pair would.
 */
function peopleOf(valueNumber: string): string {
  return `SELECT grouping(value_number) = 1 AS whole, value_number,
      count(DISTINCT actor_id) AS visitors, count(DISTINCT new_actor_id) AS "newVisitors",
      count(DISTINCT converted_actor_id) AS conversions
    FROM (
      SELECT ${valueNumber} AS value_number, actor_id, new_actor_id, converted_actor_id
      FROM counting
    ) AS people
    GROUP BY GROUPING SETS ((value_number), ())`;
}

const SUMS_OF_ALL = `
  SELECT coalesce(sum(sessions), 0) AS sessions, coalesce(sum(bounces), 0) AS bounces,
    coalesce(sum(pageviews), 0) AS pageviews
  FROM sums`;

// Both at once. Not a join, which many values could make long.
const FIGURES = `
  SELECT value_number, sum(visitors) AS visitors, sum("newVisitors") AS "newVisitors",
    sum(conversions) AS conversions, sum(sessions) AS sessions, sum(bounces) AS bounces,
    sum(pageviews) AS pageviews
  FROM (
    SELECT value_number, visitors, "newVisitors", conversions, 0 AS sessions, 0 AS bounces,
      0 AS pageviews
    FROM people WHERE NOT whole
    UNION ALL
    SELECT value_number, 0, 0, 0, sessions, bounces, pageviews FROM sums
  ) AS parts
  GROUP BY value_number`;

/** The rule of most sessions of each value on the page; among equals the first by name. */
function rulesOf(project: string): string {
  return `SELECT DISTINCT ON (value_number) value_number, rule
    FROM (
      SELECT value_number, t.rule, sum(sessions) AS sessions
      FROM sums
      JOIN traffic t ON t.project_id = ${project} AND t.traffic_id = sums.traffic_id
      WHERE (value_number IN (SELECT value_number FROM page)) IS TRUE
      GROUP BY 1, 2
    ) AS rules
    ORDER BY value_number, sessions DESC, rule COLLATE "C"`;
}

const SHOWN = 'value, visitors, "newVisitors", sessions, bounces, pageviews, conversions';

/** The common table expressions that the figures start from: `sums` and `people`. */
function countedAnew(params: SqlParams, asked: CountedAnew): string {
  const { table, valueNumber } = valueNumbersOf(params, asked);
  // Selecting sessions by their events is worth doing once; all of them are read faster twice, each
  // time by several workers, than written down.
  const once = asked.scope.filters.length > 0 ? "MATERIALIZED" : "NOT MATERIALIZED";
  return `counting AS ${once} (${countingSessions(params, asked)}),
    ${table}
    sums AS MATERIALIZED (${sumsOf(valueNumber)}),
    people AS MATERIALIZED (${peopleOf(valueNumber)})`;
}

/** The same where whole days of all visitors are asked for: from what the fold has counted. */
function countedBefore(params: SqlParams, rolled: RolledSpan, by: By): string {
  return `sums AS MATERIALIZED (${rolledSums(params, rolled, by)}),
    people AS MATERIALIZED (${rolledPeople(params, rolled, by)})`;
}

/** The rows that follow the cursor, `rows` at most, and last the whole. */
async function queryFigures(
  { sql }: Read,
  asked: CountedAnew,
  rolled: RolledSpan | null,
  cursor: RowCursor | null,
  rows: number,
): Promise<Figures[]> {
  const { scope: { projectId }, by, goal } = asked;
  const params = new SqlParams();
  const { joins, value } = sessionValue(by);
  const project = params.int(projectId);
  const counted = rolled === null ? countedAnew(params, asked) : countedBefore(params, rolled, by);
  const order = orderOf(goal !== null);
  if (rolled === null) await planSessionJoins(sql, asked.scope);
  return await sql.query<Figures>(
    `WITH ${counted},
    named AS (
      SELECT s.*, ${value} AS value
      FROM (
        SELECT *, value_number AS ${numberedBy(by).number}, ${project} AS project_id
        FROM (${FIGURES}) AS figures
      ) AS s ${joins}
    ),
    page AS MATERIALIZED (
      SELECT value_number, ${SHOWN} FROM named
      WHERE ${afterCursor(params, cursor, countsOf(goal !== null), "value")}
      ORDER BY ${order} LIMIT ${params.int(rows)}
    )
    SELECT * FROM (
      SELECT false AS whole, ${SHOWN}, rule
      FROM page LEFT JOIN (${rulesOf(project)}) AS r USING (value_number)
      UNION ALL
      SELECT true, NULL, visitors, "newVisitors", sessions, bounces, pageviews, conversions, NULL
      FROM people CROSS JOIN (${SUMS_OF_ALL}) AS a WHERE whole
    ) AS shown
    ORDER BY whole, ${order}`,
    params.values,
  );
}

/** The same by the quickest way: what the fold has counted, else histories, else facts and sessions. */
async function readFigures(
  read: Read,
  asked: Asked,
  cursor: RowCursor | null,
  rows: number,
): Promise<Figures[]> {
  const { scope, span, goal } = asked;
  const { timezone } = read.project;
  const rolled = goal === null ? rolledSpan(scope, { timezone }, read.range) : null;
  if (rolled !== null && rolled.tail === null) {
    return await queryFigures(read, { ...asked, reachToMs: span.toMs }, rolled, cursor, rows);
  }
  const followed = await figuresInHistories(read, asked, cursor, rows);
  if (followed !== null) return followed;
  const reachToMs = goal === null
    ? span.toMs
    : await sessionsEndByMs({ ...read, histories: withoutHistories }, scope.projectId, span.toMs);
  return await queryFigures(read, { ...asked, reachToMs }, null, cursor, rows);
}

const count = (description: string) => z.int().meta({ description });

const AcquisitionRow = z.object({
  value: z.string().nullable().meta({ description: "Null where the sessions have none" }),
  visitors: count("Distinct actors of the sessions"),
  newVisitors: count("Those whose first event ever lies in the range"),
  sessions: count("Sessions that start in the range"),
  bounceRate: RateShown,
  pageviews: count("Page views of the sessions"),
  conversions: count("With `goal`: distinct actors who reach it in these sessions").optional(),
  conversionRate: RateShown.optional().meta({ description: "conversions / visitors" }),
  rule: z.string().nullable().meta({
    description: "Channel rule of most of the sessions; null in the total",
  }),
}).meta({ id: "AcquisitionRow" });

function shown(figures: Figures, withGoal: boolean): z.output<typeof AcquisitionRow> {
  const { value, visitors, newVisitors, sessions, bounces, pageviews, conversions, rule } = figures;
  return {
    value,
    visitors,
    newVisitors,
    sessions,
    bounceRate: rate(bounces, sessions),
    pageviews,
    ...withGoal ? { conversions, conversionRate: rate(conversions, visitors) } : {},
    rule,
  };
}

/** `goal`: the slug of a saved goal; null where it is not given. */
function readSlug(query: URLSearchParams): string | null {
  const slug = query.get("goal");
  if (slug === null || slug === "") return null;
  if (slug.length <= NAME_LENGTH_MAX && slug.isWellFormed() && !slug.includes("\0")) return slug;
  throw invalidParameter("goal", "Use the slug of a saved goal.");
}

interface Own {
  readonly by: By;
  readonly slug: string | null;
  readonly cursor: RowCursor | null;
}

function readOwn(query: URLSearchParams): Own {
  return readAll({
    by: () => oneOf(query, "by", BY, "channel"),
    slug: () => readSlug(query),
    cursor: () => readRowCursor(query, countsOf(Boolean(query.get("goal"))).length),
  });
}

async function answer(read: Read, { by, slug, cursor }: Own): Promise<Answer> {
  const { sql, scope, limit } = read;
  const { projectId } = scope;
  const goal = slug === null ? null : (await loadGoal(sql, projectId, slug))?.match;
  if (goal === undefined) throw new Problem("not_found", "There is no goal of this name.");
  const span: Span = { fromMs: read.range.from.getTime(), toMs: read.range.to.getTime() };
  const found = await readFigures(read, { scope, span, by, goal }, cursor, limit + 1);
  const total = found.pop()!;
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1)! : null;
  const nextCursor = last === null ? null : encodeRowCursor({
    counts: [
      last.visitors,
      last.newVisitors,
      last.sessions,
      last.pageviews,
      ...goal === null ? [] : [last.conversions],
    ],
    value: last.value,
  });
  return {
    query: { by, goal: slug },
    asking: askingOf({ goal: [goal] }),
    result: {
      rows: rows.map((row) => shown(row, goal !== null)),
      total: shown(total, goal !== null),
      nextCursor,
    },
  };
}

/** `GET /v1/acquisition`: where sessions come from, begin, and are made, and what they come to. */
export const ACQUISITION: Report = {
  path: "/v1/acquisition",
  summary:
    "Visitors, sessions, bounces and conversions by channel, source, entry page, place or device",
  parameters: {
    by: `What to split by: ${BY.join(", ")}. Default: channel`,
    goal: "Slug of a saved goal whose conversions to count",
  },
  semantics:
    "Rows are over sessions that start in the range and hold a selected event, whole, by the value of their first page view (of their first event, if they have none). " +
    "visitors = distinct actors of the row's sessions; newVisitors = those of them whose first event ever lies in the range; pageviews are those of the sessions. " +
    "bounceRate = bounces / sessions. conversions = distinct actors with an event of the goal (a bot's only where asked for) within the row's sessions; conversionRate = conversions / visitors. " +
    "rule = the channel rule of most of the row's sessions. total is the unsplit row.",
  reply: {
    rows: z.array(AcquisitionRow),
    total: AcquisitionRow,
    nextCursor: z.string().nullable().meta({ description: "Null on the last page" }),
  },
  ask: (query) => {
    const own = readOwn(query);
    return { answer: (read) => answer(read, own) };
  },
};
