import type { EventMatch } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { withoutTechnical } from "../query/technical.ts";
import type { EventPasses } from "./event_test.ts";
import { eventPassesOf } from "./event_tests.ts";
import { matchPasses } from "./match_passes.ts";
import type { MatchPasses } from "./match_tests.ts";
import type { ScanSource } from "./read.ts";
import {
  type SelectedTimelines,
  selectTimelines,
  type TimelineNeeds,
} from "./selected_timelines.ts";

interface EventNeeds extends TimelineNeeds {
  /** Leaves out events with technical names, unless a filter names them. */
  readonly isCounting?: boolean;
}

/**
 * Selects the timelines of a span. `test` is that of the selected events: those that pass the filters of
 * the scope and `needs.filters`.
 */
export async function selectEvents(
  source: ScanSource,
  span: Span,
  { isCounting = false, ...needs }: EventNeeds = {},
): Promise<{ readonly selected: SelectedTimelines; readonly test: EventPasses }> {
  const { sql, scope } = source;
  const selected = await selectTimelines(source, span, needs);
  const { eventFilters, timelines: { bits } } = selected;
  const ofScope = isCounting ? withoutTechnical(eventFilters) : eventFilters;
  const filters = [...ofScope, ...needs.filters ?? []];
  return { selected, test: await eventPassesOf(sql, scope, scope.bots, filters, bits) };
}

/** Selects the timelines of a span, and tells which selected events each of these matches takes. */
export async function selectMatches(
  source: ScanSource,
  span: Span,
  eventMatches: readonly EventMatch[],
  needs: Omit<TimelineNeeds, "filters"> = {},
): Promise<{ readonly selected: SelectedTimelines; readonly matches: MatchPasses }> {
  const { sql, scope } = source;
  const filters = eventMatches.flatMap((match) => match.filters);
  const selected = await selectTimelines(source, span, { ...needs, filters });
  const { eventFilters, timelines: { bits } } = selected;
  const matches = await matchPasses(sql, { ...scope, filters: eventFilters }, eventMatches, bits);
  return { selected, matches };
}
