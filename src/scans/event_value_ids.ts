import type { Sql } from "../db/sql.ts";
import { fieldId } from "../query/filter_conditions.ts";
import type { Field, Filter } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { eventPassesOf } from "./event_tests.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import type { MatchPasses } from "./match_tests.ts";
import { type IdSource, NO_ID } from "./value_ids.ts";
import { readTexts, type ValueTexts } from "./value_texts.ts";

/** The ids that stand for the values of a field at events, and how to get their texts. */
export interface ValueIds {
  readonly from: IdSource;
  /** The smallest id, and the largest of the segments visited so far. */
  readonly idsFrom: number;
  readonly idMax: number;
  /** Whether several ids may stand for the same value. */
  readonly areShared: boolean;
  /** 1 at the id of each actor who has a value; null where the ids are not those of actors. */
  readonly users: Uint8Array | null;
  readonly textsOf: (ids: readonly number[]) => Promise<ValueTexts>;
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
    areShared: isOfContext,
    users,
    textsOf: (ids) => readTexts(sql, scope, by, ids),
  };
}
