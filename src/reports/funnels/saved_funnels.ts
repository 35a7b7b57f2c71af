import type { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { FUNNELS_MAX } from "../../limits.ts";
import type { Problem } from "../../problem.ts";
import { isSlug } from "../../query/slugs.ts";
import {
  type DefinitionKind,
  deleteDefinition,
  namedSlug,
  noSuchDefinition,
  saveDefinition,
} from "../saved_definitions.ts";
import {
  FunnelBody,
  type FunnelDefinition,
  type FunnelShown,
  plainDefinition,
} from "./funnel_definition.ts";

export interface SavedFunnelServices {
  /** The database that is written to. */
  readonly sql: Sql;
}

type Asked = Pick<Exchange<unknown>, "request" | "params">;

/** A saved funnel. */
export interface SavedFunnel extends FunnelDefinition {
  readonly slug: string;
  readonly title: string;
  readonly updatedAt: Date;
}

interface FunnelRow extends Record<string, unknown> {
  readonly slug: string;
  readonly title: string;
  readonly definition: FunnelDefinition;
  readonly updated_at: Date;
}

const KIND: DefinitionKind = {
  table: "saved_funnels",
  one: "funnel",
  many: "saved funnels",
  countMax: FUNNELS_MAX,
};
const FUNNELS =
  "SELECT slug, title, definition, updated_at FROM saved_funnels WHERE project_id = $1::int";

function funnelOf({ slug, title, definition, updated_at }: FunnelRow): SavedFunnel {
  return { slug, title, ...plainDefinition(definition), updatedAt: updated_at };
}

/** A funnel as replies show it. */
export function shownFunnel(funnel: SavedFunnel): z.output<typeof FunnelShown> {
  const { slug, title, updatedAt } = funnel;
  const { steps, exclude, ...others } = plainDefinition(funnel);
  return {
    slug,
    title,
    steps: [...steps],
    ...others,
    exclude: [...exclude],
    updatedAt: updatedAt.toISOString(),
  };
}

/** The saved funnels of a project, by slug. */
export async function listFunnels(sql: Sql, projectId: number): Promise<SavedFunnel[]> {
  const rows = await sql.query<FunnelRow>(`${FUNNELS} ORDER BY slug COLLATE "C"`, [projectId]);
  return rows.map(funnelOf);
}

/** There is none, for whoever asks. */
export function noSuchFunnel(): Problem {
  return noSuchDefinition(KIND);
}

/** A saved funnel. Throws `not_found`. */
export async function requireFunnel(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<SavedFunnel> {
  const rows = isSlug(slug)
    ? await sql.query<FunnelRow>(`${FUNNELS} AND slug = $2::text`, [projectId, slug])
    : [];
  if (rows[0] === undefined) throw noSuchFunnel();
  return funnelOf(rows[0]);
}

/**
 * `PUT /v1/funnels/:slug`: 201 with the funnel where it is new, 200 where it replaced one. Throws
 * `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putFunnel(
  { sql }: SavedFunnelServices,
  { projectId }: Pick<Project, "projectId">,
  { request, params }: Asked,
): Promise<Response> {
  const slug = namedSlug(params);
  const { title, ...definition } = await readJson(request, FunnelBody);
  const saved = await saveDefinition(sql, KIND, projectId, { slug, title, definition });
  const funnel = { slug, title, ...definition as FunnelDefinition, updatedAt: saved.updatedAt };
  return json(shownFunnel(funnel), saved.isNew ? 201 : 200);
}

/** `DELETE /v1/funnels/:slug`: 204. Throws `not_found`. */
export async function deleteFunnel(
  { sql }: SavedFunnelServices,
  { projectId }: Pick<Project, "projectId">,
  { params }: Asked,
): Promise<Response> {
  await deleteDefinition(sql, KIND, projectId, params.slug ?? "");
  return new Response(null, { status: 204 });
}
