import type { Sql } from "../../db/sql.ts";
import type { TailCursor } from "../../query/event_cursor.ts";

// Without rows that are set aside, which would hold back all later ones.
const PLACE = `
SELECT pg_current_snapshot()::text AS snapshot, min(stored_by::text::int8)::text AS xid,
  min(received_at) AS received_at
FROM journal WHERE project_id = $1::int AND projected_at IS NULL`;

/** Returns a snapshot without what a transaction and all later ones have stored. */
export function snapshotBefore(snapshot: string, xid: bigint): string {
  const [xmin = "", xmax = "", running = ""] = snapshot.split(":");
  if (BigInt(xmax) <= xid) return snapshot;
  const before = running.split(",").filter((id) => id !== "" && BigInt(id) < xid);
  const least = before.length > 0 && BigInt(xmin) < xid ? xmin : xid;
  return `${least}:${xid}:${before.join(",")}`;
}

/** Returns the current snapshot as pg_snapshot prints it. */
export async function currentSnapshot(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ snapshot: string }>(
    "SELECT pg_current_snapshot()::text AS snapshot",
  );
  return row!.snapshot;
}

/**
 * Returns the snapshot that projected reads cover: what is committed at `sql`'s moment, `asOf`, without
 * the oldest pending row and what was stored after it. A tail that continues from there misses nothing.
 */
export async function projectedPlace(
  sql: Sql,
  projectId: number,
  asOf: string,
): Promise<TailCursor & { readonly snapshot: string }> {
  type Oldest = { snapshot: string; xid: string | null; received_at: Date | null };
  const [row] = await sql.query<Oldest>(PLACE, [projectId]);
  const { snapshot: current, xid, received_at } = row!;
  const place = { at: asOf, snapshot: current };
  if (xid === null || received_at === null) return place;
  const snapshot = snapshotBefore(place.snapshot, BigInt(xid));
  if (snapshot === place.snapshot) return place;
  const at = received_at.toISOString() < place.at ? received_at.toISOString() : place.at;
  return { at, snapshot };
}
