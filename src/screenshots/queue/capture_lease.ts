import type { Sql } from "../../db/sql.ts";
import { CAPTURE_LEASE_MS } from "../capture_limits.ts";

// Only by the database's clock, as those of several servers may differ.
const EXPIRY = "now() + $2::int8 * interval '1 ms'";

/**
 * Takes or renews the right to take captures, which only one server has at a time, for CAPTURE_LEASE_MS.
 * @returns false if another server has it
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

/** Gives the right back, so that others need not wait until it expires. */
export async function endLease(sql: Sql, owner: string): Promise<void> {
  await sql.query("DELETE FROM capture_lease WHERE owner = $1::text", [owner]);
}

/** Returns the condition that the owner in this parameter has the lease now. */
export const holdsLease = (owner: string): string =>
  `EXISTS (SELECT FROM capture_lease l WHERE l.owner = ${owner} AND l.expires_at > now())`;
