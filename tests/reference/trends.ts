import { type Bucket, rangeOf, series } from "./calendar.ts";
import {
  type EventMatch,
  fieldText,
  lookedAt,
  propertyOf,
  type ReadParams,
  takes,
  within,
} from "./filters.ts";
import { mean, percentile, ratio, relativeChange, sum } from "./statistics.ts";
import { actorsOf, byValue, type Fact, groupBy, type World } from "./world.ts";

export type TrendEvent = string | EventMatch & { readonly label?: string };

export interface TrendsParams extends ReadParams {
  /** A name or a match, or several of them; any event by default. */
  readonly event?: TrendEvent | readonly TrendEvent[] | undefined;
  /** `total`, `visitors`, `perVisitor`, or `sum`, `avg`, `min`, `max`, `p50`, `p90` and a property. */
  readonly measure?: string;
  readonly by?: string;
}

export type TrendPoint = Bucket & { readonly value: number | null };

export interface TrendLine {
  readonly event: string | null;
  readonly value: string | null;
  readonly points: readonly TrendPoint[];
}

export interface TrendsResult {
  readonly series: readonly TrendPoint[] | readonly TrendLine[];
}

const VALUES_MAX = 25;

/** `GET /v1/trends`. */
export function readTrends(world: World, params: TrendsParams): TrendsResult {
  return shownTrends(world, params, trendLines(world, params, null));
}

/** The events of one line. */
export interface LineFacts {
  /** The number of the event among those asked for. */
  readonly place: number;
  readonly event: string | null;
  readonly value: string | null;
  readonly facts: readonly Fact[];
}

/** The lines of a read. `only`: values that have one of their own; null: those with most events. */
export function trendLines(
  world: World,
  params: TrendsParams,
  only: ReadonlySet<string | null> | null,
): LineFacts[] {
  const { by } = params;
  const events = eventsOf(params);
  const isOf = ({ match }: Line) => takes(world, params, match);
  const selected = lookedAt(world, params).filter(within(rangeOf(world, params)))
    .filter((fact) => events.some((event) => isOf(event)(fact)));
  const groups = by === undefined
    ? [{ value: null, facts: selected }]
    : rankedGroups(selected, by, world, only);
  return events.flatMap((event, place) =>
    groups.map(({ value, facts }) => ({
      place,
      event: event.label,
      value,
      facts: facts.filter(isOf(event)),
    })).filter(({ facts }) => by === undefined || facts.length > 0)
  );
}

/** The only line by its points, several by their names. */
export function shownTrends(
  world: World,
  params: TrendsParams,
  lines: readonly LineFacts[],
): TrendsResult {
  const { by, measure = "total" } = params;
  const range = rangeOf(world, params);
  const shown = lines.map(({ event, value, facts }) => ({
    event,
    value,
    points: series(world, params, range, (part) => ({
      value: measured(facts.filter(within(part)), measure),
    })),
  }));
  return { series: by === undefined && shown.length === 1 ? shown[0]!.points : shown };
}

/** How each line changed over the whole of both ranges; one that is not there has no events. */
export function trendChange(
  { measure = "total" }: TrendsParams,
  current: readonly LineFacts[],
  previous: readonly LineFacts[],
) {
  const same = (a: LineFacts) => (b: LineFacts) => a.place === b.place && a.value === b.value;
  const added = previous.filter((line) => !current.some(same(line)));
  return [...current, ...added].map((line) => {
    const of = (lines: readonly LineFacts[]) =>
      measured(lines.find(same(line))?.facts ?? [], measure);
    const { event, value } = line;
    const [now, before] = [of(current), of(previous)];
    return {
      event,
      value,
      current: now,
      previous: before,
      change: relativeChange(now, before),
    };
  });
}

/** One of the events asked for, and how it is called. */
interface Line {
  readonly match: EventMatch;
  readonly label: string | null;
}

function eventsOf({ event = {} }: TrendsParams): Line[] {
  return [event].flat().map((one) =>
    typeof one === "string"
      ? { match: { name: one }, label: one }
      : { match: one, label: one.label ?? one.name ?? null }
  );
}

interface Group {
  readonly value: string | null;
  readonly facts: readonly Fact[];
}

/** The values with most events, or those that are given, and the rest as one. */
function rankedGroups(
  selected: readonly Fact[],
  by: string,
  world: World,
  only: ReadonlySet<string | null> | null,
): Group[] {
  const groups = [...groupBy(selected, (fact) => fieldText(fact, by, world))]
    .map(([value, facts]): Group => ({ value, facts }))
    .sort((a, b) => b.facts.length - a.facts.length || byValue(a.value, b.value));
  const named = groups.filter(({ value }) => only === null || only.has(value));
  const top = named.slice(0, VALUES_MAX);
  const rest = groups.filter((group) => !top.includes(group)).flatMap(({ facts }) => facts);
  return rest.length === 0 ? top : [...top, { value: "$other", facts: rest }];
}

function measured(facts: readonly Fact[], measure: string): number | null {
  const [kind, field = ""] = measure.split(":");
  const visitors = actorsOf(facts).size;
  if (kind === "total") return facts.length;
  if (kind === "visitors") return visitors;
  if (kind === "perVisitor") return ratio(facts.length, visitors);
  const numbers = facts.map((fact) => propertyOf(fact, field)).filter((v) => typeof v === "number");
  switch (kind) {
    case "sum":
      return sum(numbers);
    case "avg":
      return mean(numbers);
    case "min":
      return percentile(numbers, 0);
    case "max":
      return percentile(numbers, 1);
    case "p50":
      return percentile(numbers, 0.5);
    case "p90":
      return percentile(numbers, 0.9);
    default:
      throw new Error(`unknown measure: ${measure}`);
  }
}
