import type { Database, Sql } from "../db/sql.ts";
import { hasEarlierEvents } from "../ingest/event_insert.ts";
import { UPGRADE_LOCK_MS_MAX } from "./upgrade_limits.ts";

/** A project with events of versions before segments, and the last one that was moved. */
export interface EarlierProject extends Record<string, unknown> {
  readonly project_id: number;
  /** About how many are not moved into the journal yet; 0 only once all are. */
  readonly remaining: number;
  readonly moved_at: string;
  readonly moved_id: string;
}

const PROJECT = `
SELECT project_id, remaining, moved_at::text AS moved_at, moved_id FROM earlier_projects
WHERE project_id = $1::int FOR UPDATE`;

/**
 * Locks a project's earlier events until the transaction ends: nobody else moves, expires or erases them.
 * Where the projection is locked too, this lock must come first. Null: the project has none (any more).
 */
export async function lockEarlier(tx: Sql, projectId: number): Promise<EarlierProject | null> {
  return (await tx.query<EarlierProject>(PROJECT, [projectId]))[0] ?? null;
}

/** `lockEarlier` without waiting: null also where another transaction holds the lock. */
export async function lockEarlierUnlessElsewhere(
  tx: Sql,
  projectId: number,
): Promise<EarlierProject | null> {
  return (await tx.query<EarlierProject>(`${PROJECT} SKIP LOCKED`, [projectId]))[0] ?? null;
}

/** Whether the project has events that an upgrade must still move or compare. */
export async function hasEarlier(sql: Sql, projectId: number): Promise<boolean> {
  const rows = await sql.query("SELECT FROM earlier_projects WHERE project_id = $1::int", [
    projectId,
  ]);
  return rows.length > 0;
}

/** Counts down what remains, but not to 0: only the walk through all events shows that none is left. */
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
  const [left] = await database.query<{ present: boolean }>(
    "SELECT EXISTS (SELECT FROM earlier_events) AS present",
  );
  if (left!.present) return false;
  await database.transaction(async (tx) => {
    await tx.script(`SET LOCAL lock_timeout = ${UPGRADE_LOCK_MS_MAX}`);
    await tx.query("DELETE FROM earlier_projects");
    await tx.query("DROP TABLE IF EXISTS earlier_events");
  });
  return true;
}
