import type { ScanSource } from "../../scans/read.ts";
import { type Goal, listGoals } from "../saved/goal_definitions.ts";
import { countWatched } from "./watched_counts.ts";
import type { StoredVisit, VisitConversion } from "./visit_rows.ts";

/** Returns the goals that each visit reached by its own events, under `bots` and no other filter. */
export async function conversionsOf(
  { sql, scope, timelines }: ScanSource,
  visits: readonly StoredVisit[],
  known: readonly Goal[] | null = null,
): Promise<VisitConversion[][]> {
  const goals = known ?? await listGoals(sql, scope.projectId);
  if (goals.length === 0) return visits.map(() => []);
  const watched = visits.map(({ actor_id, first_ms, last_ms }) => ({
    actor: actor_id,
    fromMs: first_ms,
    toMs: last_ms + 1,
  }));
  const source = { sql, scope: { ...scope, filters: [] }, timelines };
  const figures = await countWatched(source, watched, goals, true);
  return figures.map(({ goals }) => [...goals]);
}
