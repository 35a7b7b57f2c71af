import { type Range, rangeOf } from "./calendar.ts";
import { countingSessions, matches, passesBots, type ReadParams, sessionValue } from "./filters.ts";
import { amountOf, type GoalDefinition } from "./goals.ts";
import { type ImportedRow, ownFromMs, shownDays, together, told, toldWith } from "./imported.ts";
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
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly bounceRate: Rate;
  readonly pageviews: number | null;
  readonly conversions?: number;
  readonly conversionRate?: Rate;
  readonly goalValue?: { readonly amount: number | null; readonly currency: string | null };
  readonly rule: string | null;
  readonly imported?: true;
}

/** A goal, and which events are its conversions. */
interface Converting {
  readonly goal: GoalDefinition;
  readonly isOne: (fact: Fact) => boolean;
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
  const goal = goals.find(({ slug }) => slug === params.goal) ?? null;
  const range = rangeOf(world, params);
  const sessions = countingSessions(world, params, range);
  const { by = "channel", bots } = params;
  const converts: Converting | null = goal === null ? null : {
    goal,
    isOne: (fact) => passesBots(fact, bots) && matches(fact, goal.match, world),
  };
  const rows = [...groupBy(sessions, (session) => sessionValue(session, by))]
    .map(([value, own]) => rowOf(world, range, value, own, converts));
  const total = { ...rowOf(world, range, null, sessions, converts), rule: null };
  // Sums of days do not tell who reached a goal.
  const days = converts === null ? shownDays(world, params, range, by) : [];
  if (days.length === 0) return { rows: rows.sort(byCounts), total };
  const imported = days.flatMap(({ rowsOf }) => rowsOf.get(by)!);
  const whole = days.flatMap(({ rowsOf }) => rowsOf.get("all") ?? rowsOf.get(by)!);
  const hasOwn = range.toMs > ownFromMs(world);
  return {
    rows: withImported(rows, imported).sort(byCounts),
    total: merged(null, hasOwn ? total : null, whole),
  };
}

/** Own rows and those of imported days, each value once. */
function withImported(own: readonly AcquisitionRow[], imported: readonly ImportedRow[]) {
  const ofValue = groupBy(imported, ({ value }) => value);
  const values = new Set([...own.map(({ value }) => value), ...ofValue.keys()]);
  return [...values].map((value) => {
    const row = own.find((one) => one.value === value) ?? null;
    const rows = ofValue.get(value);
    return rows === undefined ? row! : merged(value, row, rows);
  });
}

function merged(
  value: string | null,
  own: AcquisitionRow | null,
  rows: readonly ImportedRow[],
): AcquisitionRow {
  const rateOf = own?.bounceRate ?? rate(0, 0);
  return {
    value,
    visitors: together(own?.visitors ?? null, told(rows, "visitors")),
    newVisitors: own?.newVisitors ?? null,
    sessions: together(own?.sessions ?? null, told(rows, "visits")),
    bounceRate: rate(
      rateOf.numerator + (told(rows, "bounces") ?? 0),
      rateOf.denominator + toldWith(rows, "visits", "bounces"),
    ),
    pageviews: together(own?.pageviews ?? null, told(rows, "pageviews")),
    rule: own?.rule ?? null,
    imported: true,
  };
}

function rowOf(
  world: World,
  range: Range,
  value: string | null,
  sessions: readonly Session[],
  converts: Converting | null,
): AcquisitionRow {
  const { firstSeenMs } = historyOf(world);
  const visitors = actorsOf(sessions);
  const isNew = (actor: string) => {
    const firstMs = firstSeenMs.get(actor)!;
    return firstMs >= range.fromMs && firstMs < range.toMs;
  };
  return {
    value,
    visitors: visitors.size,
    newVisitors: [...visitors].filter(isNew).length,
    sessions: sessions.length,
    bounceRate: rate(sessions.filter(({ bounce }) => bounce).length, sessions.length),
    pageviews: sum(sessions.map(({ pageViews }) => pageViews.length)),
    ...converts === null ? {} : convertedIn(sessions, visitors.size, converts),
    rule: mostFrequent(sessions.map(({ traffic }) => traffic.rule)),
  };
}

/** The goal's events within the sessions, technical ones apart, which are in none. */
function convertedIn(sessions: readonly Session[], visitors: number, { goal, isOne }: Converting) {
  const conversions = sessions.flatMap(({ facts }) => facts.filter(isOne));
  const converted = actorsOf(conversions).size;
  return {
    conversions: converted,
    conversionRate: rate(converted, visitors),
    goalValue: {
      amount: amountOf(goal, conversions),
      currency: goal.value?.currency ?? null,
    },
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
  const by = (count: "visitors" | "newVisitors" | "sessions" | "pageviews") =>
    (b[count] ?? 0) - (a[count] ?? 0);
  return by("visitors") || by("newVisitors") || by("sessions") || by("pageviews") ||
    (b.conversions ?? 0) - (a.conversions ?? 0) ||
    byValue(a.value, b.value);
}
