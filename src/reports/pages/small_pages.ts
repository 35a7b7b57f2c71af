import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import { countActorsOn } from "../../scans/path_counts.ts";
import type { Read } from "../../scans/read.ts";
import { smallPlaces } from "../answer/small_groups.ts";
import type { PageCounts } from "./page_visitor.ts";

/** The pages that are not told one by one, and what they come to together. */
export interface SmallPages {
  /** By path id: 1 for those that are in it. */
  readonly isIn: Uint8Array;
  readonly visitors: number;
  readonly pageviews: number;
  readonly entries: number;
  readonly exits: number;
  readonly bounces: number;
}

/** Which pages a share does not tell one by one; null: it tells all. */
export async function smallPages(
  read: Read,
  span: Span,
  counts: PageCounts,
  isSeen: (path: number) => boolean,
): Promise<SmallPages | null> {
  if (read.visitorsMin === 1) return null;
  const visitors = new Map<number, number>();
  for (let path = 1; path < counts.visitors.length; path++) {
    if (isSeen(path)) visitors.set(path, counts.visitors[path]!);
  }
  const marked = (places: readonly number[]) => {
    const isIn = new Uint8Array(counts.visitors.length);
    for (const place of places) isIn[place] = 1;
    return isIn;
  };
  const count = (places: readonly number[]) => countActorsOn(read, span, PAGE_VIEW, marked(places));
  const folded = smallPlaces(visitors, read.visitorsMin);
  if (folded.length === 0) return null;
  const sum = (of: Int32Array) => folded.reduce((total, path) => total + of[path]!, 0);
  return {
    isIn: marked(folded),
    visitors: await count(folded),
    pageviews: sum(counts.pageviews),
    entries: sum(counts.entries),
    exits: sum(counts.exits),
    bounces: sum(counts.bounces),
  };
}
