import type { z } from "zod";
import { FUNNELS_MAX } from "../../limits.ts";
import {
  type DefinitionKind,
  deleterOf,
  listerOf,
  putterOf,
  requirerOf,
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

/** Saved funnels, as a kind of saved definitions. */
export const FUNNEL_KIND: DefinitionKind<FunnelDefinition, SavedFunnel> = {
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
export const listFunnels = listerOf(FUNNEL_KIND);

/** Loads a saved funnel. Throws `not_found`. */
export const requireFunnel = requirerOf(FUNNEL_KIND);

const Body = FunnelBody as unknown as z.ZodType<FunnelDefinition & { readonly title: string }>;

/** `PUT /v1/funnels/:slug`. */
export const putFunnel = putterOf(FUNNEL_KIND, Body, shownFunnel);

/** `DELETE /v1/funnels/:slug`. */
export const deleteFunnel = deleterOf(FUNNEL_KIND);
