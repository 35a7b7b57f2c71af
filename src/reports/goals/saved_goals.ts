import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { GOALS_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { type Goal, GoalBody } from "../goal_definitions.ts";

export interface SavedGoalServices {
  /** The database that is written to. */
  readonly sql: Sql;
}

type Asked = Pick<Exchange<unknown>, "request" | "params">;

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Stores a goal. Throws `conflict` where it would be one too many. @returns whether it is new */
async function saveGoal(
  sql: Sql,
  projectId: number,
  { slug, title, match, value }: Goal,
): Promise<boolean> {
  return await sql.transaction(async (tx) => {
    // One at a time in a project, so that the number of goals holds; events are stored meanwhile.
    await tx.query("SELECT FROM projects WHERE project_id = $1::int FOR NO KEY UPDATE", [
      projectId,
    ]);
    const [known] = await tx.query<{ same: number; others: number }>(
      `SELECT count(*) FILTER (WHERE slug = $2::text) AS same,
        count(*) FILTER (WHERE slug <> $2::text) AS others
      FROM goals WHERE project_id = $1::int`,
      [projectId, slug],
    );
    const isNew = known!.same === 0;
    if (isNew && known!.others >= GOALS_MAX) {
      throw new Problem(
        "conflict",
        `A project has at most ${GOALS_MAX} goals. Delete one that is not needed any more.`,
      );
    }
    await tx.query(
      `INSERT INTO goals (project_id, slug, title, definition)
      VALUES ($1::int, $2::text, $3::text, $4::text::jsonb)
      ON CONFLICT (project_id, slug) DO UPDATE
      SET title = excluded.title, definition = excluded.definition, updated_at = now()`,
      [projectId, slug, title, JSON.stringify({ match, value })],
    );
    return isNew;
  });
}

/**
 * `PUT /v1/goals/:slug`: 201 with the goal where it is new, 200 where it replaced one. It applies to
 * history too. Throws `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putGoal(
  { sql }: SavedGoalServices,
  { projectId }: Pick<Project, "projectId">,
  { request, params }: Asked,
): Promise<Response> {
  const slug = params.slug ?? "";
  if (!SLUG.test(slug)) {
    throw invalidParameter(
      "slug",
      "Use up to 63 lower-case letters, digits and hyphens, the first no hyphen.",
    );
  }
  const goal: Goal = { slug, ...await readJson(request, GoalBody) };
  const isNew = await saveGoal(sql, projectId, goal);
  return json(goal, isNew ? 201 : 200);
}

/** `DELETE /v1/goals/:slug`: 204. Throws `not_found`. */
export async function deleteGoal(
  { sql }: SavedGoalServices,
  { projectId }: Pick<Project, "projectId">,
  { params }: Asked,
): Promise<Response> {
  const slug = params.slug ?? "";
  const rows = SLUG.test(slug)
    ? await sql.query(
      "DELETE FROM goals WHERE project_id = $1::int AND slug = $2::text RETURNING slug",
      [projectId, slug],
    )
    : [];
  if (rows.length === 0) throw new Problem("not_found", "There is no goal of this name.");
  return new Response(null, { status: 204 });
}
