import type { z } from "zod";
import { FUNNELS_MAX } from "../../limits.ts";
import {
  type DefinitionKind,
  deleterOf,
  listerOf,
  putterOf,
  requirerOf,
} from "../saved/saved_definitions.ts";
import { FunnelBody, type FunnelDefinition, plainDefinition } from "./funnel_definition.ts";

type SavedFunnel = FunnelDefinition & Readonly<Record<"slug" | "title" | "updatedAt", string>>;

/** Saved funnels, as a kind of saved definitions. */
export const FUNNEL_KIND: DefinitionKind<FunnelDefinition, SavedFunnel> = {
  table: "saved_funnels",
  one: "funnel",
  many: "saved funnels",
  countMax: FUNNELS_MAX,
  read: ({ slug, title, definition, updated_at }) => {
    const { exclude, ...others } = plainDefinition(definition);
    return { slug, title, ...others, exclude, updatedAt: updated_at.toISOString() };
  },
};

/** Returns the saved funnels of a project, by slug. */
export const listFunnels = listerOf(FUNNEL_KIND);

/** Loads a saved funnel. Throws `not_found`. */
export const requireFunnel = requirerOf(FUNNEL_KIND);

const Body = FunnelBody as unknown as z.ZodType<FunnelDefinition & { readonly title: string }>;

/** `PUT /v1/funnels/:slug`. */
export const putFunnel = putterOf(FUNNEL_KIND, Body);

/** `DELETE /v1/funnels/:slug`. */
export const deleteFunnel = deleterOf(FUNNEL_KIND);
