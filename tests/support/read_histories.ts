import type { Sql } from "../../src/db/sql.ts";
import type { Histories } from "../../src/timelines/histories.ts";
import type { LoadedSegment } from "../../src/timelines/loaded_segment.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { loadMarkedHistories } from "../../src/scans/marked_histories.ts";
import type { Read } from "../../src/scans/read.ts";

/**
 * The histories of a project, as a read is given them; segments are kept from one read to the next.
 * What takes more than `cacheBytes` is read in parts of about `partBytes`.
 */
export function historiesOf(
  sql: Sql,
  projectId = 1,
  cacheBytes = 1_000_000,
  partBytes = cacheBytes,
): Read["histories"] {
  const scope = { projectId, siteHost: null };
  const cache = new SegmentCache(cacheBytes, partBytes);
  return (span, filters, columns) => loadMarkedHistories(sql, cache, scope, span, filters, columns);
}

/** The segments of all parts. */
export async function segmentsOf(histories: Pick<Histories, "parts">): Promise<LoadedSegment[]> {
  const segments: LoadedSegment[] = [];
  for await (const part of histories.parts()) segments.push(...part.segments);
  return segments;
}

/** Histories, and how often they were asked for. */
export interface FollowedHistories {
  readonly histories: Read["histories"];
  readonly followed: () => number;
}

export function followedHistories(sql: Sql): FollowedHistories {
  const load = historiesOf(sql);
  let followed = 0;
  return {
    histories: (span, filters, columns) => {
      followed++;
      return load(span, filters, columns);
    },
    followed: () => followed,
  };
}
