import type { Sql } from "../db/sql.ts";
import type { TailCursor } from "../selection/event_cursor.ts";
import { STORED_BY } from "./stored_events.ts";

// Events of a mark were stored together. What is set aside is left out: it would hold up all the rest.
const OLDEST_PENDING = `
SELECT min(e.stored_by_xid::text::int8)::text AS xid, min(e.received_at) AS received_at
FROM fold_marks m CROSS JOIN LATERAL (
  SELECT ${STORED_BY} AS stored_by_xid, received_at FROM stored_events
  WHERE project_id = $1::int AND event_id = m.event_ids[1] OFFSET 0) e
WHERE m.project_id = $1::int AND m.set_aside_until IS NULL`;

/** A snapshot without what this transaction and those after it have stored. */
export function snapshotBefore(snapshot: string, xid: bigint): string {
  const [xmin = "", xmax = "", running = ""] = snapshot.split(":");
  if (BigInt(xmax) <= xid) return snapshot;
  const before = running.split(",").filter((id) => id !== "" && BigInt(id) < xid);
  const least = before.length > 0 && BigInt(xmin) < xid ? xmin : xid;
  return `${least}:${xid}:${before.join(",")}`;
}

/**
 * Up to where filters can tell: what was stored before `place` was taken, but for what is still
 * pending, and what was stored after that. A tail that goes on from there misses nothing.
 */
export async function foldedPlace(
  sql: Sql,
  projectId: number,
  place: TailCursor & { readonly snapshot: string },
): Promise<TailCursor> {
  const [oldest] = await sql.query<{ xid: string | null; received_at: Date | null }>(
    OLDEST_PENDING,
    [projectId],
  );
  const { xid, received_at } = oldest!;
  if (xid === null || received_at === null) return place;
  const snapshot = snapshotBefore(place.snapshot, BigInt(xid));
  if (snapshot === place.snapshot) return place;
  const at = received_at.toISOString() < place.at ? received_at.toISOString() : place.at;
  return { at, snapshot };
}
