import type { EventMatch } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { ScanSource } from "../../scans/read.ts";
import { MATCH_COUNTS, type MatchInputs } from "../visitors/match_visitor.ts";
import { figuresOf } from "../visitors/property_figures.ts";
import { selectMatches } from "../../scans/selected_events.ts";

export interface Conversions {
  /** Distinct actors. */
  readonly uniqueConversions: number;
  /** Events. */
  readonly totalConversions: number;
}

/** The events of a goal, and the property whose numbers are summed over them; null: none. */
export interface WantedGoal {
  readonly match: EventMatch;
  readonly property: string | null;
}

/**
 * Counts the conversions of the wanted goals, in their order, in the whole span and in each bucket, in one scan.
 * `amount`: the exact sum of the property; 0 without one. `visitors`: the distinct actors of all selected events;
 * 0 without `countsVisitors`.
 */
export async function scanGoals(
  read: ScanSource,
  buckets: readonly Span[],
  wanted: readonly WantedGoal[],
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
  const counts = await selected.scan(MATCH_COUNTS, () => inputs, { askedEvents: matches.scope });
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
