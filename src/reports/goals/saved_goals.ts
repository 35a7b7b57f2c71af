import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { GOAL_KIND, GoalBody } from "../saved/goal_definitions.ts";
import { deleterOf, putterOf } from "../saved/saved_definitions.ts";
import { goalsOf, listSegments } from "../saved/segment_definitions.ts";

/** `PUT /v1/goals/:slug`. A goal applies to history too. */
export const putGoal = putterOf(GOAL_KIND, GoalBody);

/** Throws `conflict`, naming the segments that use the goal, as they are meaningless without it. */
async function refuseUsed(sql: Sql, projectId: number, slug: string): Promise<void> {
  const users = (await listSegments(sql, projectId))
    .filter(({ actors }) => goalsOf(actors).some(({ goal }) => goal === slug))
    .map((segment) => segment.slug);
  if (users.length === 0) return;
  throw new Problem(
    "conflict",
    `Segments ask for this goal: ${users.join(", ")}. Change or delete them first.`.slice(0, 500),
  );
}

/** `DELETE /v1/goals/:slug`. Throws `conflict` if a segment uses the goal. */
export const deleteGoal = deleterOf(GOAL_KIND, refuseUsed);
