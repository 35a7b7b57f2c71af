import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { GOALS_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { type Goal, GoalBody } from "../goal_definitions.ts";
import {
  type DefinitionKind,
  deleteDefinition,
  namedSlug,
  saveDefinition,
} from "../saved_definitions.ts";
import { goalsOf, listSegments } from "../segment_definitions.ts";

export interface SavedGoalServices {
  /** The database that is written to. */
  readonly sql: Sql;
}

type Asked = Pick<Exchange<unknown>, "request" | "params">;

const KIND: DefinitionKind = { table: "goals", one: "goal", many: "goals", countMax: GOALS_MAX };

/**
 * `PUT /v1/goals/:slug`: 201 with the goal where it is new, 200 where it replaced one. It applies to
 * history too. Throws `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putGoal(
  { sql }: SavedGoalServices,
  { projectId }: Pick<Project, "projectId">,
  { request, params }: Asked,
): Promise<Response> {
  const slug = namedSlug(params);
  const { title, ...definition } = await readJson(request, GoalBody);
  const { isNew } = await saveDefinition(sql, KIND, projectId, { slug, title, definition });
  const goal: Goal = { slug, title, ...definition };
  return json(goal, isNew ? 201 : 200);
}

/** Segments go on meaning what they say: what they ask for stays. Throws `conflict` that names them. */
async function refuseAsked(sql: Sql, projectId: number, slug: string): Promise<void> {
  const asking = (await listSegments(sql, projectId))
    .filter(({ actors }) => goalsOf(actors).some(({ goal }) => goal === slug))
    .map((segment) => segment.slug);
  if (asking.length === 0) return;
  throw new Problem(
    "conflict",
    `Segments ask for this goal: ${asking.join(", ")}. Change or delete them first.`.slice(0, 500),
  );
}

/** `DELETE /v1/goals/:slug`: 204. Throws `not_found`, and `conflict` where a segment asks for the goal. */
export async function deleteGoal(
  { sql }: SavedGoalServices,
  { projectId }: Pick<Project, "projectId">,
  { params }: Asked,
): Promise<Response> {
  const slug = params.slug ?? "";
  await deleteDefinition(sql, KIND, projectId, slug, (tx) => refuseAsked(tx, projectId, slug));
  return new Response(null, { status: 204 });
}
