import { type EventMatch, onEvents } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { withoutTechnical } from "../query/technical.ts";
import type { EventPasses } from "./event_test.ts";
import { eventPassesOf } from "./event_tests.ts";
import type { FilterBits } from "./filter_bits.ts";
import { matchPasses } from "./match_passes.ts";
import type { MatchPasses } from "./match_tests.ts";
import type { ScanSource } from "./read.ts";
import {
  type SelectedTimelines,
  selectTimelines,
  type TimelineNeeds,
} from "./selected_timelines.ts";

/** Sends the statements of a test beside those of the timelines, whose filter bits it needs only at its end. */
export async function selecting<T>(
  timelines: Promise<SelectedTimelines>,
  testOf: (bits: Promise<FilterBits>) => Promise<T>,
): Promise<[SelectedTimelines, T]> {
  const test = testOf(timelines.then((selected) => selected.timelines.bits));
  // If the timelines fail, nothing awaits it.
  test.catch(() => {});
  return [await timelines, await test];
}

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
  const eventFilters = onEvents(scope.filters);
  const ofScope = isCounting ? withoutTechnical(eventFilters) : eventFilters;
  const filters = [...ofScope, ...needs.filters ?? []];
  const [selected, test] = await selecting(
    selectTimelines(source, span, needs),
    (bits) => eventPassesOf(sql, scope, scope.bots, filters, bits),
  );
  return { selected, test };
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
  const ofEvents = { ...scope, filters: onEvents(scope.filters) };
  const [selected, matches] = await selecting(
    selectTimelines(source, span, { ...needs, filters }),
    (bits) => matchPasses(sql, ofEvents, eventMatches, bits),
  );
  return { selected, matches };
}
