import type { Row, Sql } from "../db/sql.ts";
import type { LazyField } from "../query/filters.ts";

/** The largest ids of a project, and the smallest of contexts: the table of each, and the id in it. */
const BOUNDS = {
  termMax: ["terms", "max(term_id)"],
  contextMin: ["contexts", "min(context_id)"],
  contextMax: ["contexts", "max(context_id)"],
  identityMax: ["identities", "max(identity_id)"],
  trafficMax: ["traffic", "max(traffic_id)"],
  referrerMax: ["referrers", "max(referrer_id)"],
} as const;

type Bound = keyof typeof BOUNDS;

/**
 * Reads these ids of a project; 0 where a table has none. A subquery hides the project from the planner: it would take one
 * that its statistics do not know for one without rows, and read all of them instead of the first of an index.
 */
export async function idBounds<B extends Bound>(
  sql: Sql,
  projectId: number,
  ...bounds: readonly B[]
): Promise<Readonly<Record<B, number>>> {
  const columns = bounds.map((bound) => {
    const [table, id] = BOUNDS[bound];
    return `(SELECT coalesce(${id}, 0) FROM ${table} WHERE project_id = (SELECT $1::int)) AS "${bound}"`;
  });
  const [row] = await sql.query<Row & Record<B, number>>(`SELECT ${columns.join(", ")}`, [
    projectId,
  ]);
  return row!;
}

/** Returns the largest id of the project's titles or referrers. */
export async function lazyIdMax(sql: Sql, projectId: number, field: LazyField): Promise<number> {
  const bound = field === "title" ? "termMax" : "referrerMax";
  return (await idBounds(sql, projectId, bound))[bound];
}
