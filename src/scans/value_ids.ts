import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { type FieldId, fieldId } from "../query/filter_conditions.ts";
import type { Field, Filter } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { eventTest } from "./event_tests.ts";
import type { MarkedHistories } from "./marked_histories.ts";
import type { MatchTests } from "./match_tests.ts";
import { readTexts, type ValueTexts } from "./value_texts.ts";

/** The id of each event of a segment; null: it is that of the event's actor. */
export type IdsOf = (segment: LoadedSegment) => IntegerColumn | null;

/** The ids that tell the values of a field at events. */
export interface ValueIds {
  readonly idsOf: IdsOf;
  /** The smallest id, and the largest of the segments that were visited so far. */
  readonly idsFrom: number;
  readonly idMax: number;
  /** Whether several ids may tell the same value. */
  readonly areShared: boolean;
  /** 1 at the id of each actor who has a value; null where the ids are no actors'. */
  readonly users: Uint8Array | null;
  readonly textsOf: (ids: readonly number[]) => Promise<ValueTexts>;
}

/** No event, session or user has it, so its value is missing. */
export const NO_ID = 0;

const IDS_OF: Readonly<Record<FieldId, IdsOf>> = {
  name: ({ names }) => names,
  path: ({ paths }) => paths,
  context: ({ contexts }) => contexts,
  actor: () => null,
};
const OF_USERS: Filter = { field: "userId", op: "exists", values: [] };

/** A column that is empty yet, as wide as ids up to `idMax` need. */
export function emptyIds(idMax: number, events: number): IntegerColumn {
  if (idMax <= 0xff) return new Uint8Array(events);
  return idMax <= 0xffff ? new Uint16Array(events) : new Int32Array(events);
}

/** Ids that stand in columns beside the segments. */
export function idsIn(columns: WeakMap<LoadedSegment, IntegerColumn>): IdsOf {
  // Mostly the same segment is asked for again.
  let last: LoadedSegment | null = null;
  let ids: IntegerColumn | null = null;
  return (segment) => {
    if (segment !== last) {
      last = segment;
      ids = columns.get(segment)!;
    }
    return ids;
  };
}

/** The ids of a field that each event has for itself, in the columns of all reads. */
export async function eventValueIds(
  { sql, scope }: { readonly sql: Sql; readonly scope: Scope },
  by: Field,
  histories: MarkedHistories,
  { scope: { termMax, contextsFrom, contextsTo } }: MatchTests,
): Promise<ValueIds> {
  const of = fieldId(by);
  const users = of === "actor"
    ? (await eventTest(sql, scope, "include", [OF_USERS], histories.bits)).actors
    : null;
  const isOfContext = of === "context";
  const otherMax = of === "actor" ? histories.actorOf.length - 1 : termMax;
  return {
    idsOf: IDS_OF[of],
    idsFrom: isOfContext ? contextsFrom : NO_ID,
    idMax: isOfContext ? contextsTo : otherMax,
    areShared: isOfContext,
    users,
    textsOf: (ids) => readTexts(sql, scope, by, ids),
  };
}
