import { type ActorCondition, leavesOf } from "./actor_condition.ts";
import type { Filter } from "./filters.ts";
import { givenText, invalidParameter } from "./parameters.ts";
import { matchFilters } from "./selection.ts";
import { isSlug, SLUG_USAGE } from "./slugs.ts";

/** The people and the events that a segment selects. */
export interface SegmentDefinition {
  /** Conditions on events and sessions, as a read's own. */
  readonly filters: readonly Filter[];
  /** A condition on people; null: everybody. */
  readonly actors: ActorCondition | null;
}

/** A saved segment. */
export interface SavedSegment extends SegmentDefinition {
  readonly slug: string;
  readonly title: string;
}

/** Reads the parameter `segment`: a slug; null where it is not given. Throws `invalid_parameter`. */
export function readSegmentSlug(query: URLSearchParams): string | null {
  const slug = givenText(query, "segment");
  if (slug !== null && !isSlug(slug)) throw invalidParameter("segment", SLUG_USAGE);
  return slug;
}

/** Returns all filters of a segment, including those in its condition on actors, for `valueWarnings`. */
export function filtersOfSegment({ filters, actors }: SegmentDefinition): readonly Filter[] {
  const leaves = actors === null ? [] : leavesOf(actors);
  return [
    ...filters,
    ...leaves.flatMap(({ condition }) => "did" in condition ? matchFilters(condition.did) : []),
  ];
}
