import { createHash } from "node:crypto";
import type { Sql } from "../../db/sql.ts";

/**
 * Marks a challenge as answered.
 * @param validS how long a challenge may be answered after it was made
 * @returns false: it was answered before
 */
export async function takeChallenge(
  sql: Sql,
  challenge: string,
  { validS, nowMs }: { readonly validS: number; readonly nowMs: number },
): Promise<boolean> {
  const hash = `\\x${createHash("sha256").update(challenge).digest("hex")}`;
  const rows = await sql.query(
    `WITH expired AS (DELETE FROM used_challenges WHERE expires_at < $2::text::timestamptz)
    INSERT INTO used_challenges (challenge_hash, expires_at)
    VALUES ($1::text::bytea, $3::text::timestamptz)
    ON CONFLICT DO NOTHING RETURNING 1`,
    [
      hash,
      new Date(nowMs).toISOString(),
      new Date(nowMs + validS * 1_000).toISOString(),
    ],
  );
  return rows.length > 0;
}
