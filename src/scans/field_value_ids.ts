import type { LazyColumn } from "../timelines/lazy_columns.ts";
import { sessionFieldId } from "../query/filter_conditions.ts";
import {
  type Field,
  isLazyField,
  isSessionField,
  type LazyField,
  propertyOf,
  type SessionField,
} from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { dictionaryIds, eventValueIds, type ValueIds } from "./event_value_ids.ts";
import type { MatchPasses } from "./match_tests.ts";
import { propertyValueIds } from "./property_value_ids.ts";
import type { Read } from "./read.ts";
import { idBounds, lazyIdMax } from "./id_bounds.ts";
import type { SelectedTimelines } from "./selected_timelines.ts";
import { SESSION_ID_WRITER } from "./session_id_writer.ts";
import { emptyIds, MADE_IDS } from "./value_ids.ts";

/** Returns the lazy columns that hold the values of a field: a read by that field must load them. */
export function lazyColumnsOf(by: Field | null): readonly LazyColumn[] {
  if (by === null) return [];
  if (isLazyField(by)) return [by];
  const key = propertyOf(by);
  return key === null ? [] : [{ property: key }];
}

/** Returns the ids of titles or referrers; the read must have loaded their lazy column. */
export async function lazyValueIds(
  source: Pick<Read, "sql" | "scope">,
  by: LazyField,
): Promise<ValueIds> {
  const idMax = await lazyIdMax(source.sql, source.scope.projectId, by);
  return dictionaryIds(source, by, by, idMax, by === "title");
}

/**
 * Returns the ids of a field of the events' sessions, for the events in a span that any match may take.
 * The timelines must hold whole sessions.
 */
async function sessionValueIds(
  source: Pick<Read, "sql" | "scope">,
  by: SessionField,
  { timelines, reach }: SelectedTimelines,
  matches: MatchPasses,
  span: Span,
): Promise<ValueIds> {
  const of = sessionFieldId(by);
  const isOfTraffic = of === "traffic";
  const idMax = isOfTraffic
    ? (await idBounds(source.sql, source.scope.projectId, "trafficMax")).trafficMax
    : matches.scope.termMax;
  const inputs = { of, reach, span, matches };
  timelines.prepare(async ({ segments, memory, scan }) => {
    for (const { lazies, times } of segments) {
      lazies.set(MADE_IDS, emptyIds(memory.take, idMax, times.length));
    }
    await scan(SESSION_ID_WRITER, inputs);
  });
  return dictionaryIds(source, by, MADE_IDS, idMax, !isOfTraffic);
}

/**
 * Returns the ids of a field's values at the events in a span that any match takes. For a field of
 * sessions, `selected` must hold whole sessions.
 */
export async function fieldValueIds(
  source: Pick<Read, "sql" | "scope">,
  by: Field,
  span: Span,
  selected: SelectedTimelines,
  matches: MatchPasses,
): Promise<ValueIds> {
  if (isSessionField(by)) return await sessionValueIds(source, by, selected, matches, span);
  if (isLazyField(by)) return await lazyValueIds(source, by);
  const key = propertyOf(by);
  if (key !== null) return propertyValueIds(selected.timelines, key);
  return await eventValueIds(source, by, selected.timelines, matches);
}
