import { z } from "zod";
import type { Row } from "../db/sql.ts";
import { NAME_LENGTH_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { EventMatch } from "./filters.ts";
import { loadGoal } from "./goal_definitions.ts";
import { invalidParameter, oneOf, readAll } from "./parameters.ts";
import { type Answer, rate, RateShown, type Read, type Report } from "./report.ts";
import { rolledPeople, rolledSums } from "./rolled_acquisition.ts";
import { type RolledSpan, rolledSpan } from "./rolled_up.ts";
import { afterCursor, encodeRowCursor, readRowCursor, type RowCursor } from "./row_cursor.ts";
import {
  factConditions,
  type Scope,
  sessionConditions,
  sessionValue,
  type Span,
} from "./selection.ts";
import { sessionsEndByMs } from "./session_end.ts";
import { SqlParams } from "./sql_params.ts";

const BY = [
  "channel",
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
  "entryPath",
  "country",
  "region",
  "city",
  "browser",
  "os",
  "device",
] as const;

type By = typeof BY[number];

/** What the figures are of: whom `by` splits, and what counts as a conversion (null: nothing). */
interface Asked {
  readonly scope: Scope;
  readonly span: Span;
  readonly by: By;
  readonly goal: EventMatch | null;
  /** Past the last event of the sessions that start in the span. */
  readonly reachToMs: number;
}

/** What one value comes to. */
interface Figures extends Row {
  /** The row is that of all values together. */
  readonly whole: boolean;
  readonly value: string | null;
  readonly visitors: number;
  readonly newVisitors: number;
  readonly sessions: number;
  readonly bounces: number;
  readonly pageviews: number;
  readonly conversions: number;
  readonly rule: string | null;
}

/**
 * The number of a session by which its value is known, and the table that lists such numbers where
 * several may have the same value.
 */
function numberedBy(by: By): { number: string; dictionary: string | null } {
  switch (by) {
    case "entryPath":
      return { number: "entry_path_id", dictionary: null };
    case "country":
    case "region":
    case "city":
    case "browser":
    case "os":
    case "device":
      return { number: "context_id", dictionary: "contexts" };
    default:
      return { number: "traffic_id", dictionary: "traffic" };
  }
}

/** The actor of a session in which the goal is reached, by whatever event, also past the span; or null. */
function convertedActor(params: SqlParams, { scope, span, goal, reachToMs }: Asked): string {
  if (goal === null) return "NULL::int";
  const unfiltered: Scope = { ...scope, filters: [] };
  const whole: Span = { fromMs: span.fromMs, toMs: reachToMs };
  return `CASE WHEN s.session_id IN (
      SELECT DISTINCT f.session_id FROM facts f
      WHERE ${factConditions(params, unfiltered, whole, goal)} AND f.session_id IS NOT NULL
    ) THEN s.actor_id END`;
}

/** The sessions that count, each with the number that its value is known by. */
function countingSessions(params: SqlParams, asked: Asked): string {
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
function valueNumbersOf(params: SqlParams, { scope, by }: Asked): ValueNumbers {
  const { number, dictionary } = numberedBy(by);
  if (dictionary === null) return { table: "", valueNumber: "number" };
  const { joins, value } = sessionValue(by);
  const alike = `SELECT s.${number} AS number,
      min(s.${number}) OVER (PARTITION BY (${value}) COLLATE "C") AS value_number
    FROM ${dictionary} s ${joins} WHERE s.project_id = ${params.int(scope.projectId)}`;
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

const COUNTS = ["visitors", '"newVisitors"', "sessions", "pageviews"];

/** What a page is sorted by. */
function countsOf(goal: EventMatch | null): string[] {
  return goal === null ? COUNTS : [...COUNTS, "conversions"];
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
function countedAnew(params: SqlParams, asked: Asked): string {
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

/** The rows that follow the cursor, one more than `limit` where there are more, and last the whole. */
async function readFigures(
  { sql, project: { timezone }, range }: Read,
  asked: Asked,
  cursor: RowCursor | null,
  limit: number,
): Promise<Figures[]> {
  const params = new SqlParams();
  const { joins, value } = sessionValue(asked.by);
  const { number } = numberedBy(asked.by);
  const project = params.int(asked.scope.projectId);
  const rolled = asked.goal === null ? rolledSpan(asked.scope, { timezone }, range) : null;
  const counted = rolled === null || rolled.tail !== null
    ? countedAnew(params, asked)
    : countedBefore(params, rolled, asked.by);
  const counts = countsOf(asked.goal);
  const order = [...counts.map((count) => `${count} DESC`), 'value COLLATE "C" ASC NULLS LAST'];
  return await sql.query<Figures>(
    `WITH ${counted},
    named AS (
      SELECT s.*, ${value} AS value
      FROM (
        SELECT *, value_number AS ${number}, ${project} AS project_id FROM (${FIGURES}) AS figures
      ) AS s ${joins}
    ),
    page AS MATERIALIZED (
      SELECT value_number, ${SHOWN} FROM named WHERE ${afterCursor(params, cursor, counts, "value")}
      ORDER BY ${order.join(", ")} LIMIT ${params.int(limit + 1)}
    )
    SELECT * FROM (
      SELECT false AS whole, ${SHOWN}, rule
      FROM page LEFT JOIN (${rulesOf(project)}) AS r USING (value_number)
      UNION ALL
      SELECT true, NULL, visitors, "newVisitors", sessions, bounces, pageviews, conversions, NULL
      FROM people CROSS JOIN (${SUMS_OF_ALL}) AS a WHERE whole
    ) AS shown
    ORDER BY whole, ${order.join(", ")}`,
    params.values,
  );
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

async function answer(read: Read): Promise<Answer> {
  const { sql, scope, query, limit } = read;
  const { projectId } = scope;
  const { by, slug, cursor } = readAll({
    by: () => oneOf(query, "by", BY, "channel"),
    slug: () => readSlug(query),
    cursor: () => readRowCursor(query, query.get("goal") ? COUNTS.length + 1 : COUNTS.length),
  });
  const goal = slug === null ? null : (await loadGoal(sql, projectId, slug))?.match;
  if (goal === undefined) throw new Problem("not_found", "There is no goal of this name.");
  const span: Span = { fromMs: read.range.from.getTime(), toMs: read.range.to.getTime() };
  const reachToMs = goal === null ? span.toMs : await sessionsEndByMs(sql, projectId, span.toMs);
  const asked: Asked = { scope, span, by, goal, reachToMs };
  const found = await readFigures(read, asked, cursor, limit);
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
  answer,
};
