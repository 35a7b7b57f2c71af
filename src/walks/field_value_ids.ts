import { type Field, isSeldomField, isSessionField, propertyOf } from "../selection/filters.ts";
import type { Span } from "../selection/selection.ts";
import { isHeldByHistories } from "./event_tests.ts";
import type { MatchTests } from "./match_tests.ts";
import { isMarked } from "./marked_histories.ts";
import { propertyValueIds } from "./property_value_ids.ts";
import type { Read } from "./read.ts";
import { seldomValueIds } from "./seldom_value_ids.ts";
import type { SelectedHistories } from "./selected_histories.ts";
import { sessionValueIds } from "./session_value_ids.ts";
import { eventValueIds, type ValueIds } from "./value_ids.ts";

/** Whether histories may tell events apart by a field. */
export function isToldByHistories(by: Field): boolean {
  return isHeldByHistories(by) || isSessionField(by) || isMarked(by);
}

/**
 * The ids that tell the values of a field at the events in a span which any match takes.
 * @param by a field that `isToldByHistories`; of a session's, sessions must lie whole in what was selected
 * @returns null where histories do not hold the field's values
 */
export async function fieldValueIds(
  source: Pick<Read, "sql" | "scope">,
  by: Field,
  span: Span,
  selected: SelectedHistories,
  tests: MatchTests,
): Promise<ValueIds | null> {
  if (isSessionField(by)) return await sessionValueIds(source, by, selected, tests, span);
  if (isSeldomField(by)) return await seldomValueIds(source, by, selected.histories);
  const key = propertyOf(by);
  if (key !== null) return await propertyValueIds(selected.histories, key);
  return await eventValueIds(source, by, selected.histories, tests);
}
