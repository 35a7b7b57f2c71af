import type { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import { FUNNELS_MAX } from "../../limits.ts";
import type { Problem } from "../../problem.ts";
import {
  type DefinitionAsked,
  type DefinitionKind,
  type DefinitionRow,
  type DefinitionServices,
  deleteDefinition,
  listDefinitions,
  loadDefinition,
  namedSlug,
  noSuchDefinition,
  type OfProject,
  saveDefinition,
} from "../saved/saved_definitions.ts";
import {
  FunnelBody,
  type FunnelDefinition,
  type FunnelShown,
  plainDefinition,
} from "./funnel_definition.ts";

interface SavedFunnel extends FunnelDefinition {
  readonly slug: string;
  readonly title: string;
  readonly updatedAt: Date;
}

const KIND: DefinitionKind = {
  table: "saved_funnels",
  one: "funnel",
  many: "saved funnels",
  countMax: FUNNELS_MAX,
};

function funnelOf(
  { slug, title, definition, updated_at }: DefinitionRow<FunnelDefinition>,
): SavedFunnel {
  return { slug, title, ...plainDefinition(definition), updatedAt: updated_at };
}

/** Returns a funnel as replies show it. */
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

/** Returns the saved funnels of a project, by slug. */
export async function listFunnels(sql: Sql, projectId: number): Promise<SavedFunnel[]> {
  return (await listDefinitions<FunnelDefinition>(sql, KIND, projectId)).map(funnelOf);
}

/** Returns the 404 of a funnel that does not exist, or that the asker may not see. */
export function noSuchFunnel(): Problem {
  return noSuchDefinition(KIND);
}

/** Loads a saved funnel. Throws `not_found`. */
export async function requireFunnel(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<SavedFunnel> {
  const row = await loadDefinition<FunnelDefinition>(sql, KIND, projectId, slug);
  if (row === null) throw noSuchFunnel();
  return funnelOf(row);
}

/**
 * `PUT /v1/funnels/:slug`: 201 with the funnel where it is new, 200 where it replaced one. Throws
 * `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putFunnel(
  { sql }: DefinitionServices,
  { projectId }: OfProject,
  { request, params }: DefinitionAsked,
): Promise<Response> {
  const slug = namedSlug(params);
  const { title, ...definition } = await readJson(request, FunnelBody);
  const saved = await saveDefinition(sql, KIND, projectId, { slug, title, definition });
  const funnel = { slug, title, ...definition as FunnelDefinition, updatedAt: saved.updatedAt };
  return json(shownFunnel(funnel), saved.isNew ? 201 : 200);
}

/** `DELETE /v1/funnels/:slug`: 204. Throws `not_found`. */
export async function deleteFunnel(
  services: DefinitionServices,
  project: OfProject,
  asked: DefinitionAsked,
): Promise<Response> {
  return await deleteDefinition(services, KIND, project, asked);
}
