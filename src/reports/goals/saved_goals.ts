import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import { Problem } from "../../problem.ts";
import { type Goal, GOAL_KIND, GoalBody } from "../saved/goal_definitions.ts";
import {
  type DefinitionAsked,
  type DefinitionServices,
  deleteDefinition,
  namedSlug,
  type OfProject,
  saveDefinition,
} from "../saved/saved_definitions.ts";
import { goalsOf, listSegments } from "../saved/segment_definitions.ts";

/**
 * `PUT /v1/goals/:slug`: 201 with the goal where it is new, 200 where it replaced one. It applies to
 * history too. Throws `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putGoal(
  { sql }: DefinitionServices,
  { projectId }: OfProject,
  { request, params }: DefinitionAsked,
): Promise<Response> {
  const slug = namedSlug(params);
  const { title, ...definition } = await readJson(request, GoalBody);
  const { isNew } = await saveDefinition(sql, GOAL_KIND, projectId, { slug, title, definition });
  const goal: Goal = { slug, title, ...definition };
  return json(goal, isNew ? 201 : 200);
}

/** Throws `conflict` that names the segments which use the goal: without it they would mean nothing. */
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

/** `DELETE /v1/goals/:slug`: 204. Throws `not_found`, and `conflict` where a segment uses the goal. */
export async function deleteGoal(
  services: DefinitionServices,
  project: OfProject,
  asked: DefinitionAsked,
): Promise<Response> {
  const check = (inside: Sql, slug: string) => refuseUsed(inside, project.projectId, slug);
  return await deleteDefinition(services, GOAL_KIND, project, asked, check);
}
