import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { type Principal, unauthorized } from "../access.ts";
import { CachedRows } from "../cached_rows.ts";
import { SESSION_CACHED_MS_MAX, SESSION_FRESH_MS, SESSIONS_CACHED_MAX } from "./people_limits.ts";

/** Checks whether the sessions that tokens depend on are still valid. */
export interface LiveSessions {
  /**
   * Throws `invalid_token` if the token's session has ended, `expired_token` if its person's rights have changed
   * since; both as of at most SESSION_CACHED_MS_MAX ago. Throws `DatabaseUnavailable` if that cannot be
   * determined. A token without a session passes.
   */
  assertHolds(principal: Principal): Promise<void>;
  /** Empties the cache, so that a change made by this server takes effect here at once. */
  invalidate(): void;
}

interface LiveRow extends Record<string, unknown> {
  session_id: string;
  rights: number;
  expires_at: Date;
}

const LOOK_UP = `SELECT s.session_id, p.rights, s.expires_at
  FROM person_sessions s JOIN people p USING (person_id)
  WHERE s.session_id = ANY($1::text::text[])`;

/** Reads the sessions of the tokens in use from their table. */
export function createLiveSessions(sql: Sql, now: () => number): LiveSessions {
  const sessions = new CachedRows<LiveRow>({
    find: async (ids) => {
      const rows = await sql.query<LiveRow>(LOOK_UP, [arrayLiteral(ids)]);
      return new Map(rows.map((row) => [row.session_id, row]));
    },
    now,
    freshMs: SESSION_FRESH_MS,
    cachedMsMax: SESSION_CACHED_MS_MAX,
    cachedMax: SESSIONS_CACHED_MAX,
  });

  return {
    async assertHolds({ session }) {
      if (session === undefined) return;
      const found = await sessions.get(session.id);
      if (found === null || now() >= found.expires_at.getTime()) {
        throw unauthorized("invalid_token", "The session of this token has ended. Sign in again.");
      }
      if (found.rights !== session.rights) {
        throw unauthorized(
          "expired_token",
          "What you may do has changed since this token was made. Get a new one.",
        );
      }
    },
    invalidate: () => sessions.invalidate(),
  };
}
