import { type Bucket, rangeOf, series } from "./calendar.ts";
import { fieldText, lookedAt, propertyOf, type ReadParams, takes, within } from "./filters.ts";
import { percentile, type Rate, rate } from "./statistics.ts";
import { byValue, type Fact, groupBy, type World } from "./world.ts";

export interface VitalsParams extends ReadParams {
  readonly by?: "path" | "device" | "country" | "browser" | "os";
}

/** Up to the first a value is good, beyond the second it is poor. */
const BOUNDS: Readonly<Record<string, { readonly good: number; readonly poor: number }>> = {
  lcp: { good: 2500, poor: 4000 },
  inp: { good: 200, poor: 500 },
  cls: { good: 0.1, poor: 0.25 },
  fcp: { good: 1800, poor: 3000 },
  ttfb: { good: 800, poor: 1800 },
};
const VALUES_MAX = 25;

interface Vital {
  readonly p75: number | null;
  readonly rating: string | null;
  readonly good: Rate;
  readonly needsImprovement: Rate;
  readonly poor: Rate;
}

type Told = Readonly<Record<string, unknown>>;

export interface VitalsResult {
  readonly bounds: typeof BOUNDS;
  readonly totals: Told;
  readonly rows: readonly Told[];
  readonly series: readonly Bucket[];
}

/** `GET /v1/vitals`. */
export function readVitals(world: World, params: VitalsParams): VitalsResult {
  const { by = "path" } = params;
  const range = rangeOf(world, params);
  const facts = lookedAt(world, params).filter(within(range))
    .filter(takes(world, params, { name: "$web_vitals" }));
  const groups = [...groupBy(facts, (fact) => fieldText(fact, by, world))]
    .sort(([a, some], [b, more]) => more.length - some.length || byValue(a, b));
  const rest = groups.slice(VALUES_MAX).flatMap(([, some]) => some);
  const top = groups.slice(0, VALUES_MAX).map(([value, some]) => ({ value, ...told(some) }));
  return {
    bounds: BOUNDS,
    totals: told(facts),
    rows: rest.length === 0 ? top : [...top, { value: "$other", ...told(rest) }],
    series: series(world, params, range, (part) => {
      const inPart = facts.filter(within(part));
      const p75 = eachVital((name) => percentile(numbersOf(inPart, name), 0.75));
      return { pageViews: inPart.length, ...p75 };
    }),
  };
}

function eachVital<T>(make: (name: string) => T): Record<string, T> {
  return Object.fromEntries(Object.keys(BOUNDS).map((name) => [name, make(name)]));
}

function numbersOf(facts: readonly Fact[], name: string): number[] {
  return facts.map((fact) => propertyOf(fact, name)).filter((value) => typeof value === "number");
}

function told(facts: readonly Fact[]): Told {
  return { pageViews: facts.length, ...eachVital((name) => vital(numbersOf(facts, name), name)) };
}

function vital(numbers: readonly number[], name: string): Vital {
  const { good, poor } = BOUNDS[name]!;
  const ratingOf = (value: number) =>
    value <= good ? "good" : value <= poor ? "needs-improvement" : "poor";
  const share = (rating: string) =>
    rate(numbers.filter((value) => ratingOf(value) === rating).length, numbers.length);
  const p75 = percentile(numbers, 0.75);
  return {
    p75,
    rating: p75 === null ? null : ratingOf(p75),
    good: share("good"),
    needsImprovement: share("needs-improvement"),
    poor: share("poor"),
  };
}
