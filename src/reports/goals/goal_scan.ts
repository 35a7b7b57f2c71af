import type { VisitRun } from "../../timelines/run_walk.ts";
import type { EventMatch } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { matchTests } from "../../scans/match_tests.ts";
import { MatchWalk } from "../../scans/match_walk.ts";
import { walkMatched } from "../../scans/matched_walk.ts";
import type { Read } from "../../scans/read.ts";
import { selectHistories, walkSelectedStretches } from "../../scans/selected_histories.ts";
import { PropertyFigures } from "../property_figures.ts";

/** Unique ones are distinct actors. */
export interface Conversions {
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

export interface CountedGoals {
  /** Distinct actors of all selected events. */
  readonly visitors: number;
  /** Of each that is wanted. */
  readonly goals: readonly GoalCounts[];
}

/** Conversions of all that is wanted, counted in one walk, and the visitors where they are asked for. */
export async function scanGoals(
  read: Pick<Read, "sql" | "scope" | "histories">,
  buckets: readonly Span[],
  wanted: readonly Wanted[],
  countsVisitors: boolean,
): Promise<CountedGoals> {
  const { sql, scope } = read;
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const properties = new Set(wanted.flatMap(({ property }) => property ?? []));
  const selected = await selectHistories(read, span, {
    filters: wanted.flatMap(({ match }) => match.filters),
    columns: [...properties].map((property) => ({ property })),
  });
  const { eventFilters: filters, histories: { bits } } = selected;
  const matches = wanted.map(({ match }) => match);
  const tests = await matchTests(sql, { ...scope, filters }, matches, bits);
  const walk = new MatchWalk(tests, buckets, null, countsVisitors);
  const sums = new Map(
    wanted.flatMap(({ property: key }, i) =>
      key === null ? [] : [[i, new PropertyFigures(tests, i, { kind: "sum", key }, [span])]]
    ),
  );
  const follow: VisitRun = (actor, segment, start, end) => {
    walk.follow(actor, segment, start, end);
    for (const sum of sums.values()) sum.follow(actor, segment, start, end);
  };
  // Visitors are those who did anything that is selected.
  if (countsVisitors) await walkSelectedStretches(sql, selected, follow);
  else await walkMatched(sql, selected, tests, true, follow);
  const goals = wanted.map((_, i): GoalCounts => {
    const place = walk.placeOf(i, 0);
    const series = buckets.map((_, bucket) => ({
      uniqueConversions: walk.actorsOf[place + bucket]!,
      totalConversions: walk.totalsOf[place + bucket]!,
    }));
    return {
      uniqueConversions: walk.actors[i]!,
      totalConversions: series.reduce((sum, { totalConversions }) => sum + totalConversions, 0),
      amount: sums.get(i)?.figures()[0] ?? 0,
      series,
    };
  });
  return { visitors: walk.visitors, goals };
}
