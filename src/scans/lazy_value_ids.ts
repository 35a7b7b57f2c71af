import type { Sql } from "../db/sql.ts";
import type { LazyField } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { lazyIdMax } from "./lazy_fields.ts";
import type { ValueIds } from "./event_value_ids.ts";
import { NO_ID } from "./value_ids.ts";
import { readTexts } from "./value_texts.ts";

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
