import type { Row, Sql } from "../db/sql.ts";
import type { LazyField } from "../query/filters.ts";

const ID_MAX: Readonly<Record<LazyField, string>> = {
  title: "SELECT coalesce(max(term_id), 0) AS id_max FROM terms WHERE project_id = $1::int",
  referrer:
    "SELECT coalesce(max(referrer_id), 0) AS id_max FROM referrers WHERE project_id = $1::int",
};

interface IdMax extends Row {
  readonly id_max: number;
}

/** Returns the largest id of the project's titles or referrers. */
export async function lazyIdMax(
  sql: Sql,
  projectId: number,
  field: LazyField,
): Promise<number> {
  const [row] = await sql.query<IdMax>(ID_MAX[field], [projectId]);
  return row!.id_max;
}
