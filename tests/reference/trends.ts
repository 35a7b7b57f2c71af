import { type Bucket, rangeOf, series } from "./calendar.ts";
import { fieldText, propertyOf, type ReadParams, selectedInRange, within } from "./filters.ts";
import { mean, percentile, ratio, sum } from "./statistics.ts";
import { actorsOf, byValue, type Fact, groupBy, type World } from "./world.ts";

export interface TrendsParams extends ReadParams {
  /** A name or several; any event by default. */
  readonly event?: string | readonly string[];
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
  const { event, by, measure = "total" } = params;
  const range = rangeOf(world, params);
  const names = event === undefined ? [null] : typeof event === "string" ? [event] : event;
  const selected = selectedInRange(world, params, range)
    .filter(({ row }) => names.some((name) => name === null || name === row.name));
  const points = (facts: readonly Fact[]) =>
    series(world, params, range, (part) => ({
      value: measured(facts.filter(within(part)), measure),
    }));
  const ofEvent = (facts: readonly Fact[], name: string | null) =>
    name === null ? facts : facts.filter(({ row }) => row.name === name);

  if (by === undefined) {
    if (names.length === 1) return { series: points(selected) };
    return {
      series: names.map((name) => ({
        event: name,
        value: null,
        points: points(ofEvent(selected, name)),
      })),
    };
  }
  const ranked = rankedGroups(selected, by, world);
  return {
    series: names.flatMap((name) =>
      ranked.map(({ value, facts }) => ({ value, facts: ofEvent(facts, name) }))
        .filter(({ facts }) => facts.length > 0)
        .map(({ value, facts }) => ({ event: name, value, points: points(facts) }))
    ),
  };
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
