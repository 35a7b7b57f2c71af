import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import { countActorsOn } from "../../scans/path_counts.ts";
import type { Read } from "../../scans/read.ts";
import { isSmall } from "../answer/small_groups.ts";
import type { PageCounts } from "./page_visitor.ts";

/** The pages of too few visitors for a share, and their counts together. */
export interface SmallPages {
  /** By path id: 1 for these pages. */
  readonly isIn: Uint8Array;
  readonly visitors: number;
  readonly pageviews: number;
  readonly entries: number;
  readonly exits: number;
  readonly bounces: number;
}

/** Returns the pages that a share does not show one by one; null: it shows all. */
export async function smallPages(
  read: Read,
  span: Span,
  counts: PageCounts,
  isSeen: (path: number) => boolean,
): Promise<SmallPages | null> {
  if (read.visitorsMin === 1) return null;
  const { visitors } = counts;
  const isIn = Uint8Array.from(
    visitors,
    (actors, path) => Number(path > 0 && isSeen(path) && isSmall(actors, read.visitorsMin)),
  );
  if (!isIn.includes(1)) return null;
  const sum = (of: Int32Array) => of.reduce((total, n, path) => total + n * isIn[path]!, 0);
  return {
    isIn,
    visitors: await countActorsOn(read, span, PAGE_VIEW, isIn),
    pageviews: sum(counts.pageviews),
    entries: sum(counts.entries),
    exits: sum(counts.exits),
    bounces: sum(counts.bounces),
  };
}
