import type { Span } from "../query/selection.ts";
import { eventPassesOf } from "./event_tests.ts";
import { PATH_ACTORS } from "./path_actors_visitor.ts";
import { PATH_COUNTS, type PathCounts } from "./path_visitor.ts";
import type { Read } from "./read.ts";
import { selectTimelines } from "./selected_timelines.ts";

/**
 * Who was on which path in a span: distinct actors of selected events of these names, and how many of
 * the events are of the name that is `counted`.
 */
export async function countPaths(
  source: Pick<Read, "sql" | "scope" | "timelines">,
  span: Span,
  names: readonly number[],
  counted: number,
): Promise<PathCounts> {
  const { sql, scope } = source;
  const selected = await selectTimelines(source, span);
  const { timelines: { bits }, eventFilters } = selected;
  const test = await eventPassesOf(sql, scope, scope.bots, eventFilters, bits);
  return await selected.scan(PATH_COUNTS, () => ({ test, span, names, counted }));
}

/** Distinct actors of selected events of one name in a span, on paths whose id is marked by 1. */
export async function countActorsOn(
  source: Pick<Read, "sql" | "scope" | "timelines">,
  span: Span,
  name: number,
  isOn: Uint8Array,
): Promise<number> {
  const { sql, scope } = source;
  const selected = await selectTimelines(source, span);
  const { timelines: { bits }, eventFilters } = selected;
  const test = await eventPassesOf(sql, scope, scope.bots, eventFilters, bits);
  return await selected.scan(PATH_ACTORS, () => ({ test, span, name, isOn }));
}
