import type { Row } from "../db/sql.ts";
import type { EventMatch } from "../selection/filters.ts";
import type { Span } from "../selection/selection.ts";
import { isKnownToHistories } from "../walks/event_tests.ts";
import { type MatchTests, matchTests } from "../walks/match_tests.ts";
import { MatchWalk } from "../walks/match_walk.ts";
import { walkMatched } from "../walks/matched_walk.ts";
import { PropertySum } from "../walks/property_sums.ts";
import type { Read } from "../walks/read.ts";
import {
  type SelectedHistories,
  selectHistories,
  type VisitStretch,
  walkSelectedStretches,
} from "../walks/selected_histories.ts";

/** Unique ones are distinct actors. */
export interface Conversions {
  readonly uniqueConversions: number;
  readonly totalConversions: number;
}

/** A row of each bucket that is not empty, counted from 1, and one of the whole with bucket null. */
export interface ConversionRow extends Row, Conversions {
  readonly bucket: number | null;
  /** Of the whole only; null where no event had a number. */
  readonly amount: number | null;
}

/** What is looked for: matching events, and the property whose numbers are summed. */
export interface Wanted {
  readonly match: EventMatch;
  /** Null: nothing is summed. */
  readonly property: string | null;
}

/** What was counted in one walk. */
export interface CountedGoals {
  /** Distinct actors of all selected events. */
  readonly visitors: number;
  /** Of each that is wanted. */
  readonly conversions: readonly (readonly ConversionRow[])[];
}

function conversionsOf(
  walk: MatchWalk,
  match: number,
  buckets: number,
  amount: number | null,
): ConversionRow[] {
  const rows: ConversionRow[] = [];
  let total = 0;
  const place = walk.placeOf(match, 0);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const totalConversions = walk.totalsOf[place + bucket]!;
    if (totalConversions === 0) continue;
    total += totalConversions;
    const uniqueConversions = walk.actorsOf[place + bucket]!;
    rows.push({ bucket: bucket + 1, uniqueConversions, totalConversions, amount: null });
  }
  const whole = { uniqueConversions: walk.actors[match]!, totalConversions: total };
  return [...rows, { bucket: null, ...whole, amount }];
}

/** The sums that are wanted, by number; null where histories do not hold a property. */
async function sumsOf(
  { histories }: SelectedHistories,
  tests: MatchTests,
  span: Span,
  wanted: readonly Wanted[],
): Promise<Map<number, PropertySum> | null> {
  const sums = new Map<number, PropertySum>();
  for (const [i, { property }] of wanted.entries()) {
    if (property === null) continue;
    const columns = await histories.property(property);
    if (columns === null) return null;
    sums.set(i, new PropertySum(tests, i, span, columns));
  }
  return sums;
}

/**
 * Conversions of all that is wanted, counted in one walk over the actors' histories, and the visitors
 * where they are asked for. Null where histories are not at hand, or do not hold what is asked for.
 */
export async function countInHistories(
  read: Pick<Read, "sql" | "scope" | "histories">,
  buckets: readonly Span[],
  wanted: readonly Wanted[],
  countsVisitors: boolean,
): Promise<CountedGoals | null> {
  const { sql, scope } = read;
  const ofMatches = wanted.flatMap(({ match }) => match.filters);
  if (!isKnownToHistories(ofMatches)) return null;
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const selected = await selectHistories(read, span, ofMatches);
  if (selected === null) return null;
  const { eventFilters: filters, histories } = selected;
  const matches = wanted.map(({ match }) => match);
  const tests = await matchTests(sql, { ...scope, filters }, matches, histories.bits);
  const sums = await sumsOf(selected, tests, span, wanted);
  if (sums === null) return null;
  const walk = new MatchWalk(tests, buckets, null, countsVisitors);
  const follow: VisitStretch = (actor, segment, start, end) => {
    walk.follow(actor, segment, start, end);
    for (const sum of sums.values()) sum.follow(actor, segment, start, end);
  };
  // Visitors are those who did anything that is selected.
  if (countsVisitors) await walkSelectedStretches(sql, selected, follow);
  else await walkMatched(sql, selected, tests, true, follow);
  return {
    visitors: walk.visitors,
    conversions: wanted.map((_, i) =>
      conversionsOf(walk, i, buckets.length, sums.get(i)?.value ?? null)
    ),
  };
}
