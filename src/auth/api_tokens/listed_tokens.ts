import type { Sql } from "../../db/sql.ts";
import { RecentCache } from "../../recent_cache.ts";
import { type Principal, unauthorized } from "../access.ts";
import { BelievedRows } from "../believed_rows.ts";
import {
  API_TOKEN_BELIEVED_MS_MAX,
  API_TOKEN_FRESH_MS,
  API_TOKEN_USE_NOTED_MS,
  API_TOKENS_CACHED_MAX,
} from "./api_token_limits.ts";
import { exceedsPerson, type Grounds, groundsOf, noteApiTokenUse } from "./api_tokens.ts";

/** Whether the API tokens in use still hold. */
export interface ListedTokens {
  /**
   * Throws `invalid_token` for an API token that is revoked, or may do more than its person may now;
   * as of at most API_TOKEN_BELIEVED_MS_MAX ago. Throws `DatabaseUnavailable` where that cannot be
   * known. A token that is not listed passes.
   */
  assertHolds(principal: Principal): Promise<void>;
  /** Drops all that is remembered, so that a change made here holds at once here. */
  invalidate(): void;
}

/** The API tokens in use, as the table has them; and when they were used last, to the minute. */
export function createListedTokens(sql: Sql, now: () => number): ListedTokens {
  const rows = new BelievedRows<Grounds>({
    find: (ids) => groundsOf(sql, ids),
    now,
    freshMs: API_TOKEN_FRESH_MS,
    believedMsMax: API_TOKEN_BELIEVED_MS_MAX,
    cachedMax: API_TOKENS_CACHED_MAX,
  });
  const notedAtMs = new RecentCache<string, number>(API_TOKENS_CACHED_MAX);

  function noteUse(id: string, { last_used_at }: Grounds): void {
    const nowMs = now();
    const lastMs = Math.max(notedAtMs.get(id) ?? 0, last_used_at?.getTime() ?? 0);
    if (nowMs - lastMs < API_TOKEN_USE_NOTED_MS) return;
    notedAtMs.set(id, nowMs);
    // What cannot be written now is written with the next use.
    noteApiTokenUse(sql, id, nowMs).catch(() => notedAtMs.delete(id));
  }

  return {
    async assertHolds({ listed }) {
      if (listed === undefined) return;
      const grounds = await rows.believed(listed);
      if (grounds === null) {
        throw unauthorized("invalid_token", "This API token has been revoked. Get a new one.");
      }
      if (exceedsPerson(grounds)) {
        throw unauthorized(
          "invalid_token",
          "This API token may do more than the person whose it is may now. Make a new one.",
        );
      }
      noteUse(listed, grounds);
    },
    invalidate: () => rows.invalidate(),
  };
}
