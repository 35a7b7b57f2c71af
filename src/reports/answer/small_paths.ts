import type { Span } from "../../query/selection.ts";
import { countPaths } from "../../scans/path_counts.ts";
import type { Read } from "../../scans/read.ts";
import { isSmall } from "./small_groups.ts";

/**
 * Returns the paths that a share does not show one by one, as 1 by path id, with the distinct actors of all of
 * them; null: it shows all. A second scan counts their actors as those of one path, because their counts do not
 * say how many actors two paths have in common.
 * @param visitors by path id: distinct actors of selected events of these names
 */
export async function smallPaths(
  read: Read,
  span: Span,
  names: readonly number[],
  visitors: Int32Array,
  isSeen: (path: number) => boolean,
) {
  if (read.visitorsMin === 1) return null;
  const isIn = Uint8Array.from(
    visitors,
    (actors, path) => Number(path > 0 && isSeen(path) && isSmall(actors, read.visitorsMin)),
  );
  const first = isIn.indexOf(1);
  if (first < 0) return null;
  const together = await countPaths(read, span, names, names[0]!, isIn);
  return {
    isIn,
    visitors: together.visitors[first]!,
    sum: (counts: Int32Array): number =>
      counts.reduce((total, n, path) => total + n * isIn[path]!, 0),
  };
}
