import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { json } from "../../http/reply.ts";
import { Problem, type ProblemPart } from "../../problem.ts";
import { readAll, refuseUnknown } from "../../query/parameters.ts";
import { readRange } from "../../query/range.ts";
import type { SegmentDefinition } from "../../query/saved_segment.ts";
import { checkWithoutEffect, NO_EFFECT, WITHOUT_EFFECT } from "../../query/without_effect.ts";
import { READ_QUERY } from "../answer/report_endpoint.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import { deleterOf, noSuchDefinition, putterOf } from "../saved/saved_definitions.ts";
import {
  goalsOf,
  listSegments,
  loadSegment,
  SEGMENT_KIND,
  SegmentBody,
  SegmentShown,
} from "../saved/segment_definitions.ts";

type OfProject = Pick<Project, "projectId">;

/** Reply of `GET /v1/segments`. */
export const SegmentsReply = z.object({
  segments: z.array(SegmentShown).meta({ description: "By slug." }),
});

/** Throws `invalid_body` that names every goal that does not exist. */
async function refuseUnknownGoals(
  sql: Sql,
  projectId: number,
  { actors }: SegmentDefinition,
): Promise<void> {
  const asked = goalsOf(actors);
  if (asked.length === 0) return;
  const known = new Set((await listGoals(sql, projectId)).map(({ slug }) => slug));
  const errors = asked.filter(({ goal }) => !known.has(goal)).map(({ path }): ProblemPart => ({
    field: ["actors", ...path].join("."),
    code: "invalid_value",
    message: "There is no goal of this slug.",
  }));
  if (errors.length === 0) return;
  const named = errors.slice(0, 3).map(({ field }) => field).join(", ");
  throw new Problem("invalid_body", `Correct what \`errors\` lists: ${named}.`, { errors });
}

/** The parameters of `GET /v1/segments`: those that reads share. */
export const SEGMENTS_QUERY: Readonly<Record<string, string>> = {
  project: READ_QUERY.project!,
  from: NO_EFFECT,
  to: NO_EFFECT,
  timezone: NO_EFFECT,
  ...WITHOUT_EFFECT,
};

/** `GET /v1/segments`: the project's segments, by slug. Throws `invalid_parameter`. */
export async function getSegments(
  { sql, now }: { readonly sql: Sql; readonly now: () => number },
  { projectId, timezone }: Pick<Project, "projectId" | "timezone">,
  { url: { searchParams: query } }: { readonly url: URL },
): Promise<Response> {
  readAll({
    unknown: () => refuseUnknown(query, Object.keys(SEGMENTS_QUERY)),
    range: () => readRange(query, timezone, now(), null),
    others: () => checkWithoutEffect(query, timezone, now()),
  });
  return json({ segments: await listSegments(sql, projectId) });
}

/** `GET /v1/segments/:slug`: one segment. Throws `not_found`. */
export async function getSegment(
  sql: Sql,
  { projectId }: OfProject,
  { slug = "" }: Readonly<Record<string, string>>,
): Promise<Response> {
  const segment = await loadSegment(sql, projectId, slug);
  if (segment === null) throw noSuchDefinition(SEGMENT_KIND);
  return json(segment);
}

/** `PUT /v1/segments/:slug`. Throws `invalid_body` where the condition names a goal that does not exist. */
export const putSegment = putterOf(
  SEGMENT_KIND,
  SegmentBody,
  (segment) => segment,
  refuseUnknownGoals,
);

/** `DELETE /v1/segments/:slug`. */
export const deleteSegment = deleterOf(SEGMENT_KIND);
