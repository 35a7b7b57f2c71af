import type { EventMatch } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import type { EventPasses } from "../../scans/event_test.ts";
import { eventPassesOf } from "../../scans/event_tests.ts";
import { matchPasses } from "../../scans/match_passes.ts";
import type { MatchPasses } from "../../scans/match_tests.ts";
import type { Read } from "../../scans/read.ts";
import {
  type Needed,
  type SelectedTimelines,
  selectTimelines,
} from "../../scans/selected_timelines.ts";

type Source = Pick<Read, "sql" | "scope" | "timelines">;

/**
 * The timelines of a span, and the test of its selected events, under the filters that are needed beside
 * those of the scope too. `isCounting`: those of technical names count only where a filter names them.
 */
export async function selectEvents(
  source: Source,
  span: Span,
  { isCounting = false, ...needed }: Needed & { readonly isCounting?: boolean } = {},
): Promise<{ readonly selected: SelectedTimelines; readonly test: EventPasses }> {
  const { sql, scope } = source;
  const selected = await selectTimelines(source, span, needed);
  const { eventFilters, timelines: { bits } } = selected;
  const own = isCounting ? withoutTechnical(eventFilters) : eventFilters;
  const filters = [...own, ...needed.filters ?? []];
  return { selected, test: await eventPassesOf(sql, scope, scope.bots, filters, bits) };
}

/** The timelines of a span with what its matches need, and which selected events each of these takes. */
export async function selectMatches(
  source: Source,
  span: Span,
  asked: readonly EventMatch[],
  needed: Omit<Needed, "filters"> = {},
): Promise<{ readonly selected: SelectedTimelines; readonly matches: MatchPasses }> {
  const { sql, scope } = source;
  const filters = asked.flatMap((match) => match.filters);
  const selected = await selectTimelines(source, span, { ...needed, filters });
  const { eventFilters, timelines: { bits } } = selected;
  const matches = await matchPasses(sql, { ...scope, filters: eventFilters }, asked, bits);
  return { selected, matches };
}
