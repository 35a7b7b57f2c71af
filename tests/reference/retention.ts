import { type Bucket, instantText, type Period, periodAt, rangeOf } from "./calendar.ts";
import { type EventMatch, lookedAt, type ReadParams, takes } from "./filters.ts";
import { type Rate, rate, sum } from "./statistics.ts";
import { actorsOf, type Fact, type World } from "./world.ts";

export interface RetentionParams extends Omit<ReadParams, "interval"> {
  /** An event's name, or a match; any event by default. */
  readonly start?: string | EventMatch;
  readonly return?: string | EventMatch;
  readonly cohort?: "first" | "recurring";
  readonly criterion?: "on" | "on_or_after";
  readonly interval?: "day" | "week" | "month";
  readonly periods?: number;
}

export interface RetentionCell {
  readonly period: number;
  readonly actors: number | null;
  readonly rate: Rate;
  readonly complete: boolean;
}

export interface Cohort extends Omit<Bucket, "complete"> {
  readonly size: number;
  readonly cells: readonly RetentionCell[];
}

export interface RetentionResult {
  readonly cohorts: readonly Cohort[];
  readonly average: readonly { readonly period: number; readonly rate: Rate }[];
}

const PERIODS_DEFAULT = 7;

/** `GET /v1/retention`. */
export function readRetention(world: World, params: RetentionParams): RetentionResult {
  const { interval: given, ...shared } = params;
  const interval = given ?? "day";
  const { cohort = "first", periods: cellCount = PERIODS_DEFAULT } = params;
  const range = rangeOf(world, shared);
  const selected = lookedAt(world, shared);
  const isStart = takes(world, shared, matchOf(params.start));
  const isReturn = takes(world, shared, matchOf(params.return));

  const past = selected.filter(({ atMs }) => atMs <= world.asOfMs);
  const starts = past.filter(isStart);
  const firstStarts = starts.filter((fact) =>
    starts.find(({ actor }) => actor === fact.actor) === fact
  );
  const cohortEvents = cohort === "first" ? firstStarts : starts;
  const returns = past.filter(isReturn);

  const cohorts: Cohort[] = [];
  for (let ms = range.fromMs; ms < range.toMs;) {
    const own = periodAt(ms, interval, range.timezone);
    const members = actorsOf(cohortEvents.filter(({ atMs }) => isIn(own, atMs)));
    const cells: RetentionCell[] = [];
    let period = own;
    for (let k = 0; k < cellCount; k++) {
      cells.push(cellOf(world, params, k, period, members, returns));
      period = periodAt(period.endMs, interval, range.timezone);
    }
    const { startMs, label } = own;
    cohorts.push({ start: instantText(startMs), label, size: members.size, cells });
    ms = own.endMs;
  }
  return { cohorts, average: averageOf(cohorts, cellCount) };
}

export function matchOf(match: string | EventMatch | undefined): EventMatch {
  return typeof match === "string" ? { name: match } : match ?? {};
}

function isIn({ startMs, endMs }: Period, atMs: number): boolean {
  return atMs >= startMs && atMs < endMs;
}

function cellOf(
  world: World,
  { criterion = "on" }: RetentionParams,
  k: number,
  period: Period,
  members: ReadonlySet<string>,
  returns: readonly Fact[],
): RetentionCell {
  if (period.startMs > world.asOfMs) {
    const nothing = { value: null, numerator: 0, denominator: members.size };
    return { period: k, actors: null, rate: nothing, complete: false };
  }
  const came = actorsOf(
    returns.filter(({ actor, atMs }) =>
      members.has(actor) && (criterion === "on" ? isIn(period, atMs) : atMs >= period.startMs)
    ),
  );
  return {
    period: k,
    actors: came.size,
    rate: rate(came.size, members.size),
    complete: period.endMs <= world.asOfMs,
  };
}

/** Over the cohorts whose cell is complete, large and small alike by their actors. */
function averageOf(cohorts: readonly Cohort[], cellCount: number) {
  return Array.from({ length: cellCount }, (_, period) => {
    const complete = cohorts.filter(({ cells }) => cells[period]!.complete);
    return {
      period,
      rate: rate(
        sum(complete.map(({ cells }) => cells[period]!.actors!)),
        sum(complete.map(({ size }) => size)),
      ),
    };
  });
}
