import type { EventMatch } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { matchTests } from "./match_tests.ts";
import { MatchWalk } from "./match_walk.ts";
import { walkMatched } from "./matched_walk.ts";
import type { Read } from "./read.ts";
import { selectHistories } from "./selected_histories.ts";

/** Distinct actors of the selected events in a span that each of the matches takes, in one walk. */
export async function countVisitors(
  source: Pick<Read, "sql" | "scope" | "histories">,
  span: Span,
  matches: readonly EventMatch[],
): Promise<number[]> {
  const { sql, scope } = source;
  const filters = matches.flatMap((match) => match.filters);
  const selected = await selectHistories(source, span, { filters });
  const ofEvents = { ...scope, filters: selected.eventFilters };
  const tests = await matchTests(sql, ofEvents, matches, selected.histories.bits);
  const counts = new MatchWalk(tests, [span], null, false);
  await walkMatched(sql, selected, tests, true, (actor, segment, start, end) => {
    counts.follow(actor, segment, start, end);
  });
  return matches.map((_, match) => counts.actorsOf[counts.placeOf(match, 0)]!);
}
