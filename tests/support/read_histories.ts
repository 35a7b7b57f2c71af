import assert from "node:assert/strict";
import type { Sql } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/histories/segment_cache.ts";
import { loadMarkedHistories } from "../../src/walks/marked_histories.ts";
import type { Read } from "../../src/walks/read.ts";

/** For reads that are to ask the facts. */
export const NO_HISTORIES: Read["histories"] = () => Promise.resolve(null);

/** The histories of a project, as a read is given them; segments are kept from one read to the next. */
export function historiesOf(sql: Sql, projectId = 1, cacheBytes = 1_000_000): Read["histories"] {
  const scope = { projectId, siteHost: null };
  const cache = new SegmentCache(cacheBytes);
  return (span, filters) => loadMarkedHistories(sql, cache, scope, span, filters);
}

/** Histories that must be at hand whenever they are asked for, and how often they were. */
export interface FollowedHistories {
  readonly histories: Read["histories"];
  readonly followed: () => number;
}

export function followedHistories(sql: Sql): FollowedHistories {
  const load = historiesOf(sql);
  let followed = 0;
  return {
    histories: async (span, filters) => {
      const loaded = await load(span, filters);
      assert.ok(loaded !== null, "all facts are in the histories");
      followed++;
      return loaded;
    },
    followed: () => followed,
  };
}
