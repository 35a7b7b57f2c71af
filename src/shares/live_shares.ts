import { CachedRows } from "../auth/cached_rows.ts";
import type { Sql } from "../db/sql.ts";
import { SHARE_CACHED_MS_MAX, SHARE_FRESH_MS, SHARES_CACHED_MAX } from "./share_limits.ts";
import { findShares, hasExpired, isShareId, type Share } from "./shares.ts";

export interface LiveShares {
  /**
   * Returns the share as of at most SHARE_CACHED_MS_MAX ago; null: there is none, or it has expired. Throws
   * `DatabaseUnavailable`.
   */
  find(id: string): Promise<Share | null>;
  /** Empties the cache, so that a change made by this server takes effect here at once. */
  invalidate(): void;
}

/** Reads the shares in use from their table: a change takes effect on every server within a second. */
export function createLiveShares(sql: Sql, now: () => number): LiveShares {
  const rows = new CachedRows<Share>({
    find: async (ids) => new Map((await findShares(sql, ids)).map((share) => [share.id, share])),
    now,
    freshMs: SHARE_FRESH_MS,
    cachedMsMax: SHARE_CACHED_MS_MAX,
    cachedMax: SHARES_CACHED_MAX,
  });
  return {
    async find(id) {
      const share = isShareId(id) ? await rows.get(id) : null;
      return share === null || hasExpired(share, now()) ? null : share;
    },
    invalidate: () => rows.invalidate(),
  };
}
