import { type Bucket, rangeOf, series } from "./calendar.ts";
import {
  type EventMatch,
  lookedAt,
  propertyOf,
  type ReadParams,
  selectedInRange,
  takes,
  within,
} from "./filters.ts";
import { type Rate, rate, sum } from "./statistics.ts";
import { actorsOf, type Fact, type World } from "./world.ts";

export interface GoalDefinition {
  readonly slug: string;
  readonly title: string;
  readonly match: EventMatch & { readonly name: string };
  readonly value?:
    | { readonly property: string; readonly currency: string }
    | { readonly fixed: number; readonly currency: string };
}

export interface GoalResult {
  readonly slug: string;
  readonly title: string;
  readonly uniqueConversions: number;
  readonly totalConversions: number;
  readonly conversionRate: Rate;
  readonly value: { readonly amount: number | null; readonly currency: string | null };
  readonly series: readonly (Bucket & {
    readonly uniqueConversions: number;
    readonly totalConversions: number;
  })[];
}

/** `GET /v1/goals`, in the order in which the definitions are given. */
export function readGoals(
  world: World,
  params: ReadParams,
  definitions: readonly GoalDefinition[],
): { goals: GoalResult[] } {
  const range = rangeOf(world, params);
  const visitors = actorsOf(selectedInRange(world, params, range)).size;
  const goals = definitions.map((definition): GoalResult => {
    const conversionsIn = (part: { fromMs: number; toMs: number }) =>
      lookedAt(world, params).filter(within(part))
        .filter(takes(world, params, definition.match));
    const counts = (conversions: readonly Fact[]) => ({
      uniqueConversions: actorsOf(conversions).size,
      totalConversions: conversions.length,
    });
    const conversions = conversionsIn(range);
    return {
      slug: definition.slug,
      title: definition.title,
      ...counts(conversions),
      conversionRate: rate(actorsOf(conversions).size, visitors),
      value: {
        amount: amountOf(definition, conversions),
        currency: definition.value?.currency ?? null,
      },
      series: series(world, params, range, (part) => counts(conversionsIn(part))),
    };
  });
  return { goals };
}

/** What these conversions of a goal are worth; null where it has no value. */
export function amountOf(
  { value }: GoalDefinition,
  conversions: readonly Fact[],
): number | null {
  if (value === undefined) return null;
  if ("fixed" in value) return value.fixed * conversions.length;
  return sum(
    conversions.map((fact) => propertyOf(fact, value.property)).filter((v) =>
      typeof v === "number"
    ),
  );
}
