import type { LazyColumn } from "../timelines/lazy_columns.ts";
import { type Field, isLazyField, isSessionField, propertyOf } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { eventValueIds, type ValueIds } from "./event_value_ids.ts";
import type { MatchPasses } from "./match_tests.ts";
import { propertyValueIds } from "./property_value_ids.ts";
import type { Read } from "./read.ts";
import { lazyValueIds } from "./lazy_value_ids.ts";
import type { SelectedTimelines } from "./selected_timelines.ts";
import { sessionValueIds } from "./session_value_ids.ts";

/** The lazy columns that tell events apart by a field, which a read must ask for then. */
export function lazyColumnsOf(by: Field | null): readonly LazyColumn[] {
  if (by === null) return [];
  if (isLazyField(by)) return [{ field: by }];
  const key = propertyOf(by);
  return key === null ? [] : [{ property: key }];
}

/**
 * The ids that tell the values of a field at the events in a span which any match takes; of a
 * session's field, sessions must lie whole in what was selected.
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
