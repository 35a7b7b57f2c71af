import { z } from "zod";
import { GOAL_POINTS_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type Bucket, bucketsOf, shownBucket } from "../selection/buckets.ts";
import { isLifted } from "../selection/field_values.ts";
import { factConditions, factNumber, type Span } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { isKnownToHistories } from "../walks/event_tests.ts";
import type { Read } from "../walks/read.ts";
import {
  type Goal,
  GoalMatchShown,
  type GoalValue,
  GoalValueShown,
  listGoals,
} from "./goal_definitions.ts";
import {
  type ConversionRow,
  type Conversions,
  countInHistories,
  type Wanted,
} from "./goal_histories.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "./report.ts";
import { rolledSpan } from "./rolled_span.ts";
import { readRolledVisitors } from "./rolled_up.ts";

type Source = Pick<Read, "sql" | "scope">;

const NONE: Conversions = { uniqueConversions: 0, totalConversions: 0 };

/** From the first bucket's beginning to the last one's end. */
function spanOf(buckets: readonly Bucket[]): Span {
  return { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
}

/** The sum of a property over facts, and what to join for it. Only JSON numbers are summed, exactly. */
function amountSql(params: SqlParams, property: string | null): { joins: string; sum: string } {
  if (property === null) return { joins: "", sum: "NULL::numeric" };
  const { joins, value } = factNumber(params, property);
  return { joins, sum: `sum(${value})` };
}

/**
 * Conversions are the selected events that match; unique ones are the distinct actors, each counted
 * once in each bucket and once in the whole. Matching facts are read once: one row for each actor in
 * each bucket is what both counts start from.
 */
async function readConversions(
  { sql, scope }: Source,
  buckets: readonly Bucket[],
  { match, property }: Wanted,
): Promise<ConversionRow[]> {
  const params = new SqlParams();
  // A subquery: the cast from text would otherwise be done anew for each row.
  const starts = `(SELECT ${params.bigints(buckets.map(({ fromMs }) => fromMs))})`;
  const amount = amountSql(params, property);
  return await sql.query(
    `WITH matching AS MATERIALIZED (
      SELECT f.actor_id, width_bucket(f.tick >> 16, ${starts}) AS bucket,
        count(*) AS conversions, ${amount.sum} AS amount
      FROM facts f ${amount.joins}
      WHERE ${factConditions(params, scope, spanOf(buckets), match)} GROUP BY 1, 2
    )
    SELECT bucket, count(*) AS "uniqueConversions", sum(conversions) AS "totalConversions",
      NULL::numeric AS amount
    FROM matching GROUP BY bucket
    UNION ALL
    SELECT NULL, count(*), coalesce(sum(conversions), 0), sum(amount)
    FROM (
      SELECT sum(conversions) AS conversions, sum(amount) AS amount FROM matching GROUP BY actor_id
    ) AS actors`,
    params.values,
  );
}

/** Visitors: the distinct actors of the selected events. */
async function readVisitors({ sql, scope }: Source, span: Span): Promise<number> {
  const params = new SqlParams();
  const [row] = await sql.query<{ visitors: number }>(
    `SELECT count(*) AS visitors
    FROM (SELECT FROM facts f WHERE ${
      factConditions(params, scope, span)
    } GROUP BY f.actor_id) AS a`,
    params.values,
  );
  return row!.visitors;
}

function amountOf(value: GoalValue | null, { totalConversions, amount }: ConversionRow) {
  if (value === null) return { amount: null, currency: null };
  const { currency } = value;
  if ("property" in value) return { amount: amount ?? 0, currency };
  // 3 × 0.1 is 0.3: the last digit of a double is none of the amount's.
  return { amount: Number((value.fixed * totalConversions).toPrecision(15)), currency };
}

function refuseTooManyPoints(goals: number, buckets: number): void {
  if (goals * buckets <= GOAL_POINTS_MAX) return;
  throw new Problem(
    "range_too_large",
    `${goals} goals in ${buckets} buckets are more than ${GOAL_POINTS_MAX} points: take a coarser interval, or a shorter range.`,
  );
}

/** What a goal looks for, and the text that tells it from what others look for. */
function wantedOf({ match, value }: Goal): Wanted & { readonly key: string } {
  const property = value !== null && "property" in value ? value.property : null;
  return { match, property, key: JSON.stringify([match, property]) };
}

interface Found {
  readonly visitors: number;
  /** By what was looked for: goals that look for the same share one look. */
  readonly rows: ReadonlyMap<string, readonly ConversionRow[]>;
}

/** Visitors and conversions: one walk through histories counts what they tell, the facts the rest. */
async function findConversions(
  read: Read,
  buckets: readonly Bucket[],
  goals: readonly Goal[],
): Promise<Found> {
  const rolled = rolledSpan(read.scope, read.project, read.range);
  const wanted = [...new Map(goals.map(wantedOf).map((one) => [one.key, one])).values()];
  const told = wanted.filter(({ match, property }) =>
    isKnownToHistories(match.filters) && (property === null || !isLifted(property))
  );
  const counted = rolled === null || told.length > 0
    ? await countInHistories(read, buckets, told, rolled === null)
    : null;
  const rows = new Map<string, readonly ConversionRow[]>();
  if (counted !== null) told.forEach(({ key }, i) => rows.set(key, counted.conversions[i]!));
  for (const one of wanted) {
    if (!rows.has(one.key)) rows.set(one.key, await readConversions(read, buckets, one));
  }
  if (rolled !== null) return { visitors: await readRolledVisitors(read, rolled), rows };
  return { visitors: counted?.visitors ?? await readVisitors(read, spanOf(buckets)), rows };
}

async function answer(read: Read): Promise<Answer> {
  const { sql, scope, range, interval, asOfMs } = read;
  const goals = await listGoals(sql, scope.projectId);
  if (goals.length === 0) return { result: { goals: [] } };
  const buckets = bucketsOf(range, interval);
  refuseTooManyPoints(goals.length, buckets.length);
  const { visitors, rows } = await findConversions(read, buckets, goals);
  const results = goals.map((goal) => {
    const { slug, title, match, value } = goal;
    const rowOf = new Map(rows.get(wantedOf(goal).key)!.map((row) => [row.bucket, row]));
    const whole = rowOf.get(null)!;
    const counts = ({ uniqueConversions, totalConversions }: Conversions): Conversions => ({
      uniqueConversions,
      totalConversions,
    });
    return {
      slug,
      title,
      match,
      valueDefinition: value,
      ...counts(whole),
      conversionRate: rate(whole.uniqueConversions, visitors),
      value: amountOf(value, whole),
      series: buckets.map((bucket, i) => ({
        ...shownBucket(bucket, range, asOfMs),
        ...counts(rowOf.get(i + 1) ?? NONE),
      })),
    };
  });
  return {
    result: { goals: results },
    asking: askingOf({ goals: goals.map(({ match }) => match) }),
  };
}

const CountsShown = {
  uniqueConversions: z.int().meta({ description: "Distinct actors of matching events" }),
  totalConversions: z.int().meta({ description: "Matching events" }),
};

const GoalResult = z.object({
  slug: z.string(),
  title: z.string(),
  match: GoalMatchShown,
  valueDefinition: GoalValueShown,
  ...CountsShown,
  conversionRate: RateShown.meta({
    description: "Unique conversions / visitors under the same filters and range",
  }),
  value: z.object({
    amount: z.number().nullable(),
    currency: z.string().nullable(),
  }).meta({ description: "Of all conversions together; nulls where the goal has no value" }),
  series: z.array(z.object({
    start: z.iso.datetime(),
    label: z.string(),
    complete: z.boolean(),
    ...CountsShown,
  })),
}).meta({ id: "Goal" });

/** `GET /v1/goals`: every saved goal of the project, by slug. */
export const GOALS: Report = {
  path: "/v1/goals",
  summary: "Saved goals: conversions, conversion rate and value, over history too",
  parameters: {},
  semantics:
    "A conversion is a selected event (by filters and bots) in the range that matches the goal. " +
    "uniqueConversions: distinct actors; totalConversions: events; conversionRate: " +
    "uniqueConversions / visitors, those being the distinct actors of all selected events in the " +
    "range, technical names ($…) apart. value: the sum of the property where it is a JSON number, or the fixed amount for " +
    "each conversion. In a series an actor counts once in each bucket, so that buckets need not " +
    "add up to the whole.",
  reply: { goals: z.array(GoalResult) },
  ask: () => ({ refuse: ({ range, interval }) => void bucketsOf(range, interval), answer }),
};
