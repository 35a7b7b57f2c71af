import { arrayLiteral, type Sql } from "../db/sql.ts";
import { IDS_DELETED_AT_ONCE } from "./projection_limits.ts";

/** Deletes ids from `event_ids`: an event with such an id is new again. */
export async function deleteEventIds(
  tx: Sql,
  projectId: number,
  eventIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < eventIds.length; from += IDS_DELETED_AT_ONCE) {
    await tx.query(
      `DELETE FROM event_ids i USING unnest($2::text::uuid[]) AS gone (event_id)
      WHERE i.project_id = $1::int AND i.event_id = gone.event_id`,
      [projectId, arrayLiteral(eventIds.slice(from, from + IDS_DELETED_AT_ONCE))],
    );
  }
}
