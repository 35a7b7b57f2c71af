import { type Range, rangeOf } from "./calendar.ts";
import { countingSessions, matches, passesBots, type ReadParams, sessionValue } from "./filters.ts";
import type { GoalDefinition } from "./goals.ts";
import { type Rate, rate, sum } from "./statistics.ts";
import {
  actorsOf,
  byCodeUnits,
  byValue,
  type Fact,
  groupBy,
  historyOf,
  type Session,
  type World,
} from "./world.ts";

export type AcquisitionField =
  | "channel"
  | "source"
  | "medium"
  | "campaign"
  | "term"
  | "content"
  | "referrer"
  | "entryPath"
  | "country"
  | "region"
  | "city"
  | "browser"
  | "os"
  | "device";

export interface AcquisitionParams extends ReadParams {
  readonly by?: AcquisitionField;
  /** Slug of one of the goals. */
  readonly goal?: string;
}

export interface AcquisitionRow {
  readonly value: string | null;
  readonly visitors: number;
  readonly newVisitors: number;
  readonly sessions: number;
  readonly bounceRate: Rate;
  readonly pageviews: number;
  readonly conversions?: number;
  readonly conversionRate?: Rate;
  readonly rule: string | null;
}

export interface AcquisitionResult {
  readonly rows: readonly AcquisitionRow[];
  readonly total: AcquisitionRow;
}

/** `GET /v1/acquisition` of a project that has these goals. */
export function readAcquisition(
  world: World,
  params: AcquisitionParams,
  goals: readonly GoalDefinition[] = [],
): AcquisitionResult {
  const goal = goals.find(({ slug }) => slug === params.goal)?.match ?? null;
  const range = rangeOf(world, params);
  const sessions = countingSessions(world, params, range);
  const { by = "channel", bots } = params;
  const converts = goal === null
    ? null
    : (fact: Fact) => passesBots(fact, bots) && matches(fact, goal, world);
  const rows = [...groupBy(sessions, (session) => sessionValue(session, by))]
    .map(([value, own]) => rowOf(world, range, value, own, converts))
    .sort(byCounts);
  return { rows, total: { ...rowOf(world, range, null, sessions, converts), rule: null } };
}

function rowOf(
  world: World,
  range: Range,
  value: string | null,
  sessions: readonly Session[],
  converts: ((fact: Fact) => boolean) | null,
): AcquisitionRow {
  const { firstSeenMs } = historyOf(world);
  const visitors = actorsOf(sessions);
  const isNew = (actor: string) => {
    const firstMs = firstSeenMs.get(actor)!;
    return firstMs >= range.fromMs && firstMs < range.toMs;
  };
  const converted = converts === null
    ? null
    : actorsOf(sessions.filter(({ facts }) => facts.some(converts))).size;
  return {
    value,
    visitors: visitors.size,
    newVisitors: [...visitors].filter(isNew).length,
    sessions: sessions.length,
    bounceRate: rate(sessions.filter(({ bounce }) => bounce).length, sessions.length),
    pageviews: sum(sessions.map(({ pageViews }) => pageViews.length)),
    ...converted === null
      ? {}
      : { conversions: converted, conversionRate: rate(converted, visitors.size) },
    rule: mostFrequent(sessions.map(({ traffic }) => traffic.rule)),
  };
}

/** Among equally frequent ones the first by name. */
function mostFrequent(names: readonly string[]): string | null {
  const [most] = [...groupBy(names, (name) => name)].sort(([a, ofA], [b, ofB]) =>
    ofB.length - ofA.length || byCodeUnits(a, b)
  );
  return most?.[0] ?? null;
}

function byCounts(a: AcquisitionRow, b: AcquisitionRow): number {
  return b.visitors - a.visitors || b.newVisitors - a.newVisitors || b.sessions - a.sessions ||
    b.pageviews - a.pageviews || (b.conversions ?? 0) - (a.conversions ?? 0) ||
    byValue(a.value, b.value);
}
