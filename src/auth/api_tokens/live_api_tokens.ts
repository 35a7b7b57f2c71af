import type { Sql } from "../../db/sql.ts";
import { RecentCache } from "../../recent_cache.ts";
import { type Principal, unauthorized } from "../access.ts";
import { CachedRows } from "../cached_rows.ts";
import {
  API_TOKEN_CACHED_MS_MAX,
  API_TOKEN_FRESH_MS,
  API_TOKEN_USE_NOTED_MS,
  API_TOKENS_CACHED_MAX,
} from "./api_token_limits.ts";
import {
  exceedsPerson,
  findLiveApiTokens,
  type LiveApiToken,
  noteApiTokenUse,
} from "./api_tokens.ts";

/** Checks whether the API tokens in use are still valid. */
export interface LiveApiTokens {
  /**
   * Throws `invalid_token` if the API token was revoked, or may do more than its person may now, as of at most
   * API_TOKEN_CACHED_MS_MAX ago. Throws `DatabaseUnavailable` if that cannot be determined. Other tokens pass.
   */
  assertHolds(principal: Principal): Promise<void>;
  /** Empties the cache, so that a change made by this server takes effect here at once. */
  invalidate(): void;
}

/** Reads the API tokens in use from their table, and stores when they were last used, to the minute. */
export function createLiveApiTokens(sql: Sql, now: () => number): LiveApiTokens {
  const rows = new CachedRows<LiveApiToken>({
    find: (ids) => findLiveApiTokens(sql, ids),
    now,
    freshMs: API_TOKEN_FRESH_MS,
    cachedMsMax: API_TOKEN_CACHED_MS_MAX,
    cachedMax: API_TOKENS_CACHED_MAX,
  });
  const storedAtMs = new RecentCache<string, number>(API_TOKENS_CACHED_MAX);

  function noteUse(id: string, { last_used_at }: LiveApiToken): void {
    const nowMs = now();
    const lastMs = Math.max(storedAtMs.get(id) ?? 0, last_used_at?.getTime() ?? 0);
    if (nowMs - lastMs < API_TOKEN_USE_NOTED_MS) return;
    storedAtMs.set(id, nowMs);
    // After a failure, the next use tries again.
    noteApiTokenUse(sql, id, nowMs).catch(() => storedAtMs.delete(id));
  }

  return {
    async assertHolds({ apiTokenId }) {
      if (apiTokenId === undefined) return;
      const token = await rows.get(apiTokenId);
      if (token === null) {
        throw unauthorized("invalid_token", "This API token has been revoked. Get a new one.");
      }
      if (exceedsPerson(token)) {
        throw unauthorized(
          "invalid_token",
          "This API token may do more than the person whose it is may now. Make a new one.",
        );
      }
      noteUse(apiTokenId, token);
    },
    invalidate: () => rows.invalidate(),
  };
}
