import type { Sql } from "../db/sql.ts";
import { walkNamed } from "../histories/named_walk.ts";
import { type MatchTests, UNMATCHED } from "./match_tests.ts";
import {
  type SelectedHistories,
  type VisitStretch,
  walkSelectedRuns,
  walkSelectedStretches,
} from "./selected_histories.ts";

/**
 * Visits all events that any of the matches may take, and maybe others, stretch by stretch, in
 * sessions that pass. The quickest way: just the events of the names that matches take where they are
 * few, else everybody's.
 * @param byActor whether all that an actor did must be visited before what another did
 */
export async function walkMatched(
  sql: Sql,
  selected: SelectedHistories,
  { groupOf }: MatchTests,
  byActor: boolean,
  visit: VisitStretch,
): Promise<void> {
  if (selected.sessions === null) {
    const isWanted = Uint8Array.from(groupOf, (group) => Number(group > UNMATCHED));
    if (await walkNamed(selected.histories, isWanted, visit)) return;
  }
  if (byActor) await walkSelectedStretches(sql, selected, visit);
  else await walkSelectedRuns(sql, selected, visit);
}
