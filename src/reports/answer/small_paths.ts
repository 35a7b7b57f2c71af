import type { Span } from "../../query/selection.ts";
import { countPaths } from "../../scans/path_counts.ts";
import type { Read } from "../../scans/read.ts";
import { isSmall } from "./small_groups.ts";

/** The paths of too few visitors for a share, and their counts together. */
interface SmallPaths {
  /** By path id: 1 for these paths. */
  readonly isIn: Uint8Array;
  /** Distinct actors of all of them. */
  readonly visitors: number;
  readonly sum: (counts: Int32Array) => number;
}

/**
 * Returns the paths that a share does not show one by one; null: it shows all. A second scan counts their
 * actors as those of one path, because their counts do not say how many actors two paths have in common.
 * @param visitors by path id: distinct actors of selected events of these names
 */
export async function smallPaths(
  read: Read,
  span: Span,
  names: readonly number[],
  visitors: Int32Array,
  isSeen: (path: number) => boolean,
): Promise<SmallPaths | null> {
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
    sum: (counts) => counts.reduce((total, n, path) => total + n * isIn[path]!, 0),
  };
}
