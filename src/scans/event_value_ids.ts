import type { Sql } from "../db/sql.ts";
import { fieldId } from "../query/filter_conditions.ts";
import type { Field, Filter } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { eventPassesOf } from "./event_tests.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import type { MatchPasses } from "./match_tests.ts";
import type { TextsOf } from "./most_frequent.ts";
import { type IdSource, NO_ID } from "./value_ids.ts";
import { readIds, readTexts, type ValueTexts } from "./value_texts.ts";

/** The ids that stand for the values of a field at events, and how to get their texts. */
export interface ValueIds {
  readonly from: IdSource;
  /** The smallest id, and the largest of the segments visited so far. */
  readonly idsFrom: number;
  readonly idMax: number;
  /** Finds the ids of values; null: several ids may stand for the same one. */
  readonly idsOf: ((values: readonly string[]) => Promise<ValueTexts>) | null;
  /** 1 at the id of each actor who has a value; null where the ids are not those of actors. */
  readonly users: Uint8Array | null;
  readonly textsOf: TextsOf;
}

const OF_USERS: Filter = { field: "userId", op: "exists", values: [] };

/** Returns the ids of a field of the event itself that is in the columns of all reads. */
export async function eventValueIds(
  { sql, scope }: { readonly sql: Sql; readonly scope: Scope },
  by: Field,
  timelines: FilteredTimelines,
  { scope: { termMax, contextsFrom, contextsTo } }: MatchPasses,
): Promise<ValueIds> {
  const of = fieldId(by);
  const users = of === "actor"
    ? (await eventPassesOf(sql, scope, "include", [OF_USERS], timelines.bits)).actors
    : null;
  const isOfContext = of === "context";
  const otherMax = of === "actor" ? timelines.actorOf.length - 1 : termMax;
  return {
    from: of,
    idsFrom: isOfContext ? contextsFrom : NO_ID,
    idMax: isOfContext ? contextsTo : otherMax,
    idsOf: isOfContext ? null : (values) => readIds(sql, scope, by, values),
    users,
    textsOf: (ids, most) => readTexts(sql, scope, by, ids, most),
  };
}
