import type { Sql } from "../db/sql.ts";
import { knownReferrerHost } from "../selection/field_values.ts";
import type { SeldomField } from "../selection/filters.ts";
import type { Scope, ValueSql } from "../selection/selection.ts";
import type { SqlParams } from "../selection/sql_params.ts";
import type { MarkedHistories } from "./marked_histories.ts";
import { seldomIdMax } from "./seldom_fields.ts";
import { countedRows, idsIn, NO_ID, type ValueIds } from "./value_ids.ts";

/** The value that an id tells, of rows `f` with a project and that id as `told_id`. */
function valueSql(params: SqlParams, siteHost: string | null, field: SeldomField): ValueSql {
  const join = (table: string, id: string) =>
    `LEFT JOIN ${table} v ON v.project_id = f.project_id AND v.${id} = f.told_id`;
  return field === "title" ? { joins: join("terms", "term_id"), value: "v.term" } : {
    joins: join("referrers", "referrer_id"),
    value: knownReferrerHost("v", params.text(siteHost)),
  };
}

/** The ids of titles or referrers; null where they are too large to be loaded. */
export async function seldomValueIds(
  { sql, scope }: { readonly sql: Sql; readonly scope: Scope },
  by: SeldomField,
  histories: MarkedHistories,
): Promise<ValueIds | null> {
  const columns = await histories.seldom(by);
  if (columns === null) return null;
  return {
    idsOf: idsIn(columns),
    idsFrom: NO_ID,
    idMax: await seldomIdMax(sql, scope.projectId, by),
    areShared: by === "referrer",
    users: null,
    list: (params, counted) =>
      countedRows(params, scope, counted, "f", "told_id", valueSql(params, scope.siteHost, by)),
  };
}
