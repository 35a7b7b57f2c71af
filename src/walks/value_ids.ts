import type { Sql } from "../db/sql.ts";
import type { IntegerColumn } from "../histories/column.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { type FieldId, fieldId } from "../selection/filter_conditions.ts";
import type { Field, Filter } from "../selection/filters.ts";
import { factValue, type Scope, type ValueSql } from "../selection/selection.ts";
import type { SqlParams } from "../selection/sql_params.ts";
import { eventTest } from "./event_tests.ts";
import type { MatchTests } from "./match_tests.ts";
import type { MarkedHistories } from "./marked_histories.ts";

/** The id of each event of a segment; null: it is that of the event's actor. */
export type IdsOf = (segment: LoadedSegment) => IntegerColumn | null;

/** Ids, and how many events each has. */
export interface CountedIds {
  readonly ids: readonly number[];
  readonly counts: readonly number[];
}

/** Rows with an `id` and its `events`, and the value that the id tells; null where it is missing. */
export interface CountedSql {
  readonly from: string;
  readonly alias: string;
  readonly value: string;
}

/** The ids that tell the values of a field at events. */
export interface ValueIds {
  readonly idsOf: IdsOf;
  /** The smallest and the largest id. */
  readonly idsFrom: number;
  readonly idMax: number;
  /** Whether several ids may tell the same value. */
  readonly areShared: boolean;
  /** 1 at the id of each actor who has a value; null where the ids are no actors'. */
  readonly users: Uint8Array | null;
  readonly list: (params: SqlParams, counted: CountedIds) => CountedSql;
}

/** No event, session or user has it, so its value is missing. */
export const NO_ID = 0;

const FACT_COLUMNS: Readonly<Record<FieldId, string>> = {
  name: "name_id",
  path: "path_id",
  context: "context_id",
  actor: "actor_id",
};
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
export function idsIn(columns: ReadonlyMap<LoadedSegment, IntegerColumn>): IdsOf {
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

/**
 * Counted ids, as rows of which nothing but one column is known.
 * @param value of such rows, which takes their alias
 */
export function countedRows(
  params: SqlParams,
  { projectId }: Pick<Scope, "projectId">,
  { ids, counts }: CountedIds,
  alias: string,
  column: string,
  { joins, value }: ValueSql,
): CountedSql {
  const rows = `SELECT ${params.int(projectId)} AS project_id, c.id, c.id AS ${column}, c.events
    FROM unnest(${params.ints(ids)}, ${params.bigints(counts)}) AS c (id, events)`;
  return { from: `(${rows}) AS ${alias} ${joins}`, alias, value };
}

/** The ids of a field that each event has for itself: see `isHeldByHistories`. */
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
    list: (params, counted) =>
      countedRows(params, scope, counted, "f", FACT_COLUMNS[of], factValue(params, scope, by)),
  };
}
