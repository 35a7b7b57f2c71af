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
import { mean, percentile, ratio, sum } from "./statistics.ts";
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
  const { by, measure = "total" } = params;
  const range = rangeOf(world, params);
  const events = eventsOf(params);
  const isOf = ({ match }: Line) => takes(world, params, match);
  const selected = lookedAt(world, params).filter(within(range))
    .filter((fact) => events.some((event) => isOf(event)(fact)));
  const points = (facts: readonly Fact[]) =>
    series(world, params, range, (part) => ({
      value: measured(facts.filter(within(part)), measure),
    }));

  if (by === undefined) {
    if (events.length === 1) return { series: points(selected) };
    return {
      series: events.map((event) => ({
        event: event.label,
        value: null,
        points: points(selected.filter(isOf(event))),
      })),
    };
  }
  const ranked = rankedGroups(selected, by, world);
  return {
    series: events.flatMap((event) =>
      ranked.map(({ value, facts }) => ({ value, facts: facts.filter(isOf(event)) }))
        .filter(({ facts }) => facts.length > 0)
        .map(({ value, facts }) => ({ event: event.label, value, points: points(facts) }))
    ),
  };
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

/** The values with most events, and the rest as one. */
function rankedGroups(selected: readonly Fact[], by: string, world: World): Group[] {
  const groups = [...groupBy(selected, (fact) => fieldText(fact, by, world))]
    .map(([value, facts]): Group => ({ value, facts }))
    .sort((a, b) => b.facts.length - a.facts.length || byValue(a.value, b.value));
  const rest = groups.slice(VALUES_MAX).flatMap(({ facts }) => facts);
  const top = groups.slice(0, VALUES_MAX);
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
