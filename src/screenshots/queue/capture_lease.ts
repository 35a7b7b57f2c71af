import type { Sql } from "../../db/sql.ts";
import { CAPTURE_LEASE_MS } from "../capture_limits.ts";

// Of the database's clock alone: those of several servers may differ.
const EXPIRY = "now() + $2::int8 * interval '1 ms'";

/**
 * Takes the right to take pictures, or renews it, for a while: one server has it at a time.
 * @returns false where another server has it
 */
export async function takeLease(sql: Sql, owner: string): Promise<boolean> {
  const taken = await sql.query(
    `INSERT INTO capture_lease AS l (lease, owner, expires_at)
    VALUES ('captures', $1::text, ${EXPIRY})
    ON CONFLICT (lease) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
    WHERE l.owner = excluded.owner OR l.expires_at <= now()
    RETURNING owner`,
    [owner, CAPTURE_LEASE_MS],
  );
  return taken.length > 0;
}

/** Gives the right back, so that nobody needs to wait for its end. */
export async function endLease(sql: Sql, owner: string): Promise<void> {
  await sql.query("DELETE FROM capture_lease WHERE owner = $1::text", [owner]);
}

/** A condition on the lease of the owner in this parameter: it holds at this moment. */
export const holdsLease = (owner: string): string =>
  `EXISTS (SELECT FROM capture_lease l WHERE l.owner = ${owner} AND l.expires_at > now())`;
