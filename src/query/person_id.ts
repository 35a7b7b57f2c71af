import type { Row, Sql } from "../db/sql.ts";
import { keyedRow } from "../db/keyed_rows.ts";
import { isStorable } from "../text_schemas.ts";

/** A person by what the tables have: a user id (kind u), else an anonymous id (a), else a hash (h). */
export interface KnownPerson extends Row {
  readonly actor_id: number;
  readonly kind: "u" | "a" | "h";
  readonly value: string;
}

/**
 * Selects the `actor_id` of the id $2 in project $1; of an id of several kinds, that of the user id, else of
 * the anonymous id. A subquery hides the project from the planner: it would take one that its statistics do not know for
 * one without rows, and read all of its identities.
 */
export const ACTOR_OF_ID = `
  SELECT actor_id FROM identities
  WHERE project_id = (SELECT $1::int) AND value = $2::text AND kind IN ('u', 'a', 'h')
  ORDER BY position(kind::text IN 'uah') LIMIT 1`;

/**
 * Finds the person with this user id, else with this anonymous id, else with this hash; null when nobody has
 * it.
 */
export async function findPerson(
  sql: Sql,
  projectId: number,
  id: string,
): Promise<KnownPerson | null> {
  // An id from a path may contain characters that a text in PostgreSQL cannot.
  if (!isStorable(id)) return null;
  const [person] = await sql.query<KnownPerson>(
    `SELECT o.actor_id, a.kind::text AS kind, a.value FROM (${ACTOR_OF_ID}) AS o
    CROSS JOIN ${keyedRow("identities v", "v.identity_id = o.actor_id", "$1::int")} AS a`,
    [projectId, id],
  );
  return person ?? null;
}
