import type { Sql } from "../db/sql.ts";
import type { EventMatch } from "../query/filters.ts";
import { matchFilters, type Scope } from "../query/selection.ts";
import { mayMeanTechnical, withoutTechnical, withoutUnnamed } from "../query/technical.ts";
import { type EventPasses, isOfName } from "./event_test.ts";
import { eventPasses } from "./event_tests.ts";
import type { FilterBits } from "./filter_bits.ts";
import type { MatchPasses } from "./match_tests.ts";

/**
 * Returns which events each match takes under a scope. `sql` must see the same moment as the timelines.
 * @param bits those of the timelines, for the filters of the scope and of the matches
 */
export async function matchPasses(
  sql: Sql,
  scope: Scope,
  matches: readonly EventMatch[],
  bits: FilterBits | Promise<FilterBits>,
): Promise<MatchPasses> {
  const { filters, bots } = scope;
  const lists = [
    withoutUnnamed(filters, matches),
    withoutTechnical(filters),
    ...matches.map((match) => withoutTechnical(matchFilters(match), filters)),
  ];
  const [ofScope, counted, ...ofMatches] = await eventPasses(sql, scope, bots, lists, bits);
  const mayMeanOthers = matches.some((match) => mayMeanTechnical(matchFilters(match)));
  return { scope: ofScope!, tests: ofMatches, counted: mayMeanOthers ? counted!.names : null };
}

/**
 * Returns what passes for events that any match takes, by their names, and for some others. If the scope takes all events
 * of a name, that is the scope: visitors skip runs by the names of matches anyway.
 */
export function passesOfMatches({ scope, tests }: MatchPasses): EventPasses {
  const [first, ...others] = tests.map(({ names }) => names);
  if (first == null || others.includes(null) || isOfName(scope)) return scope;
  const names = first.slice();
  for (const table of others) {
    for (let name = 0; name < names.length; name++) names[name]! |= table![name]!;
  }
  return { ...scope, names };
}
