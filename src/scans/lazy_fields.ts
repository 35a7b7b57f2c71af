import type { Row, Sql } from "../db/sql.ts";
import type { LazyField } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import type { ValueIds } from "./event_value_ids.ts";
import { NO_ID } from "./value_ids.ts";
import { readTexts } from "./value_texts.ts";

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

/** Returns the ids of titles or referrers; the read must have loaded their lazy column. */
export async function lazyValueIds(
  { sql, scope }: { readonly sql: Sql; readonly scope: Scope },
  by: LazyField,
): Promise<ValueIds> {
  return {
    from: by,
    idsFrom: NO_ID,
    idMax: await lazyIdMax(sql, scope.projectId, by),
    areShared: by === "referrer",
    users: null,
    textsOf: (ids) => readTexts(sql, scope, by, ids),
  };
}
