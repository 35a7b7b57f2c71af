import {
  comparedRange,
  instantText,
  intervalOf,
  periodAt,
  type Range,
  rangeOf,
} from "./calendar.ts";
import type { ReadParams } from "./filters.ts";
import type { FunnelResult } from "./funnel.ts";
import type { GoalDefinition, GoalResult } from "./goals.ts";
import { kpiChange, type KpisResult } from "./kpis.ts";
import type { RetentionParams, RetentionResult } from "./retention.ts";
import { inRange, segmented } from "./segments.ts";
import { type Rate, relativeChange } from "./statistics.ts";
import { shownTrends, trendChange, trendLines, type TrendsParams } from "./trends.ts";
import type { World } from "./world.ts";

/** Reads that answer `compare`, and how their figures changed. Trends show lines of the same values. */
const CHANGES = {
  kpis: (current: KpisResult, previous: KpisResult) => kpiChange(current.totals, previous.totals),
  goals: (current: { goals: GoalResult[] }, previous: { goals: GoalResult[] }) =>
    current.goals.map((goal, i) => {
      const before = previous.goals[i]!;
      return {
        slug: goal.slug,
        uniqueConversions: relativeChange(goal.uniqueConversions, before.uniqueConversions),
        totalConversions: relativeChange(goal.totalConversions, before.totalConversions),
        conversionRatePoints: points(goal.conversionRate, before.conversionRate),
        amount: relativeChange(goal.value.amount, before.value.amount),
      };
    }),
  funnels: (current: FunnelResult, previous: FunnelResult) => ({
    entered: relativeChange(current.entered, previous.entered),
    converted: relativeChange(current.converted, previous.converted),
    conversionRatePoints: points(
      current.steps.at(-1)!.conversionFromStart,
      previous.steps.at(-1)!.conversionFromStart,
    ),
    steps: current.steps.map((step, i) => ({
      actors: relativeChange(step.actors, previous.steps[i]!.actors),
      conversionFromStartPoints: points(
        step.conversionFromStart,
        previous.steps[i]!.conversionFromStart,
      ),
      conversionFromPreviousPoints: points(
        step.conversionFromPrevious,
        previous.steps[i]!.conversionFromPrevious,
      ),
    })),
  }),
  retention: (current: RetentionResult, previous: RetentionResult) => ({
    average: current.average.map(({ period, rate }, i) => ({
      period,
      points: points(rate, previous.average[i]!.rate),
    })),
  }),
} as const;

export type ComparingRead = keyof typeof CHANGES | "trends";

export function compares(read: string): read is ComparingRead {
  return read in CHANGES || read === "trends";
}

function points(current: Rate, previous: Rate): number | null {
  return current.value === null || previous.value === null ? null : current.value - previous.value;
}

/** As many whole periods just before those that a range touches. */
function periodsBefore(
  { fromMs, toMs, timezone }: Range,
  interval: "day" | "week" | "month",
): Range {
  const first = periodAt(fromMs, interval, timezone).startMs;
  let startMs = first;
  for (let ms = fromMs; ms < toMs; ms = periodAt(ms, interval, timezone).endMs) {
    startMs = periodAt(startMs - 1, interval, timezone).startMs;
  }
  return { fromMs: startMs, toMs: first, timezone, dates: null };
}

/** The range that the figures compared with are of, as the reply tells it. */
function shownRange(read: ComparingRead, params: ReadParams, range: Range): Range {
  if (read !== "retention") return range;
  const { interval = "day" } = params as RetentionParams;
  const last = periodAt(range.toMs - 1, interval, range.timezone);
  return {
    ...range,
    fromMs: periodAt(range.fromMs, interval, range.timezone).startMs,
    toMs: last.endMs,
  };
}

/** What `compare` adds to an answer. */
export function comparedAnswer(
  world: World,
  read: ComparingRead,
  params: ReadParams,
  goals: readonly GoalDefinition[],
  readOne: (world: World, params: ReadParams) => unknown,
): Record<string, unknown> {
  const { compare, segment, ...plain } = params;
  const range = rangeOf(world, params);
  const named = typeof compare === "string" && compare.startsWith("segment:")
    ? compare.slice("segment:".length)
    : null;
  const other = named === null ? comparedRange(world, params, range) : range;
  const own = segmented(world, plain, segment, range, goals);
  const current = readOne(own.world, own.params);
  if (other === null) return current as Record<string, unknown>;
  const asked = compare === "previous" && read === "retention"
    ? periodsBefore(range, (params as RetentionParams).interval ?? "day")
    : other;
  const before = segmented(world, plain, named ?? segment, asked, goals);
  // The interval is that of the current range, so that the two series lie side by side.
  const interval = read === "retention" ? plain.interval : intervalOf(params, range);
  const previousParams = { ...inRange(before.params, asked), ...interval && { interval } };
  const shown = shownRange(read, params, asked);
  const said = {
    from: instantText(shown.fromMs),
    to: instantText(shown.toMs),
  };
  if (read === "trends") {
    const lines = trendLines(own.world, own.params as TrendsParams, null);
    const values = new Set(lines.map(({ value }) => value));
    const only = (params as TrendsParams).by === undefined ? null : values;
    const earlier = trendLines(before.world, previousParams as TrendsParams, only);
    return {
      ...current as Record<string, unknown>,
      previous: {
        ...said,
        ...shownTrends(before.world, previousParams as TrendsParams, earlier),
      },
      change: trendChange(params as TrendsParams, lines, earlier),
    };
  }
  const previous = readOne(before.world, previousParams);
  const change = CHANGES[read] as (current: unknown, previous: unknown) => unknown;
  return {
    ...current as Record<string, unknown>,
    previous: { ...said, ...previous as Record<string, unknown> },
    change: change(current, previous),
  };
}
