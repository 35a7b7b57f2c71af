import type { Row } from "../db/sql.ts";
import { isKnownToHistories } from "./event_tests.ts";
import type { EventMatch } from "./filters.ts";
import { matchTests } from "./match_tests.ts";
import { MatchWalk } from "./match_walk.ts";
import type { Read } from "./report.ts";
import { selectHistories, walkSelected } from "./selected_histories.ts";
import type { Span } from "./selection.ts";

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

/** What was counted in one walk. */
export interface CountedGoals {
  /** Distinct actors of all selected events. */
  readonly visitors: number;
  /** Of each match. Nothing is summed. */
  readonly conversions: readonly (readonly ConversionRow[])[];
}

function conversionsOf(walk: MatchWalk, match: number, buckets: number): ConversionRow[] {
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
  return [...rows, { bucket: null, ...whole, amount: null }];
}

/**
 * Conversions of all these matches, counted in one walk over the actors' histories, and the visitors
 * where they are asked for. Null where histories are not at hand, or do not hold what filters ask for.
 */
export async function countInHistories(
  read: Pick<Read, "sql" | "scope" | "histories">,
  buckets: readonly Span[],
  matches: readonly EventMatch[],
  countsVisitors: boolean,
): Promise<CountedGoals | null> {
  const { sql, scope } = read;
  if (!isKnownToHistories(matches.flatMap((match) => match.filters))) return null;
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const selected = await selectHistories(read, span);
  if (selected === null) return null;
  const tests = await matchTests(sql, { ...scope, filters: selected.eventFilters }, matches);
  const walk = new MatchWalk(tests, buckets, null, countsVisitors);
  await walkSelected(sql, selected, (actor, way) => walk.visit(actor, way));
  return {
    visitors: walk.visitors,
    conversions: matches.map((_, match) => conversionsOf(walk, match, buckets.length)),
  };
}
