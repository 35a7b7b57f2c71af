import { arrayLiteral, type Sql } from "../db/sql.ts";
import { keyedDeletion } from "./keyed_deletion.ts";
import { IDS_DELETED_AT_ONCE } from "./projection_limits.ts";

const DELETE = keyedDeletion("event_ids", [["event_id", "uuid"]]);

/** Deletes ids from `event_ids`: an event with such an id is new again. */
export async function deleteEventIds(
  tx: Sql,
  projectId: number,
  eventIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < eventIds.length; from += IDS_DELETED_AT_ONCE) {
    const ids = arrayLiteral(eventIds.slice(from, from + IDS_DELETED_AT_ONCE));
    await tx.query(DELETE, [projectId, ids]);
  }
}
