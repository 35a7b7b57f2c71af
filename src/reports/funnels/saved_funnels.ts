import type { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { FUNNELS_MAX } from "../../limits.ts";
import type { Problem } from "../../problem.ts";
import {
  type DefinitionKind,
  deleterOf,
  listerOf,
  loaderOf,
  noSuchDefinition,
  putterOf,
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

const KIND: DefinitionKind<FunnelDefinition, SavedFunnel> = {
  table: "saved_funnels",
  one: "funnel",
  many: "saved funnels",
  countMax: FUNNELS_MAX,
  read: ({ slug, title, definition, updated_at }) => ({
    slug,
    title,
    ...plainDefinition(definition),
    updatedAt: updated_at,
  }),
};

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
export const listFunnels = listerOf(KIND);

const loadFunnel = loaderOf(KIND);

/** Returns the 404 of a funnel that does not exist, or that the caller may not see. */
export function noSuchFunnel(): Problem {
  return noSuchDefinition(KIND);
}

/** Loads a saved funnel. Throws `not_found`. */
export async function requireFunnel(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<SavedFunnel> {
  const funnel = await loadFunnel(sql, projectId, slug);
  if (funnel === null) throw noSuchFunnel();
  return funnel;
}

const Body = FunnelBody as unknown as z.ZodType<FunnelDefinition & { readonly title: string }>;

/** `PUT /v1/funnels/:slug`. */
export const putFunnel = putterOf(KIND, Body, shownFunnel);

/** `DELETE /v1/funnels/:slug`. */
export const deleteFunnel = deleterOf(KIND);
