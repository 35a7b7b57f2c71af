import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { type Principal, unauthorized } from "../access.ts";
import { BelievedRows } from "../believed_rows.ts";
import { SESSION_BELIEVED_MS_MAX, SESSION_FRESH_MS, SESSIONS_CACHED_MAX } from "./people_limits.ts";

/** Whether the sessions that tokens stand on go on. */
export interface LiveSessions {
  /**
   * Throws `invalid_token` for a token whose session has ended, `expired_token` for one that says
   * what its person may no longer do; both as of at most SESSION_BELIEVED_MS_MAX ago. Throws
   * `DatabaseUnavailable` where that cannot be known. A token of no session passes.
   */
  assertHolds(principal: Principal): Promise<void>;
  /** Drops all that is remembered, so that a change made here holds at once here. */
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

/** The sessions of the tokens in use, as the table has them. */
export function createLiveSessions(sql: Sql, now: () => number): LiveSessions {
  const sessions = new BelievedRows<LiveRow>({
    find: async (ids) => {
      const rows = await sql.query<LiveRow>(LOOK_UP, [arrayLiteral(ids)]);
      return new Map(rows.map((row) => [row.session_id, row]));
    },
    now,
    freshMs: SESSION_FRESH_MS,
    believedMsMax: SESSION_BELIEVED_MS_MAX,
    cachedMax: SESSIONS_CACHED_MAX,
  });

  return {
    async assertHolds({ session }) {
      if (session === undefined) return;
      const found = await sessions.believed(session.id);
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
