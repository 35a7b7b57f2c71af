import type { Row, Sql } from "../../db/sql.ts";
import { isStorable } from "../../query/parameters.ts";

/** A person as the tables have them: a user (kind u), else an anonymous id (a), else a hash (h). */
export interface KnownPerson extends Row {
  readonly actor_id: number;
  readonly kind: "u" | "a" | "h";
  readonly value: string;
}

// An id of several kinds is a user's, else an anonymous one.
const PERSON = `
SELECT o.actor_id, a.kind::text AS kind, a.value
FROM (
  SELECT actor_id FROM identities
  WHERE project_id = $1::int AND value = $2::text AND kind IN ('u', 'a', 'h')
  ORDER BY position(kind::text IN 'uah') LIMIT 1
) AS o
JOIN identities a ON a.project_id = $1::int AND a.identity_id = o.actor_id`;

/** Finds the person of a user id, else of an anonymous id, else of a hash; null: nobody has the id. */
export async function findPerson(
  sql: Sql,
  projectId: number,
  id: string,
): Promise<KnownPerson | null> {
  // An id from a path may hold what PostgreSQL's text cannot.
  if (!isStorable(id)) return null;
  const [person] = await sql.query<KnownPerson>(PERSON, [projectId, id]);
  return person ?? null;
}
