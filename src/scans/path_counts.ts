import type { Span } from "../query/selection.ts";
import { PATH_COUNTS, type PathCounts } from "./path_visitor.ts";
import type { ScanSource } from "./read.ts";
import { selectEvents } from "./selected_events.ts";

/**
 * Counts by path, over the selected events of a span: the distinct actors with an event of these names,
 * and the events of the name `counted`.
 * @param folded 1 at the ids of paths that are counted as one, at the first of these ids
 */
export async function countPaths(
  source: ScanSource,
  span: Span,
  names: readonly number[],
  counted: number,
  folded: Uint8Array | null = null,
): Promise<PathCounts> {
  const { selected, test } = await selectEvents(source, span);
  return await selected.scan(PATH_COUNTS, () => ({ test, span, names, counted, folded }));
}
