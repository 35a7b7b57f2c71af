/** Saved segments: the people, events and sessions that a read with `segment` selects. */
import { z } from "zod";
import {
  type ActorCondition,
  ActorConditionSchema,
  leavesOf,
  plainCondition,
} from "../../query/actor_condition.ts";
import { FiltersSchema } from "../../query/filters.ts";
import type { SavedSegment, SegmentDefinition } from "../../query/saved_segment.ts";
import { Title } from "../../text_schemas.ts";
import { type DefinitionKind, listerOf, loaderOf } from "./saved_definitions.ts";

/** The most saved segments of one project, as many as goals. */
export const SEGMENTS_MAX = 200;

/** Body of `PUT /v1/segments/:slug`. */
export const SegmentBody = z.strictObject({
  title: Title.meta({
    description: "What people call the segment.",
    example: "Came back and bought",
  }),
  filters: FiltersSchema.default([])
    .describe("Conditions on events and sessions, as in `filters` of a read."),
  actors: ActorConditionSchema.default(null)
    .describe("A condition on people; null: everybody."),
}).meta({ id: "SegmentDefinition" });

/** A saved segment as replies show it. */
export const SegmentShown = z.object({
  slug: z.string().meta({ example: "buyers" }),
  title: z.string(),
  filters: FiltersSchema,
  actors: ActorConditionSchema,
}).meta({ id: "SavedSegment" });

export const SEGMENT_KIND: DefinitionKind<SegmentDefinition, SavedSegment> = {
  table: "saved_segments",
  one: "segment",
  many: "segments",
  countMax: SEGMENTS_MAX,
  read: ({ slug, title, definition: { filters, actors } }) => ({
    slug,
    title,
    filters,
    actors: actors === null ? null : plainCondition(actors),
  }),
};

/** Lists the segments of a project, in the order of slugs. */
export const listSegments = listerOf(SEGMENT_KIND);

/** Loads a segment by its slug; null: the project has none with it. */
export const loadSegment = loaderOf(SEGMENT_KIND);

/** Returns the slugs of the goals that a condition names, and their paths in it. */
export function goalsOf(
  actors: ActorCondition | null,
): { readonly goal: string; readonly path: readonly (string | number)[] }[] {
  if (actors === null) return [];
  return leavesOf(actors).flatMap(({ condition, path }) =>
    "goal" in condition ? [{ goal: condition.goal, path: [...path, "goal"] }] : []
  );
}
