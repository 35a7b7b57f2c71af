import { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import { Problem, type ProblemPart } from "../../problem.ts";
import { readAll, refuseUnknown } from "../../query/parameters.ts";
import { readRange } from "../../query/range.ts";
import type { SegmentDefinition } from "../../query/saved_segment.ts";
import { checkWithoutEffect, NO_EFFECT, WITHOUT_EFFECT } from "../../query/without_effect.ts";
import { READ_QUERY } from "../answer/report_endpoint.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import {
  type DefinitionAsked,
  type DefinitionServices,
  deleteDefinition,
  namedSlug,
  noSuchDefinition,
  type OfProject,
  saveDefinition,
} from "../saved/saved_definitions.ts";
import {
  goalsOf,
  listSegments,
  loadSegment,
  plainSegment,
  SEGMENT_KIND,
  SegmentBody,
  SegmentShown,
} from "../saved/segment_definitions.ts";

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
  { sql, now }: DefinitionServices & { readonly now: () => number },
  { projectId, timezone }: OfProject & { readonly timezone: string },
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
  { sql }: DefinitionServices,
  { projectId }: OfProject,
  { params }: Pick<DefinitionAsked, "params">,
): Promise<Response> {
  const segment = await loadSegment(sql, projectId, params.slug ?? "");
  if (segment === null) throw noSuchDefinition(SEGMENT_KIND);
  return json(segment);
}

/**
 * `PUT /v1/segments/:slug`: 201 with the segment where it is new, 200 where it replaced one. Throws
 * `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putSegment(
  { sql }: DefinitionServices,
  { projectId }: OfProject,
  { request, params }: DefinitionAsked,
): Promise<Response> {
  const slug = namedSlug(params);
  const body = await readJson(request, SegmentBody);
  const { title, filters, actors } = plainSegment({ slug, ...body });
  const definition: SegmentDefinition = { filters, actors };
  const { isNew } = await saveDefinition(
    sql,
    SEGMENT_KIND,
    projectId,
    { slug, title, definition },
    (tx) => refuseUnknownGoals(tx, projectId, definition),
  );
  return json({ slug, title, ...definition }, isNew ? 201 : 200);
}

/** `DELETE /v1/segments/:slug`: 204. Throws `not_found`. */
export async function deleteSegment(
  services: DefinitionServices,
  project: OfProject,
  asked: DefinitionAsked,
): Promise<Response> {
  return await deleteDefinition(services, SEGMENT_KIND, project, asked);
}
