import { type Database, exists, type Sql } from "../db/sql.ts";
import { hasEarlierEvents } from "../ingest/event_insert.ts";
import { UPGRADE_LOCK_MS_MAX } from "./upgrade_limits.ts";

/** A project with events of versions without segments, and the last of these that was moved. */
export interface EarlierProject extends Record<string, unknown> {
  readonly project_id: number;
  /** About how many have not been moved into the journal yet; 0 only once all have been. */
  readonly remaining: number;
  readonly moved_at: string;
  readonly moved_id: string;
}

const PROJECT = `
SELECT project_id, remaining, moved_at::text AS moved_at, moved_id FROM earlier_projects
WHERE project_id = $1::int FOR UPDATE`;

/**
 * Locks a project's earlier events until the transaction ends: no other transaction moves, expires or erases
 * them. Must be taken before a lock on the projection. Null: the project has none (any more).
 * @param whereLocked " SKIP LOCKED": null also if another transaction has the lock; else it is waited for
 */
export async function lockEarlier(
  tx: Sql,
  projectId: number,
  whereLocked: "" | " SKIP LOCKED" = "",
): Promise<EarlierProject | null> {
  return (await tx.query<EarlierProject>(PROJECT + whereLocked, [projectId]))[0] ?? null;
}

/** Whether the project has events that an upgrade must still move or compare. */
export function hasEarlier(sql: Sql, projectId: number): Promise<boolean> {
  return exists(sql, "SELECT FROM earlier_projects WHERE project_id = $1::int", [projectId]);
}

/** Counts down the remaining events, but not to 0: only the walk through all of them shows that none is left. */
export async function noteLess(tx: Sql, projectId: number, events: number): Promise<void> {
  await tx.query(
    `UPDATE earlier_projects SET remaining = greatest(remaining - $2::int, least(remaining, 1))
    WHERE project_id = $1::int`,
    [projectId, events],
  );
}

/** Drops the table of earlier events if it is empty, as on a new database. @returns whether it is gone */
export async function dropEmptiedTable(database: Database): Promise<boolean> {
  if (!await hasEarlierEvents(database)) return true;
  if (await exists(database, "SELECT FROM earlier_events LIMIT 1")) return false;
  await database.transaction(async (tx) => {
    await tx.script(`SET LOCAL lock_timeout = ${UPGRADE_LOCK_MS_MAX}`);
    await tx.query("DELETE FROM earlier_projects");
    await tx.query("DROP TABLE IF EXISTS earlier_events");
  });
  return true;
}
