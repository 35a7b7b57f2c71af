import { fieldId } from "../query/filter_conditions.ts";
import type { Field, Filter } from "../query/filters.ts";
import { eventPassesOf } from "./event_tests.ts";
import type { FilteredTimelines } from "./filtered_timelines.ts";
import type { MatchPasses } from "./match_tests.ts";
import type { TextsOf } from "./most_frequent.ts";
import type { Read } from "./read.ts";
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

/** Returns ids from 1 up to `idMax` whose texts are in a dictionary. @param isUnique whether a text has one id */
export function dictionaryIds(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  by: Field,
  from: IdSource,
  idMax: number,
  isUnique: boolean,
): ValueIds {
  return {
    from,
    idsFrom: NO_ID,
    idMax,
    idsOf: isUnique ? (values) => readIds(sql, scope, by, values) : null,
    users: null,
    textsOf: (ids, most) => readTexts(sql, scope, by, ids, most),
  };
}

/** Returns the ids of a field of the event itself that is in the columns of all reads. */
export async function eventValueIds(
  source: Pick<Read, "sql" | "scope">,
  by: Field,
  timelines: FilteredTimelines,
  { scope: { termMax, contextsFrom, contextsTo } }: MatchPasses,
): Promise<ValueIds> {
  const { sql, scope } = source;
  const of = fieldId(by);
  const users = of === "actor"
    ? (await eventPassesOf(sql, scope, "include", [OF_USERS], timelines.bits)).actors
    : null;
  const isOfContext = of === "context";
  const otherMax = of === "actor" ? timelines.actorOf.length - 1 : termMax;
  const idMax = isOfContext ? contextsTo : otherMax;
  const ids = dictionaryIds(source, by, of, idMax, !isOfContext);
  return { ...ids, idsFrom: isOfContext ? contextsFrom : NO_ID, users };
}
