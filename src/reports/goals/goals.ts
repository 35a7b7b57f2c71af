import { passesOfMatches } from "../../scans/match_passes.ts";
import { z } from "zod";
import { GOAL_POINTS_MAX } from "../../limits.ts";
import { BUCKET_SHOWN, bucketsOf, shownBucket } from "../../query/buckets.ts";
import { namesPerson } from "../../query/filters.ts";
import { rangeTooLarge } from "../../query/parameters.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import { changeOf, ChangeShown, pointsOf, PointsShown } from "../answer/changes.ts";
import { COMPARED_SHOWN, comparisonOf } from "../answer/compared_read.ts";
import { type Goal, GoalMatchShown, GoalValueShown, listGoals } from "../saved/goal_definitions.ts";
import { worthOf, worthProperty, WorthShown } from "../saved/goal_worth.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { readRolledVisitors, rolledSpan } from "../rollups/rolled_up.ts";
import { isSmall } from "../answer/small_groups.ts";
import type { Span } from "../../query/selection.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import { MATCH_COUNTS, type MatchInputs } from "../visitors/match_visitor.ts";
import { figuresOf } from "../visitors/property_figures.ts";
import { selectMatches } from "../../scans/selected_events.ts";

interface Conversions {
  /** Distinct actors. */
  readonly uniqueConversions: number;
  /** Events. */
  readonly totalConversions: number;
}

/**
 * Counts the conversions of the wanted goals, in their order, in the whole span and in each bucket, in one scan.
 * `amount`: the exact sum of the property; 0 without one. `visitors`: the distinct actors of all selected events;
 * 0 without `countsVisitors`.
 */
async function scanGoals(
  read: ScanSource,
  buckets: readonly Span[],
  wanted: readonly ReturnType<typeof wantedOf>[],
  countsVisitors: boolean,
) {
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const properties = new Set(wanted.flatMap(({ property }) => property ?? []));
  const goalMatches = wanted.map(({ match }) => match);
  const columns = [...properties].map((property) => ({ property }));
  const { selected, matches } = await selectMatches(read, span, goalMatches, { columns });
  for (const key of properties) prepareNumbers(selected.timelines, key);
  const summed = wanted.flatMap(({ property: key }, match) => key === null ? [] : [{ match, key }]);
  const inputs: MatchInputs = {
    matches,
    buckets,
    countsVisitors,
    figures: summed.map(({ match, key }) => ({ match, measure: { kind: "sum", key } })),
    figuresOfWhole: true,
  };
  const counts = await selected.scan(MATCH_COUNTS, () => inputs, {
    // Visitors are those of all selected events.
    askedEvents: countsVisitors ? matches.scope : passesOfMatches(matches),
  });
  const amounts = new Map(
    summed.map(({ match }, i) => [match, figuresOf("sum", counts.figures[i]!)[0]!]),
  );
  const goals = wanted.map((_, i) => {
    const place = i * buckets.length;
    const series = buckets.map((_, bucket): Conversions => ({
      uniqueConversions: counts.actorsOf[place + bucket]!,
      totalConversions: counts.totalsOf[place + bucket]!,
    }));
    return {
      uniqueConversions: counts.actors[i]!,
      totalConversions: series.reduce((sum, { totalConversions }) => sum + totalConversions, 0),
      amount: amounts.get(i) ?? 0,
      series,
    };
  });
  return { visitors: counts.visitors, goals };
}

/**
 * Returns the events of a goal, the property whose numbers are summed over them (null: none), and a key that is equal for
 * goals with equal counts.
 */
function wantedOf({ match, value }: Goal) {
  const property = worthProperty(value);
  return { match, property, key: JSON.stringify([match, property]) };
}

/** Returns counts as replies show them: nulls for a share if too few people stand behind them. */
function shownCounts({ uniqueConversions, totalConversions }: Conversions, isShown: boolean) {
  return isShown
    ? { uniqueConversions, totalConversions }
    : { uniqueConversions: null, totalConversions: null };
}

async function resultsOf(read: Read, goals: readonly Goal[]): Promise<GoalResult[]> {
  if (goals.length === 0) return [];
  const { scope, project, range, interval, asOfMs, visitorsMin } = read;
  const buckets = bucketsOf(range, interval);
  if (goals.length * buckets.length > GOAL_POINTS_MAX) {
    throw rangeTooLarge(
      "interval",
      `${goals.length} goals in ${buckets.length} buckets are more than ${GOAL_POINTS_MAX} points: take a coarser interval, or a shorter range.`,
    );
  }
  const rolled = rolledSpan(scope, project, range);
  // Goals with equal keys are counted once.
  const wanted = new Map(goals.map(wantedOf).map((one) => [one.key, one]));
  const counted = await scanGoals(read, buckets, [...wanted.values()], rolled === null);
  const countsOf = new Map([...wanted.keys()].map((key, i) => [key, counted.goals[i]!]));
  const visitors = rolled === null ? counted.visitors : await readRolledVisitors(read, rolled);
  return goals.map((goal) => {
    const { slug, title, match, value } = goal;
    const counts = countsOf.get(wantedOf(goal).key)!;
    const isShown = !isSmall(counts.uniqueConversions, visitorsMin);
    return {
      slug,
      title,
      match,
      valueDefinition: value,
      ...shownCounts(counts, isShown),
      conversionRate: isShown ? rate(counts.uniqueConversions, visitors) : rate(0, 0),
      value: isShown ? worthOf(value, counts) : { amount: null, currency: value?.currency ?? null },
      series: counts.series.map((own, i) => ({
        ...shownBucket(buckets[i]!, range, asOfMs),
        ...shownCounts(own, isShown && !isSmall(own.uniqueConversions, visitorsMin)),
      })),
    };
  });
}

function changeOfGoal(current: GoalResult, previous: GoalResult): GoalChange {
  return {
    slug: current.slug,
    uniqueConversions: changeOf(current.uniqueConversions, previous.uniqueConversions),
    totalConversions: changeOf(current.totalConversions, previous.totalConversions),
    conversionRatePoints: pointsOf(current.conversionRate, previous.conversionRate),
    amount: changeOf(current.value.amount, previous.value.amount),
  };
}

async function answer(read: Read): Promise<Answer> {
  const { sql, scope, isShared } = read;
  const all = await listGoals(sql, scope.projectId);
  // A share shows no goal whose filters name a person.
  const goals = isShared ? all.filter(({ match }) => !match.filters.some(namesPerson)) : all;
  const results = await resultsOf(read, goals);
  const comparison = await comparisonOf(read, async (compared) => {
    const previous = await resultsOf(compared, goals);
    return {
      previous: { goals: previous },
      change: results.map((goal, i) => changeOfGoal(goal, previous[i]!)),
    };
  });
  return {
    result: { goals: results, ...comparison },
    matches: { goals: goals.map(({ match }) => match) },
  };
}

const CountsShown = {
  uniqueConversions: z.int().nullable().describe(
    "Distinct actors of matching events; null: too few for a share",
  ),
  totalConversions: z.int().nullable().describe(
    "Matching events; null: of too few visitors for a share",
  ),
};

const GoalResult = z.object({
  slug: z.string(),
  title: z.string(),
  match: GoalMatchShown,
  valueDefinition: GoalValueShown,
  ...CountsShown,
  conversionRate: RateShown.describe(
    "Unique conversions / visitors under the same filters and range",
  ),
  value: WorthShown.describe("Of all conversions together; nulls where the goal has no value"),
  series: z.array(z.object({ ...BUCKET_SHOWN, ...CountsShown })),
}).meta({ id: "Goal" });

export type GoalResult = z.output<typeof GoalResult>;

const GoalChange = z.object({
  slug: z.string(),
  uniqueConversions: ChangeShown,
  totalConversions: ChangeShown,
  conversionRatePoints: PointsShown,
  amount: ChangeShown,
}).meta({ id: "GoalChange" });

export type GoalChange = z.output<typeof GoalChange>;

export const GOALS_REPLY = {
  goals: z.array(GoalResult),
  previous: z.object({ ...COMPARED_SHOWN, goals: z.array(GoalResult) }).optional().describe(
    "Only with `compare`: the goals in the range or segment compared with",
  ),
  change: z.array(GoalChange).optional().describe("In the order of `goals`"),
};

/** `GET /v1/goals`: every saved goal of the project, by slug. */
export const GOALS: Report = {
  path: "/v1/goals",
  summary: "Saved goals: conversions, conversion rate and value, over history too",
  parameters: {},
  compares: "asked",
  semantics:
    "A conversion is a selected event (by filters and bots) in the range that matches the goal. " +
    "uniqueConversions: distinct actors; totalConversions: events; conversionRate: " +
    "uniqueConversions / visitors, those being the distinct actors of all selected events in the " +
    "range, technical names ($…) apart. value: the sum of the property where it is a JSON number, or the fixed amount for " +
    "each conversion. In a series an actor counts once in each bucket, so that buckets need not " +
    "add up to the whole. change = (current - previous) / previous; " +
    "conversionRatePoints = current - previous.",
  reply: GOALS_REPLY,
  ask: () => ({ answer }),
};
