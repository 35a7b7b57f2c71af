import type { Sql } from "../db/sql.ts";

export interface FirstSignIn {
  /** Whether a token was ever used on this database. Throws `DatabaseUnavailable`. */
  hasHappened(): Promise<boolean>;
  /** A token was used. What could not be kept is kept the next time. */
  note(): void;
}

const SETTING = "first_sign_in_at";

/**
 * When a token was used for the first time, kept in the table `settings`. Until then nobody has
 * opened the dashboard, and each start offers a link that does. Commands have a token of their own,
 * which does not count.
 */
export function createFirstSignIn(sql: Sql, now: () => number): FirstSignIn {
  let isKept = false;
  return {
    async hasHappened() {
      const rows = await sql.query("SELECT FROM settings WHERE name = $1::text", [SETTING]);
      isKept ||= rows.length > 0;
      return isKept;
    },
    note() {
      if (isKept) return;
      isKept = true;
      const keep = sql.query(
        "INSERT INTO settings (name, value) VALUES ($1::text, $2::text) ON CONFLICT DO NOTHING",
        [SETTING, new Date(now()).toISOString()],
      );
      keep.catch(() => isKept = false);
    },
  };
}
