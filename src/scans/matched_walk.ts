import type { Sql } from "../db/sql.ts";
import { walkPartActors } from "../timelines/actor_walk.ts";
import { walkPartNamed } from "../timelines/named_walk.ts";
import { type VisitRun, walkPartRuns } from "../timelines/run_walk.ts";
import { type MatchTests, UNMATCHED } from "./match_tests.ts";
import { byStretch, type SelectedHistories, walkSelectedStretches } from "./selected_histories.ts";

/**
 * Visits all events that any of the matches may take, and maybe others, stretch by stretch, in
 * sessions that pass. The quickest way: just the events of the names and paths that matches take where
 * they are few, else everybody's.
 * @param byActor whether all that an actor did must be visited before what another did
 */
export async function walkMatched(
  sql: Sql,
  selected: SelectedHistories,
  { groupOf, paths }: MatchTests,
  byActor: boolean,
  visit: VisitRun,
): Promise<void> {
  const { histories, sessions } = selected;
  if (sessions !== null) return await walkSelectedStretches(sql, selected, visit);
  const isWanted = Uint8Array.from(groupOf, (group) => Number(group > UNMATCHED));
  for await (const part of histories.parts()) {
    if (await walkPartNamed(histories, part, isWanted, visit, paths)) continue;
    if (byActor) await walkPartActors(sql, histories, part, byStretch(visit));
    else await walkPartRuns(histories, part, visit);
  }
}
