import { planByIndex } from "../db/index_plans.ts";
import type { Database } from "../db/sql.ts";
import { lockEarlier, noteLess } from "./earlier_projects.ts";
import { EXPIRED_AT_ONCE } from "./upgrade_limits.ts";

const DELETE_OLDEST = `
WITH gone AS (
  DELETE FROM earlier_events WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM earlier_events
    WHERE project_id = (SELECT $1::int) AND occurred_at < $2::text::timestamptz
    ORDER BY occurred_at, event_id LIMIT ${EXPIRED_AT_ONCE}))
  RETURNING event_id)
SELECT count(*)::int AS deleted, count(*) FILTER (WHERE NOT EXISTS (
  SELECT FROM event_ids i WHERE i.project_id = $1::int AND i.event_id = g.event_id OFFSET 0))::int
    AS unmoved
FROM gone g`;

/**
 * Deletes earlier events older than their project's `retentionDays`. The copies of those that have been moved are
 * left to the projection's retention.
 * @returns how many had not been moved yet
 */
export async function eraseExpiredEarlier(database: Database, now: Date): Promise<number> {
  const projects = await database.query<{ project_id: number; before: Date }>(
    `SELECT project_id, $1::text::timestamptz - make_interval(days => retention_days) AS before
    FROM earlier_projects JOIN projects USING (project_id) WHERE retention_days IS NOT NULL`,
    [now.toISOString()],
  );
  let events = 0;
  for (const { project_id, before } of projects) {
    for (let deleted = EXPIRED_AT_ONCE; deleted === EXPIRED_AT_ONCE;) {
      deleted = await database.transaction(async (tx) => {
        if (await lockEarlier(tx, project_id) === null) return 0;
        await planByIndex(tx);
        const [row] = await tx.query<{ deleted: number; unmoved: number }>(DELETE_OLDEST, [
          project_id,
          before.toISOString(),
        ]);
        await noteLess(tx, project_id, row!.unmoved);
        events += row!.unmoved;
        return row!.deleted;
      });
    }
  }
  return events;
}
