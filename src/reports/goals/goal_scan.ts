import type { EventMatch } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { Read } from "../../scans/read.ts";
import { MATCH_COUNTS, type MatchInputs } from "../visitors/match_visitor.ts";
import { figuresOf } from "../visitors/property_figures.ts";
import { selectMatches } from "../visitors/selected_events.ts";

/** Unique ones are distinct actors. */
interface Conversions {
  readonly uniqueConversions: number;
  readonly totalConversions: number;
}

/** What is looked for: matching events, and the property whose numbers are summed; null: none. */
export interface Wanted {
  readonly match: EventMatch;
  readonly property: string | null;
}

/** What one that is wanted comes to, in the whole span and in each bucket. */
export interface GoalCounts extends Conversions {
  /** The sum of the property, exactly. */
  readonly amount: number;
  readonly series: readonly Conversions[];
}

interface CountedGoals {
  /** Distinct actors of all selected events. */
  readonly visitors: number;
  /** Of each that is wanted. */
  readonly goals: readonly GoalCounts[];
}

/** Conversions of all that is wanted, counted in one scan, and the visitors where they are asked for. */
export async function scanGoals(
  read: Pick<Read, "sql" | "scope" | "timelines">,
  buckets: readonly Span[],
  wanted: readonly Wanted[],
  countsVisitors: boolean,
): Promise<CountedGoals> {
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const properties = new Set(wanted.flatMap(({ property }) => property ?? []));
  const asked = wanted.map(({ match }) => match);
  const columns = [...properties].map((property) => ({ property }));
  const { selected, matches } = await selectMatches(read, span, asked, { columns });
  for (const key of properties) prepareNumbers(selected.timelines, key);
  const summed = wanted.flatMap(({ property: key }, match) => key === null ? [] : [{ match, key }]);
  const inputs: MatchInputs = {
    ...{ matches, buckets, countsVisitors },
    figures: summed.map(({ match, key }) => ({ match, measure: { kind: "sum", key } })),
    figuresOfWhole: true,
  };
  const counts = await selected.scan(MATCH_COUNTS, () => inputs);
  const amounts = new Map(
    summed.map(({ match }, i) => [match, figuresOf("sum", counts.figures[i]!)[0]!]),
  );
  const goals = wanted.map((_, i): GoalCounts => {
    const place = i * buckets.length;
    const series = buckets.map((_, bucket) => ({
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
