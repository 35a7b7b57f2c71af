import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { readReply } from "../../http/read_reply.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { invalidBody, type ProblemPart } from "../../problem.ts";
import { replyShown } from "../../query/reply_shown.ts";
import type { SegmentDefinition } from "../../query/saved_segment.ts";
import { LIST_QUERY, readOfList } from "../../query/without_effect.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import { deleterOf, putterOf, requirerOf } from "../saved/saved_definitions.ts";
import {
  goalsOf,
  listSegments,
  SEGMENT_KIND,
  SegmentBody,
  SegmentShown,
} from "../saved/segment_definitions.ts";

const requireSegment = requirerOf(SEGMENT_KIND);

/** Reply of `GET /v1/segments`. */
export const SegmentsReply = replyShown({
  segments: z.array(SegmentShown).describe("By slug."),
});

/** What the list is, echoed as `query.semantics`. */
export const SEGMENTS_SEMANTICS =
  "The project's saved segments, by slug. Nothing is counted, so no event is pending.";

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
  throw invalidBody(errors);
}

/** `GET /v1/segments`: the project's segments, by slug. Throws `invalid_parameter`. */
export async function getSegments(
  { sql, now }: { readonly sql: Sql; readonly now: () => number },
  project: Pick<Project, "projectId" | "id" | "timezone">,
  { request, url }: Pick<Exchange<unknown>, "request" | "url">,
): Promise<Response> {
  const asOf = new Date(now());
  const { resolved } = readOfList(url.searchParams, LIST_QUERY, project, asOf.getTime());
  const query = { ...resolved, semantics: SEGMENTS_SEMANTICS };
  const segments = await listSegments(sql, project.projectId);
  return await readReply(request, { asOf, pending: 0 }, query, { segments });
}

/** `GET /v1/segments/:slug`: one segment. Throws `not_found`. */
export async function getSegment(
  sql: Sql,
  { projectId }: Pick<Project, "projectId">,
  { slug = "" }: Readonly<Record<string, string>>,
): Promise<Response> {
  return json(await requireSegment(sql, projectId, slug));
}

/** `PUT /v1/segments/:slug`. Throws `invalid_body` if the condition names a goal that does not exist. */
export const putSegment = putterOf(SEGMENT_KIND, SegmentBody, refuseUnknownGoals);

/** `DELETE /v1/segments/:slug`. */
export const deleteSegment = deleterOf(SEGMENT_KIND);
