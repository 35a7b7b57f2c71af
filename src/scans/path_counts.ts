import type { Span } from "../query/selection.ts";
import { PATH_ACTORS } from "./path_actors_visitor.ts";
import { PATH_COUNTS, type PathCounts } from "./path_visitor.ts";
import type { ScanSource } from "./read.ts";
import { selectEvents } from "./selected_events.ts";

/**
 * Counts by path, over the selected events of a span: the distinct actors with an event of these names,
 * and the events of the name `counted`.
 */
export async function countPaths(
  source: ScanSource,
  span: Span,
  names: readonly number[],
  counted: number,
): Promise<PathCounts> {
  const { selected, test } = await selectEvents(source, span);
  return await selected.scan(PATH_COUNTS, () => ({ test, span, names, counted }));
}

/** Counts the distinct actors of a span's selected events of one name, on paths whose id has a 1 in `isOn`. */
export async function countActorsOn(
  source: ScanSource,
  span: Span,
  name: number,
  isOn: Uint8Array,
): Promise<number> {
  const { selected, test } = await selectEvents(source, span);
  return await selected.scan(PATH_ACTORS, () => ({ test, span, name, isOn }));
}
