import { arrayLiteral, isOneOf, type Sql } from "../db/sql.ts";
import { IDS_DELETED_AT_ONCE } from "./projection_limits.ts";

/**
 * Returns a statement that deletes the rows of a project that have one of many keys; its parameters are the project's
 * number, and an array for each column of the key. Each row is looked up by the index of the project and the key, and
 * deleted by its place: the planner could join the keys with all of the project's rows, and would take a project that its
 * statistics do not know for one without rows.
 * @param columns the key after `project_id`, and the types of the columns
 * @param condition what must hold of the row `t` besides
 */
export function keyedDeletion(
  table: string,
  columns: readonly (readonly [name: string, type: string])[],
  condition = "true",
): string {
  const arrays = columns.map(([, type], i) => `$${i + 2}::text::${type}[]`);
  const names = columns.map(([name]) => name);
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT found.place FROM unnest(${arrays.join(", ")}) AS k (${names.join(", ")})
    CROSS JOIN LATERAL (
      SELECT t.ctid AS place FROM ${table} t
      WHERE t.project_id = (SELECT $1::int) AND ${
    names.map((name) => `t.${name} = k.${name}`).join(" AND ")
  }
        AND ${condition}
      OFFSET 0) AS found))`;
}

/** Deletes the rows of a project's table that have one of these numbers in the column `number`. */
export async function deleteNumbered(
  tx: Sql,
  projectId: number,
  table: string,
  number: string,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length === 0) return;
  await tx.query(
    `DELETE FROM ${table} WHERE project_id = (SELECT $1::int) AND ${
      isOneOf(number, "$2::text::int[]")
    }`,
    [projectId, arrayLiteral(numbers)],
  );
}

const DELETE_EVENT_IDS = keyedDeletion("event_ids", [["event_id", "uuid"]]);

/** Deletes ids from `event_ids`: an event with such an id is new again. */
export async function deleteEventIds(
  tx: Sql,
  projectId: number,
  eventIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < eventIds.length; from += IDS_DELETED_AT_ONCE) {
    const ids = arrayLiteral(eventIds.slice(from, from + IDS_DELETED_AT_ONCE));
    await tx.query(DELETE_EVENT_IDS, [projectId, ids]);
  }
}
